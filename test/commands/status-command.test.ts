import { describe, expect, it } from 'vitest';

import { createCommandSet } from '../../src/commands/commands.ts';
import { createStatusCommand, type StatusFacts } from '../../src/commands/status-command.ts';
import type { DayUsage } from '../../src/core/model.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const now = new Date('2026-01-15T10:00:00Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);
const hourMs = 3_600_000;

const usage: DayUsage = {
  day: '2026-01-15',
  calls: 12,
  inputTokens: 1000,
  cacheReadTokens: 8000,
  cacheWriteTokens: 1000,
  cacheHourTokens: 0,
  outputTokens: 500,
  cost: 1.234,
  unpriced: [],
  cacheMisses: {},
};

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
  });
  return text;
}

describe('the status [Y3]', () => {
  it('names what is left out, as the model’s server refuses it [M9]', async () => {
    const refused = [{ feature: 'tools', model: 'gemma3:4b' }, { feature: 'cache marks' }] as const;
    expect(await status({ refused })).toContain(
      'Model: sonnet (fast: haiku), reachable · left out, as its server refuses it: tools (gemma3:4b), cache marks\n',
    );
  });

  it('tells the owner all at a glance', async () => {
    expect((await status()).split('\n')).toEqual([
      'Discoclaw 1.2.3, up 1 d 3 h',
      'Model: sonnet (fast: haiku), reachable',
      'Gateway: 42 ms',
      'Turns: 2 running, 3 waiting, 1 stopped · model calls: 2 running, 1 waiting · after turns: 1 · writes: 4',
      'Today (2026-01-15): 12 model calls · 10,000 input tokens, 80% from the cache, 10% written to it, 10% plain · 500 output tokens · $1.23 at list prices of 2026-10-24',
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
    const partly = { ...usage, cost: 0.5, unpriced: ['local'] };
    expect(await status({ usage: partly })).toContain('$0.50 at list prices of 2026-10-24, without local');
    expect(await status({ usage: { ...partly, cost: 0 } })).toContain(
      '500 output tokens · cost not known (local)',
    );
  });

  it('names why the cache missed, as the vendor told it', async () => {
    const cacheMisses = { tools_changed: 1, messages_changed: 3 };
    expect(await status({ usage: { ...usage, cacheMisses } })).toContain(
      ' · cache misses: messages changed (3), tools changed (1) · 500 output tokens',
    );
  });

  it('says what it cannot tell', async () => {
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
    });
    expect(text).toMatch(/^Something went wrong on my side\. Please try again\. \(reference [0-9a-f]{6}\)$/u);
    expect(logger.errors).toEqual(['a status command failed']);
    expect(JSON.stringify(logger)).not.toContain('secret');
  });
});
