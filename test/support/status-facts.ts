import type { StatusFacts } from '../../src/commands/status-command.ts';
import type { UsageReport, UsageSum } from '../../src/core/model.ts';

export const now = new Date('2026-01-15T10:00:00Z');
export const ago = (ms: number): Date => new Date(now.getTime() - ms);
export const hourMs = 3_600_000;

export const ofTurns: UsageSum = {
  calls: 10,
  inputTokens: 800,
  cacheReadTokens: 8000,
  cacheWriteTokens: 1000,
  cacheHourTokens: 0,
  outputTokens: 450,
  cost: 1.2,
  isUnpriced: false,
};
const ofSummaries: UsageSum = {
  ...ofTurns,
  calls: 2,
  inputTokens: 200,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 50,
  cost: 0.034,
};
const all: UsageSum = { ...ofTurns, calls: 12, inputTokens: 1000, outputTokens: 500, cost: 1.234 };
const ofMonth: UsageSum = { ...all, calls: 120, cost: 12.34 };

export const usage: UsageReport = {
  today: {
    period: '2026-01-15',
    all,
    byModel: { haiku: ofSummaries, sonnet: ofTurns },
    byPurpose: { summary: ofSummaries, chat: ofTurns },
    turns: { answered: 9, failed: 1 },
    waited: {},
    errors: { 'model overloaded': 2 },
  },
  month: {
    period: '2026-01',
    all: ofMonth,
    byModel: { sonnet: ofMonth },
    byPurpose: {},
    turns: {},
    waited: {},
    errors: {},
  },
  days: [],
  hours: [],
};

export const facts: StatusFacts = {
  version: '1.2.3',
  upMs: 27 * hourMs,
  now,
  models: { main: 'sonnet', fast: 'haiku' },
  modelState: { kind: 'reachable' },
  pingMs: 41.6,
  turns: { running: 2, waiting: 3 },
  afterTurn: 1,
  writes: 4,
  modelCalls: { running: 2, waiting: 1 },
  pricesOf: '2026-10-24',
  lastWrite: { at: ago(3000), isOk: true },
  usage,
  kept: { sessions: 7, users: 1, files: 40, bytes: 2_345_678 },
  quarantined: ['users/3/durable.json'],
};
