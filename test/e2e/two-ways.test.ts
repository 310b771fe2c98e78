import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { asksForSummary, command, idIn, optionsOf, ways, type Way } from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';

const summary = 'They talked about bees.';
let stage: Stage;
/** The id of what is remembered before each command. */
let itemId = '';

/** What is given of each command, and what is told, done or refused before. Both ways begin with the same memory. */
const examples: Readonly<Record<string, readonly (() => string)[]>> = {
  page: [() => ''],
  show: [() => ''],
  search: [() => 'bees', () => 'submarines'],
  remember: [() => 'I live in Oslo', () => 'I keep bees', () => 'x'.repeat(501)],
  forget: [() => 'bees', () => itemId, () => 'submarines'],
  reset: [() => 'rolling'],
  conversations: [() => '', () => '1'],
  notebook: [() => '', () => 'USER.md', () => '..'],
  share: [() => itemId, () => 'ffffffff'],
  hide: [() => itemId, () => 'ffffffff'],
  pin: [() => itemId, () => 'ffffffff'],
  unpin: [() => itemId, () => 'ffffffff'],
  edit: [() => `${itemId} I keep hens`, () => `${itemId} I drink tea`, () => 'ffffffff I keep hens'],
  why: [() => itemId, () => 'ffffffff'],
  answers: [() => '', () => 'ffffffff'],
  history: [() => itemId, () => 'ffffffff'],
  review: [() => '', () => `still ${itemId}`, () => 'still ffffffff', () => 'keep ffffffff'],
  undo: [() => '', () => 'ffffffff'],
  mode: [() => '', () => 'ask', () => 'off'],
  proposals: [() => '', () => 'ffffffff'],
  pause: [() => '', () => 'here'],
  resume: [() => ''],
  notices: [() => '', () => 'off'],
  timezone: [() => '', () => 'Europe/Berlin'],
  erase: [() => ''],
  purge: [() => 'bees', () => 'submarines', () => 'x'],
  privacy: [() => ''],
  channel: [() => '', () => 'ffffffff'],
  note: [() => 'We meet at six'],
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

/**
 * Both ways show moments that move on, name the message that gave the command, and offer buttons with tokens of
 * their own.
 */
function withoutMoments(answer: string): string {
  return answer
    .replaceAll(/<t:\d+:[df]>/gu, '<day>')
    .replaceAll(/\d\d:\d\d there/gu, '<time> there')
    .replaceAll(/\/\d+>/gu, '/<message>>')
    .replaceAll(/-confirmed \w+/gu, '-confirmed <token>');
}

/** They change nothing, so that memory is as it was for the next one. */
const reading = new Set(['show', 'search', 'conversations', 'why', 'answers', 'history', 'privacy', 'help']);

/** What takes a setting back. */
const resetting: Readonly<Record<string, string>> = {
  mode: 'mode auto',
  pause: 'resume',
  notices: 'notices on',
};

/** Alice has two items and a summary of the conversation, whatever she had before. */
async function prepare(): Promise<void> {
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
    // A page that only its person may see exists as `/memory` alone.
    const bySlash = new Set(await slashCommands());
    expect(bySlash.delete('panel')).toBe(true);
    expect(bySlash).toEqual(named);
    expect(new Set([...Object.keys(examples), ...withFiles])).toEqual(bySlash);
  });

  it.each(Object.keys(examples))('give the same data: %s', async (name) => {
    await prepare();
    for (const values of examples[name] ?? []) {
      const outcomes = [];
      for (const way of ways) {
        outcomes.push(await outcome(way, `${name} ${values()}`.trim()));
        const reset = resetting[name];
        if (reset !== undefined) await aside(reset);
        if (!reading.has(name)) await prepare();
      }
      const [byMessage, bySlash] = outcomes;
      expect(bySlash).toEqual(byMessage);
      expect(byMessage?.answer).not.toMatch(/^$|I don't know the command/u);
    }
  });
});

/** What each command is given that is about one thing, by its id; `accept` and `decline` are in `proposals.test.ts`. */
const byId = ['share', 'hide', 'pin', 'unpin', 'edit', 'why', 'history', 'forget', 'undo'] as const;
const givenId = (name: string, id: string) => `${name} ${id}${name === 'edit' ? ' I keep hens' : ''}`;

describe.each(ways)('%s', (way) => {
  beforeAll(prepare);

  it.each(byId)('%s treats somebody else’s id like an unknown one', async (name) => {
    const before = await aside('show');
    const changes = (await stage.readFile(stage.pathFor('alice', 'undo.jsonl')))
      .split('\n')
      .filter((line) => line.includes(itemId));
    const [, changeId = ''] = /"id":"([0-9a-f]{8})","userId"/u.exec(changes.at(-1) ?? '') ?? [];
    const id = name === 'undo' ? changeId : itemId;
    expect(id).toMatch(/^[0-9a-f]{8}$/u);
    for (const place of ['#general', '@bob']) {
      const answer = await command(stage, way, 'bob', place, givenId(name, id));
      const unknown = await command(stage, way, 'bob', place, givenId(name, 'ffffffff'));
      expect(answer.replaceAll(id, 'ffffffff')).toBe(unknown);
      expect(answer).not.toContain('bees');
    }
    expect(await aside('show')).toBe(before);
  });
});

/** What a person may say in a public channel that has to do with an item of their DM, which says "xylophone". */
const aboutDm: Readonly<Record<string, (id: string) => readonly string[]>> = {
  show: () => ['show'],
  search: () => ['search secret', 'search instrument'],
  remember: () => ['remember I play something'],
  forget: (id) => ['forget secret', 'forget all secret', `forget ${id}`],
  reset: () => ['reset rolling'],
  ...Object.fromEntries(byId.slice(0, 7).map((name) => [name, (id: string) => [givenId(name, id)]])),
  undo: () => ['undo'],
  review: (id) => ['review', `review still ${id}`, `review changed ${id}`],
  mode: () => ['mode'],
  proposals: () => ['proposals'],
  pause: () => ['pause here', 'resume'],
  notices: () => ['notices'],
  export: () => ['export'],
  erase: () => ['erase'],
  purge: () => ['purge secret'],
  privacy: () => ['privacy'],
  channel: () => ['channel'],
};

describe('in a public channel', () => {
  it.each(Object.keys(aboutDm))(
    '%s prints nothing of what is for the DM, and by slash is for its asker alone',
    async (name) => {
      const person = (await stage.sandbox.addPerson({ name: `guest_${name}` })).name;
      const id = idIn(
        await command(
          stage,
          '/memory',
          person,
          `@${person}`,
          'remember My secret instrument is the xylophone',
        ),
      );
      for (const words of aboutDm[name]?.(id) ?? []) {
        expect(await command(stage, '!memory', person, '#general', words)).not.toMatch(/^$|xylophone/u);
        const [subcommand = '', ...rest] = words.split(' ');
        const options = optionsOf(subcommand, rest.join(' '));
        const { isEphemeral } = await stage.sandbox.slash({
          as: person,
          in: '#general',
          name: 'memory',
          subcommand,
          options,
        });
        expect(isEphemeral).toBe(true);
      }
      const said = await stage.sandbox.messages({ in: '#general', from: 'bot' });
      expect(said.filter(({ text, isEphemeral }) => !isEphemeral && text.includes('xylophone'))).toEqual([]);
    },
  );
});
