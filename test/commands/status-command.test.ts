import { describe, expect, it } from 'vitest';

import { createCommandSet } from '../../src/commands/commands.ts';
import { createStatusCommand, type StatusFacts } from '../../src/commands/status-command.ts';
import type { Place } from '../../src/core/place.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { dmPlace } from './harness.ts';
import { ago, facts, hourMs, now, usage } from '../support/status-facts.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const url = 'https://memory.example.org/sign-in/token';

async function give(
  words: string,
  {
    changes = {},
    isOwner = true,
    link,
    place = dmPlace,
  }: { changes?: Partial<StatusFacts>; isOwner?: boolean; link?: string; place?: Place },
) {
  const command = createStatusCommand(
    () => Promise.resolve({ ...facts, ...changes }),
    () => Promise.resolve(link),
  );
  const commands = createCommandSet([command], {}, recordingLogger());
  return commands.command({
    id: '400000000000000001',
    command: commands.parse(`!status${words}`) ?? { name: '', subcommand: '', options: {} },
    speaker: { id: aliceId, name: 'Alice', isOwner },
    place,
    ephemeral: false,
    at: now.toISOString(),
    work: { userId: aliceId },
  });
}

async function status(changes: Partial<StatusFacts> = {}, isOwner = true): Promise<string> {
  const { text } = await give('', { changes, isOwner, place: publicPlace });
  return text;
}

describe('the status [O8]', () => {
  it('names what is left out, as the model’s server refuses it [M9]', async () => {
    const model = 'gemma3:4b';
    const refused = [
      { feature: 'tools', model },
      { feature: 'cache marks', model },
    ] as const;
    expect(await status({ refused })).toContain(
      'Model: sonnet (fast: haiku), reachable · left out, as its server refuses it: tools (gemma3:4b), cache marks (gemma3:4b)\n',
    );
  });

  it('shows the owner everything at a glance', async () => {
    expect((await status()).split('\n')).toEqual([
      'Discoclaw 1.2.3: up 1 d 3 h',
      'Model: sonnet (fast: haiku), reachable',
      'Gateway: 42 ms',
      'Turns: 2 running, 3 waiting · model calls: 2 running, 1 waiting · after turns: 1 · writes: 4',
      'Memory: 7 sessions, 1 person · 40 files, 2.3 MB',
      'Store: the last write succeeded 3 s ago · quarantine: 1 file (users/3/durable.json)',
      'Today (2026-01-15): 12 model calls · 10,000 input tokens, 80% from the cache, 10% written to it, 10% plain · 500 output tokens · $1.23 at prices of 2026-10-24',
      '- by model: sonnet 9,800 in, 450 out, $1.20 · haiku 200 in, 50 out, $0.0340',
      '- by purpose: turn 9,800 in, 450 out, $1.20 · summary 200 in, 50 out, $0.0340',
      '- turns: 9 answered · 1 failed',
      '- errors: 2 model overloaded',
      'This month (2026-01): 120 model calls · 10,000 input tokens, 80% from the cache, 10% written to it, 10% plain · 500 output tokens · $12.34',
      '- by model: sonnet 10,000 in, 500 out, $12.34',
    ]);
  });

  it('says since when the model cannot be had and why, and that the disk refuses', async () => {
    const text = await status({
      modelState: { kind: 'unreachable', since: ago(2 * hourMs), failure: 'overloaded' },
      lastWrite: { at: ago(1000), isOk: false },
    });
    expect(text).toContain('sonnet (fast: haiku), overloaded for 2 h 0 min\n');
    expect(text).toContain('⚠️ the last write failed 1 s ago');
    expect(text).not.toContain('Not written');
  });

  it('says what background work has not written, since when and why, once for each reason [M16]', async () => {
    const lost = [
      ['summary', 'unknown-model', 1],
      ['summary', 'unknown-model', 3],
      ['extraction', 'invalid', 2],
    ] as const;
    const unwritten = lost.map(([purpose, failure, hours]) => {
      return { purpose, userId: aliceId, model: 'claude-haiku-5-5', failure, since: ago(hours * hourMs) };
    });
    expect(await status({ unwritten })).toContain(
      '\nNot written: summary for 3 h 0 min (claude-haiku-5-5 is unknown to its server) · extraction for 2 h 0 min (claude-haiku-5-5 is giving no usable answers)\n',
    );
  });

  it('says that Discord keeps words back [G3c]', async () => {
    const text = await status({ readsContent: false });
    expect(text).toContain(
      'Gateway: 42 ms · ⚠️ without Message Content: only direct messages, mentions of me, replies to me, and commands\n',
    );
    expect(await status({ readsContent: true })).toContain('Gateway: 42 ms\n');
  });

  it('is for nobody else', async () => {
    expect(await status({}, false)).toBe('Only my owner can see my status.');
    expect(await give('', { isOwner: false, link: url })).not.toHaveProperty('data');
    expect(JSON.stringify(await give(' page', { isOwner: false, link: url }))).not.toContain(url);
  });

  it.each([' page', ' link'])(
    'opens the page by a link where nobody else reads it: !status%s [Y4]',
    async (words) => {
      expect(await give(words, { link: url })).toEqual({
        text: 'This opens my status in your browser. The link works once, within ten minutes.',
        buttons: [{ label: 'Open my page', url }],
      });
      const inPublic = await give(words, { link: url, place: publicPlace });
      expect(inPublic).toEqual({
        text: 'That is for you alone: use `/status page:link`, or ask me in our DM.',
      });
      expect((await give(words, {})).text).toBe(
        'This bot has no page to open in a browser; `/status` shows it here.',
      );
    },
  );

  it('has as data what is so now, what is wrong, and what was used; it names nobody [Y4]', async () => {
    const wrong = { lastWrite: { at: now, isOk: false }, letIn: ['<@123>'], askers: ['<@456>'] };
    const { data } = await give('', { changes: wrong });
    expect(data).toMatchObject({ kind: 'status', usage });
    const found = data?.kind === 'status' ? data.facts : [];
    expect(found.map(({ title }) => title)).toEqual([
      'Discoclaw 1.2.3',
      'Model',
      'Gateway',
      'Turns',
      'Memory',
      'Store',
    ]);
    expect(found.filter(({ isBad }) => isBad).map(({ title }) => title)).toEqual(['Store']);
    expect(JSON.stringify(data)).not.toMatch(/123|456/u);
  });
});
