import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { asksForSummary, command, idIn, ways, type Way } from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';

const summary = 'They talked about bees.';
let stage: Stage;
/** The id of what is remembered before each command. */
let itemId = '';

/** What is given of each command, and what is told, done or refused before. Both ways begin with the same memory. */
const examples: Readonly<Record<string, readonly (() => string)[]>> = {
  show: [() => ''],
  search: [() => 'bees', () => 'submarines'],
  remember: [() => 'I live in Oslo', () => 'I keep bees', () => 'x'.repeat(501)],
  forget: [() => 'bees', () => itemId, () => 'submarines'],
  reset: [() => 'rolling'],
  share: [() => itemId, () => 'ffffffff'],
  hide: [() => itemId, () => 'ffffffff'],
  pin: [() => itemId, () => 'ffffffff'],
  unpin: [() => itemId, () => 'ffffffff'],
  edit: [() => `${itemId} I keep hens`, () => `${itemId} I drink tea`, () => 'ffffffff I keep hens'],
  why: [() => itemId, () => 'ffffffff'],
  history: [() => itemId, () => 'ffffffff'],
  undo: [() => '', () => 'ffffffff'],
  mode: [() => '', () => 'ask', () => 'off'],
  proposals: [() => '', () => 'ffffffff'],
  pause: [() => '', () => 'here'],
  resume: [() => ''],
  notices: [() => '', () => 'off'],
  erase: [() => ''],
  purge: [() => 'bees', () => 'submarines', () => 'x'],
  privacy: [() => ''],
  help: [() => ''],
};

/** They send or take files; `export.test.ts` gives them in both ways. */
const withFiles = ['export', 'import'];

beforeAll(async () => {
  stage = await openStage({
    environment: { DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1' },
    model: (body) => ({ text: asksForSummary(body) ? summary : 'Understood.' }),
  });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** By slash, because answers to messages are limited to some five in five seconds. */
async function aside(words: string): Promise<string> {
  return withoutMoments(await command(stage, '/memory', 'alice', 'dm', words));
}

/** Both ways tell days as Discord's moments, which go on meanwhile, name the message that they were given by, and offer what comes next under a token of its own. */
function withoutMoments(answer: string): string {
  return answer
    .replaceAll(/<t:\d+:[df]>/gu, '<day>')
    .replaceAll(/\/\d+>/gu, '/<message>>')
    .replaceAll(/-confirmed \w+/gu, '-confirmed <token>');
}

/** Alice has two items and a summary of the conversation, whatever she had before. */
async function prepare(): Promise<void> {
  await aside('resume');
  await aside('mode auto');
  await aside('notices on');
  await aside('forget all I');
  await aside('remember I drink tea');
  itemId = idIn(await aside('remember I keep bees'));
  if (!(await aside('show')).includes(summary)) {
    await stage.ask('alice', 'dm', 'Bees, you know.');
    await vi.waitUntil(async () => (await aside('show')).includes(summary), { timeout: 60_000 });
  }
}

/** What the command answered, and what memory is after it. */
async function outcome(way: Way, words: string) {
  const answer = withoutMoments(await command(stage, way, 'alice', 'dm', words));
  return { answer, memory: await aside('show') };
}

async function slashCommands(): Promise<readonly string[]> {
  const memory = (await stage.sandbox.commands()).find(({ name }) => name === 'memory');
  return memory?.subcommands.map(({ name }) => name) ?? [];
}

describe('the two ways to every memory command [K0]', () => {
  it('are the same commands, by name', async () => {
    const help = await command(stage, '!memory', 'alice', 'dm', 'help');
    const named = new Set([...help.matchAll(/`!memory (\w+)/gu)].map(([, name = '']) => name));
    expect(new Set(await slashCommands())).toEqual(named);
    expect(new Set([...Object.keys(examples), ...withFiles])).toEqual(named);
  });

  it.each(Object.keys(examples))('give the same data: %s', async (name) => {
    for (const values of examples[name] ?? []) {
      const outcomes = [];
      for (const way of ways) {
        await prepare();
        outcomes.push(await outcome(way, `${name} ${values()}`.trim()));
      }
      const [byMessage, bySlash] = outcomes;
      expect(bySlash).toEqual(byMessage);
      expect(byMessage?.answer).not.toMatch(/^$|I don't know the command/u);
    }
  });
});
