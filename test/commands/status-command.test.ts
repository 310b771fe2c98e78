import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createCommandSet } from '../../src/commands/commands.ts';
import { createStatusCommand, type StatusFacts } from '../../src/commands/status-command.ts';
import type { UsageReport, UsageSum } from '../../src/core/model.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { runs } from '../support/runs.ts';

const now = new Date('2026-01-15T10:00:00Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);
const hourMs = 3_600_000;

const ofTurns: UsageSum = {
  calls: 10,
  inputTokens: 800,
  cacheReadTokens: 8000,
  cacheWriteTokens: 1000,
  cacheHourTokens: 0,
  outputTokens: 450,
  cost: 1.2,
  isUnpriced: false,
  cacheMisses: {},
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

const usage: UsageReport = {
  today: {
    period: '2026-01-15',
    all,
    byModel: { haiku: ofSummaries, sonnet: ofTurns },
    byPurpose: { summary: ofSummaries, chat: ofTurns },
  },
  month: { period: '2026-01', all: ofMonth, byModel: { sonnet: ofMonth }, byPurpose: {} },
};

/** The same with other sums of the day. */
function today(changes: Partial<UsageSum>, byModel = usage.today.byModel): UsageReport {
  return { ...usage, today: { ...usage.today, all: { ...all, ...changes }, byModel } };
}

const facts: StatusFacts = {
  version: '1.2.3',
  upMs: 27 * hourMs,
  now,
  models: { main: 'sonnet', fast: 'haiku' },
  modelState: { kind: 'reachable' },
  pingMs: 41.6,
  turns: { running: 2, waiting: 3, stopped: 1 },
  afterTurn: 1,
  writes: 4,
  modelCalls: { running: 2, waiting: 1 },
  pricesOf: '2026-10-24',
  lastWrite: { at: ago(3000), isOk: true },
  usage,
  kept: { sessions: 7, users: 1, files: 40, bytes: 2_345_678 },
  quarantined: 1,
  limits: { turnsPerMinute: 10, dailyCost: 5 },
  retentionDays: 0,
  noMemoryChannels: 0,
};

async function status(changes: Partial<StatusFacts> = {}, isOwner = true): Promise<string> {
  const command = createStatusCommand(() => Promise.resolve({ ...facts, ...changes }));
  const { text } = await command.answer({
    id: '400000000000000001',
    command: { name: 'status', subcommand: '', options: {} },
    speaker: { id: aliceId, name: 'Alice', isOwner },
    place: publicPlace,
    ephemeral: false,
    at: now.toISOString(),
    startedAfter: undefined,
  });
  return text;
}

describe('the status [O8]', () => {
  it('names what is left out, as the model’s server refuses it [M9]', async () => {
    const refused = [{ feature: 'tools', model: 'gemma3:4b' }, { feature: 'cache marks' }] as const;
    expect(await status({ refused })).toContain(
      'Model: sonnet (fast: haiku), reachable · left out, as its server refuses it: tools (gemma3:4b), cache marks\n',
    );
  });

  it('shows the owner everything at a glance', async () => {
    expect((await status()).split('\n')).toEqual([
      'Discoclaw 1.2.3, up 1 d 3 h',
      'Model: sonnet (fast: haiku), reachable',
      'Gateway: 42 ms',
      'Turns: 2 running, 3 waiting, 1 stopped · model calls: 2 running, 1 waiting · after turns: 1 · writes: 4',
      'Today (2026-01-15): 12 model calls · 10,000 input tokens, 80% from the cache, 10% written to it, 10% plain · 500 output tokens · $1.23 at prices of 2026-10-24',
      '- by model: sonnet 9,800 in, 450 out, $1.20 · haiku 200 in, 50 out, $0.0340',
      '- by purpose: turn 9,800 in, 450 out, $1.20 · summary 200 in, 50 out, $0.0340',
      'This month (2026-01): 120 model calls · 10,000 input tokens, 80% from the cache, 10% written to it, 10% plain · 500 output tokens · $12.34',
      '- by model: sonnet 10,000 in, 500 out, $12.34',
      'Limits: 10 turns a minute per person · $5.00 a day',
      'Memory: 7 sessions, 1 person · 40 files, 2.3 MB',
      'Store: the last write succeeded 3 s ago · quarantine: 1 file',
    ]);
  });

  it('says since when the model is out of reach, and that the disk refuses', async () => {
    const text = await status({
      modelState: { kind: 'unreachable', since: ago(2 * hourMs), failure: 'overloaded' },
      lastWrite: { at: ago(1000), isOk: false },
    });
    expect(text).toContain('sonnet (fast: haiku), out of reach for 2 h 0 min (overloaded)');
    expect(text).toContain('⚠️ the last write failed 1 s ago');
  });

  it('names the models whose price is not known, with their tokens', async () => {
    const byModel = {
      sonnet: { ...ofTurns, cost: 0.5 },
      local: { ...ofSummaries, cost: 0, isUnpriced: true },
    };
    const text = await status({ usage: today({ cost: 0.5, isUnpriced: true }, byModel) });
    expect(text).toContain('$0.50 at prices of 2026-10-24, without local');
    expect(text).toContain('local 200 in, 50 out, cost not known');
    const { local } = byModel;
    expect(await status({ usage: today({ cost: 0, isUnpriced: true }, { local }) })).toContain(
      '500 output tokens · cost not known (local)',
    );
  });

  it('names why the cache missed, as the vendor told it', async () => {
    const cacheMisses = { tools_changed: 1, messages_changed: 3 };
    expect(await status({ usage: today({ cacheMisses }) })).toContain(
      ' · cache misses: messages changed (3), tools changed (1) · 500 output tokens',
    );
  });

  it('says what it does not know', async () => {
    const text = await status({
      usage: undefined,
      kept: undefined,
      quarantined: undefined,
      pingMs: undefined,
    });
    expect(text).toContain('Today: cannot be read right now');
    expect(text).toContain('Memory: cannot be read right now');
    expect(text).toContain('quarantine: cannot be read right now');
    expect(text).toContain('Gateway: ping not known yet');
  });

  it('says that Discord keeps words back, and what it sent that nobody can use [G3c][L5]', async () => {
    const text = await status({ readsContent: false, malformed: 2 });
    expect(text).toContain(
      'Gateway: 42 ms · ⚠️ without Message Content: only direct messages, mentions of me, replies to me, and commands · 2 malformed payloads dropped\n',
    );
    expect(await status({ readsContent: true, malformed: 0 })).toContain('Gateway: 42 ms\n');
  });

  it('fits into one message, however many models, reasons and calls there are', async () => {
    const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    const reasons = fc.dictionary(fc.string({ maxLength: 100 }), count, { maxKeys: 40 });
    const used: fc.Arbitrary<UsageSum> = fc.record({
      calls: count,
      inputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      cacheHourTokens: count,
      outputTokens: count,
      cost: fc.double({ min: 0, max: 1e9, noNaN: true }),
      isUnpriced: fc.boolean(),
      cacheMisses: reasons,
    });
    const byName = fc.dictionary(fc.string({ maxLength: 300 }), used, { maxKeys: 60 });
    const period = (name: string) =>
      fc.record({ period: fc.constant(name), all: used, byModel: byName, byPurpose: byName });
    await fc.assert(
      fc.asyncProperty(
        period('2026-01-15'),
        period('2026-01'),
        fc.string({ maxLength: 2000 }),
        async (day, month, name) => {
          const text = await status({ usage: { today: day, month }, models: { main: name, fast: name } });
          expect(text.length).toBeLessThanOrEqual(2000);
          expect(text).toMatch(/^Store: /mu);
          expect(text).toMatch(/^This month \(2026-01\): [^\n]* output tokens · [^\n]*$/mu);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it('is for nobody else', async () => {
    expect(await status({}, false)).toBe('Only my owner can see my status.');
  });

  it('says so with a reference where it cannot be gathered', async () => {
    const logger = recordingLogger();
    const command = createStatusCommand(() => Promise.reject(new Error('the disk')));
    const commands = createCommandSet([command], [], logger);
    const given = commands.parse('!status of my secret');
    expect(given).toEqual({ name: 'status', subcommand: '', options: {} });
    const { text } = await commands.command({
      id: '400000000000000001',
      command: given ?? { name: '', subcommand: '', options: {} },
      speaker: { id: aliceId, name: 'Alice', isOwner: true },
      place: publicPlace,
      ephemeral: false,
      at: now.toISOString(),
      startedAfter: undefined,
    });
    expect(text).toMatch(/^Something went wrong on my side\. Please try again\. \(reference [0-9a-f]{6}\)$/u);
    expect(logger.errors).toEqual(['a status command failed']);
    expect(JSON.stringify(logger)).not.toContain('secret');
  });
});
