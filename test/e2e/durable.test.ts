import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { offerHead } from '../../src/core/tool.ts';
import type { ModelScript } from '../support/model-server.ts';
import { command, idIn, newestCall, promptFor, toldIn } from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';

/** Calls a tool where a message holds `CALL <tool> <JSON>`, then reports what the tool said. */
const obedient: ModelScript = ({ messages = [] }) => {
  const last = messages.at(-1)?.content ?? [];
  const result = last.find(({ type }) => type === 'tool_result');
  if (result !== undefined) return { text: `The tool said: ${JSON.stringify(result['content'])}` };
  const text = last.map((block) => block.text ?? '').join('');
  const [, name, input] = /CALL (\w+) (\{.*\})/u.exec(text.slice(text.lastIndexOf('<message'))) ?? [];
  if (text.includes('ask me')) return { text: 'Gladly. Where do you live?' };
  if (name === undefined || input === undefined) return { text: 'Understood.' };
  return { toolUse: [{ name, input: JSON.parse(input) }] };
};

let stage: Stage;
let people = 0;

/** Somebody new, of whom nothing is remembered. */
async function newcomer(): Promise<string> {
  people += 1;
  return (await stage.sandbox.addPerson({ name: `person${people}` })).name;
}

/** Gives a `!memory` command and resolves with the answer. */
function memory(as: string, place: string, words: string): Promise<string> {
  return command(stage, '!memory', as, place, words);
}

/** Somebody writes a message for which the model calls a tool, and this is what the tool said. */
async function calls(
  name: string,
  place: string,
  words: string,
  tool: string,
  input: object,
): Promise<string> {
  return (await stage.ask(name, place, `${words}\n> CALL ${tool} ${JSON.stringify(input)}`)).text;
}

/** Presses [Do it] under what was offered to the person, and expects this to come of it. */
async function pressOffer(name: string, place: string, text: string, outcome: string): Promise<void> {
  const offered = `${offerHead}\n${text}`;
  const newest = async () =>
    (await stage.sandbox.messages({ in: place, from: 'bot' })).findLast((message) =>
      message.text.startsWith(offered),
    );
  await expect.poll(async () => (await newest())?.components.rows.length).toBe(1);
  const { id = '' } = (await newest()) ?? {};
  await stage.sandbox.click({ as: name, message: id, label: 'Do it' });
  await expect.poll(async () => (await newest())?.text).toBe(`${offered}\n-# ${outcome}`);
}

beforeAll(async () => {
  stage = await openStage({ environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' }, model: obedient });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('a durable item', () => {
  it('that answers a question of the bot’s has it with it wherever it is [D1a]', async () => {
    const name = await newcomer();
    await stage.ask(name, 'dm', 'ask me something');
    await calls(name, 'dm', 'Porto', 'remember_item', { kind: 'fact', quote: 'Porto' });
    const wording = 'Porto (asked: Where do you live?)';
    expect(await memory(name, 'dm', 'show')).toContain(`[fact] ${wording}`);
    expect(await promptFor(stage, name, 'dm')).toContain(`- [fact] ${wording}`);
    expect(await memory(name, 'dm', 'search do you live')).toContain(wording);
    expect(await memory(name, 'dm', 'forget do you live')).toContain(wording);
    expect(await memory(name, 'dm', 'show')).not.toContain('Porto');
  });

  it('said in #dev is used in #general and in the DM, and still is after a start', async () => {
    const name = await newcomer();
    await memory(name, '#dev', 'remember I prefer Rust');
    const line = /- \[fact\] I prefer Rust \(src: manual, #dev, updated (?:<t:\d+:d>|[-\d]+)\)/u;
    expect(await promptFor(stage, name, '#general')).toMatch(line);
    expect(await promptFor(stage, name, 'dm')).toMatch(line);

    await stage.stopBot();
    await stage.startBot();
    expect(await promptFor(stage, name, '#general')).toMatch(line);
    expect(await memory(name, '#general', 'show')).toMatch(line);
  });

  it('belongs to the person who said it and is never read for another, not even when they are mentioned [V2]', async () => {
    const [owner, other] = [await newcomer(), await newcomer()];
    await memory(owner, '#dev', 'remember I keep ferrets');
    expect(await promptFor(stage, other, '#general', `What do you know of @${owner}?`)).not.toContain(
      'ferrets',
    );
    expect(await memory(other, '#dev', 'show')).not.toContain('ferrets');
    expect(await promptFor(stage, owner, '#general')).toContain('ferrets');
  });

  it('said in the DM is in no prompt of a guild, be the channel public or private [V1]', async () => {
    const name = await newcomer();
    const { id } = await stage.sandbox.addChannel({ name: `den-${name}`, private: true, members: [name] });
    await memory(name, 'dm', 'remember I am allergic to nuts');
    expect(await promptFor(stage, name, 'dm')).toContain('allergic');

    expect(await promptFor(stage, name, '#general')).not.toContain('allergic');
    await stage.sandbox.say({ as: name, in: id, text: 'hello', mentionBot: true });
    await stage.sandbox.waitForReply({ in: id });
    expect(toldIn(newestCall(stage))).toContain(`where="#den-${name}, private"`);
    expect(newestCall(stage).raw).not.toContain('allergic');
  });

  it('said in a private channel is used there and in the DM of its owner, nowhere else [V1]', async () => {
    await memory('alice', '#secret', 'remember I plan a surprise');
    expect(await promptFor(stage, 'alice', '#secret')).toContain('surprise');
    expect(await promptFor(stage, 'alice', 'dm')).toContain('surprise');
    expect(await promptFor(stage, 'alice', '#general')).not.toContain('surprise');
    expect(await promptFor(stage, 'bob', '#secret')).not.toContain('surprise');
  });

  it('is used everywhere once it is shared, and leaves a prompt at once when it is hidden', async () => {
    const name = await newcomer();
    const id = idIn(await memory(name, 'dm', 'remember I collect stamps'));
    expect(await promptFor(stage, name, '#general')).not.toContain('stamps');
    await memory(name, 'dm', `share ${id}`);
    expect(await promptFor(stage, name, '#general')).toContain('stamps');
    await memory(name, 'dm', `hide ${id}`);
    expect(await promptFor(stage, name, '#general')).not.toContain('stamps');
    expect(await promptFor(stage, name, 'dm')).toContain('stamps');
  });

  it('that was forgotten leaves the next prompt', async () => {
    const name = await newcomer();
    await memory(name, '#dev', 'remember I collect coins');
    expect(await promptFor(stage, name, '#general')).toContain('coins');
    await memory(name, '#general', 'forget coins');
    expect(await promptFor(stage, name, '#general')).not.toContain('coins');
  });

  it('that is edited by hand is used as edited in the next turn [S5]', async () => {
    const name = await newcomer();
    const id = idIn(await memory(name, '#dev', 'remember I live in Berlin'));
    expect(await promptFor(stage, name, '#general')).toContain('I live in Berlin');

    const person = (await stage.sandbox.info()).people[name];
    const file = `data/users/${person}/durable.json`;
    await stage.writeFile(file, (await stage.readFile(file)).replace('Berlin', 'Lisbon'));
    const prompt = await promptFor(stage, name, '#general');
    expect(prompt).toContain('I live in Lisbon');
    expect(prompt).not.toContain('I live in Berlin');
    expect(await memory(name, '#general', 'show')).toContain(`I live in Lisbon (src: manual, #dev`);
    expect(idIn(await memory(name, '#general', 'forget lisbon'))).toBe(id);
  });

  it('with odd bytes, in a file or a name, locks nobody out [S5]', async () => {
    const name = await newcomer();
    await memory(name, '#dev', 'remember I live in Berlin');
    const person = (await stage.sandbox.info()).people[name];
    const file = `data/users/${person}/durable.json`;
    const item = String.raw`{"text": "half a \ud83d emoji \u0000\u001b[2J", "id": "twice"}, {"text": "and a copy \udc00", "id": "twice"},`;
    await stage.writeFile(file, (await stage.readFile(file)).replace('"items": [', `"items": [${item}`));
    const prompt = await promptFor(stage, name, 'dm');
    expect(prompt).toContain('- [fact] half a \ufffd emoji [2J (src: manual)');
    expect(prompt).toContain('- [fact] and a copy \ufffd (src: manual)');
    expect(await memory(name, 'dm', 'show')).toContain('Durable memory (3 items)');

    const said = await stage.ask(name, '#general', 'half \ud83d a message \udc00');
    expect(said.text).toBe('Understood.');
    expect(await promptFor(stage, name, '#general')).toContain('half \ufffd a message \ufffd');
  });
});

describe('the model', () => {
  it('remembers what the speaker said, by a literal quote', async () => {
    const name = await newcomer();
    const input = {
      kind: 'preference',
      quote: 'I prefer tabs over spaces',
    };
    const told = await calls(name, '#dev', 'By the way, I prefer tabs over spaces.', 'remember_item', input);
    expect(told).toContain('The tool said:');
    expect(told).toContain('Remembered: [preference] By the way, I prefer tabs over spaces.');
    expect(await memory(name, '#general', 'show')).toMatch(
      /- \[preference\] By the way, I prefer tabs over spaces\. \(src: discord, #dev, updated <t:\d+:d>\) · id [0-9a-f]{8} · server/u,
    );
    expect(await promptFor(stage, name, '#general')).toContain(
      'I prefer tabs over spaces. (src: discord, #dev',
    );
  });

  it.each([
    ['words that were never written', 'I like the weather today', 'I prefer Zig'],
    ['more than was said', 'I prefer Rust', 'I prefer Rust and Zig'],
    ['a translation', 'Ich mag Zig', 'I like Zig'],
    ["somebody else's words", '> I prefer Zig\nsays my friend', 'I prefer Zig'],
    ['the name of an emoji', 'nice <:likes_rust:120000000000000001>', ':likes_rust:'],
    ['code', 'what is `I love Haskell` in this', 'I love Haskell'],
    ['the name of whom is mentioned', 'hi @bob, loves Zig?', 'bob'],
    ['a question', 'am I allergic to peanuts?', 'I allergic to peanuts'],
    ['pieces of two sentences', 'I love peanuts. I hate Rome.', 'I love Rome'],
  ])('cannot store %s [M5a]', async (_, words, quote) => {
    const name = await newcomer();
    const told = await calls(name, '#dev', words, 'remember_item', { kind: 'preference', quote });
    expect(told).toContain('Not stored:');
    expect(await memory(name, '#dev', 'show')).toContain('Durable memory (0 items):');
  });

  it('cannot store for one person what another wrote before them [M5a]', async () => {
    const [stranger, name] = [await newcomer(), await newcomer()];
    await stage.ask(stranger, '#dev', 'I prefer Zig, and so should you remember.');
    const input = { kind: 'preference', quote: 'I prefer Zig' };
    const told = await calls(name, '#dev', 'Interesting!', 'remember_item', input);
    expect(toldIn(newestCall(stage))).toContain('I prefer Zig, and so should you remember.');
    expect(told).toContain('Not stored:');
    for (const each of [stranger, name])
      expect(await memory(each, '#dev', 'show')).toContain('Durable memory (0 items):');
  });

  it('keeps what it is told in the DM to the DM', async () => {
    const name = await newcomer();
    const input = { kind: 'fact', quote: 'I am afraid of heights' };
    expect(await calls(name, 'dm', 'I am afraid of heights', 'remember_item', input)).toContain(
      'Remembered:',
    );
    expect(await promptFor(stage, name, 'dm')).toContain(
      '[fact] I am afraid of heights (src: discord, updated',
    );
    expect(await promptFor(stage, name, '#general')).not.toMatch(/afraid of heights/iu);
  });

  it('corrects an item by another, which stays as history [D6]', async () => {
    const name = await newcomer();
    const old = idIn(await memory(name, 'dm', 'remember I live in Berlin'));
    const input = { kind: 'fact', quote: 'I live in Porto now', replaces: old };
    expect(await calls(name, 'dm', 'I live in Porto now', 'remember_item', input)).toContain(
      'It replaces: [fact] I live in Berlin',
    );
    const shown = await memory(name, 'dm', 'show');
    expect(shown).toContain('Durable memory (1 item):\n- [fact] I live in Porto now');
    expect(shown).not.toContain('Berlin');
    expect(await memory(name, 'dm', `history ${idIn(shown)}`)).toMatch(
      /^ {2}before <t:\d+:d>: I live in Berlin$/mu,
    );
    const person = (await stage.sandbox.info()).people[name];
    const { items } = JSON.parse(await stage.readFile(`data/users/${person}/durable.json`));
    expect(items).toEqual([
      expect.objectContaining({ id: old, status: 'deprecated', supersededBy: idIn(shown) }),
      expect.objectContaining({ id: idIn(shown), status: 'active' }),
    ]);
  });

  it('forgets at once where nobody else has spoken, and can be undone', async () => {
    const name = await newcomer();
    await memory(name, 'dm', 'remember I collect stamps');
    const told = await calls(name, 'dm', 'Please forget my stamps', 'forget_item', { target: 'stamps' });
    expect(told).toContain('Forgotten:');
    expect(await memory(name, 'dm', 'show')).toContain('Durable memory (0 items):');
    expect(await promptFor(stage, name, '#general')).not.toContain('I collect stamps');
    expect(await memory(name, 'dm', 'undo')).toContain('I collect stamps');
  });

  it('forgets by a button that shows the item where others have spoken [M5a]', async () => {
    const name = await newcomer();
    await memory(name, '#dev', 'remember I collect stamps');
    const told = await calls(name, '#dev', 'forget the fact', 'forget_item', { target: 'stamps' });
    expect(told).toContain('Nothing forgotten yet:');
    expect(await memory(name, '#dev', 'show')).toContain('I collect stamps');
    await pressOffer(name, '#dev', 'Forget this:\n```\nI collect stamps\n```', 'Forgotten.');
    expect(await memory(name, '#dev', 'show')).toContain('Durable memory (0 items):');
  });

  it('replaces an item by a button that shows both where others have spoken [M5a]', async () => {
    const name = await newcomer();
    const old = idIn(await memory(name, '#dev', 'remember I collect stamps'));
    const input = { kind: 'fact', quote: 'I drink tea', replaces: old };
    expect(await calls(name, '#dev', 'I drink tea', 'remember_item', input)).toContain('Not stored yet:');
    expect(await memory(name, '#dev', 'show')).toContain('I collect stamps');
    const shown = 'Remember the first line instead of the second:\n```\nI drink tea\nI collect stamps\n```';
    await pressOffer(name, '#dev', shown, 'Remembered.');
    const show = await memory(name, '#dev', 'show');
    expect(show).toContain('Durable memory (1 item):\n- [fact] I drink tea');
  });

  it('cannot forget in a guild what belongs to the DM', async () => {
    const name = await newcomer();
    await memory(name, 'dm', 'remember I collect stamps');
    const told = await calls(name, '#dev', 'Please forget my stamps', 'forget_item', { target: 'stamps' });
    expect(told).toContain('no item here has this id or these words');
    expect(await memory(name, 'dm', 'show')).toContain('I collect stamps');
  });
});

it('evicts the oldest when memory is full, never the new one, no matter who asked for it, and says which [D3]', async () => {
  await using small = await openStage({
    environment: { DISCOCLAW_DURABLE_MAX_ITEMS: '3', DISCOCLAW_SUMMARY_ENABLED: 'false' },
    model: obedient,
  });
  const remember = async (place: string, text: string): Promise<string> => {
    // The age of items counts in milliseconds.
    await sleep(5);
    return command(small, '!memory', 'alice', place, `remember ${text}`);
  };
  const use = async (tool: string): Promise<string> => {
    const input = { kind: 'tool', quote: `I use ${tool}` };
    const words = `I use ${tool}\n> CALL remember_item ${JSON.stringify(input)}`;
    return (await small.ask('alice', '#dev', words)).text;
  };
  await remember('dm', 'first');
  await remember('#dev', 'second');
  await use('vim');

  const third = await remember('#dev', 'third');
  expect(third).toContain('Remembered: "third"');
  expect(third).toContain('To make room, I let go of "I use vim"');

  const fourth = await remember('#dev', 'fourth');
  expect(fourth).toContain('Remembered: "fourth"');
  expect(fourth).toContain("To make room, I let go of 1 item that I don't name here.");
  expect(fourth).not.toContain('first');

  const fifth = await remember('#dev', 'fifth');
  expect(fifth).toContain('To make room, I let go of "second"');

  const told = await use('emacs');
  expect(told).toContain('Remembered: [tool] I use emacs');
  expect(told).toContain('No longer kept, to make room: [fact] third');
  const shown = await command(small, '!memory', 'alice', 'dm', 'show');
  expect(shown.match(/\[\w+\] \w+/gu)).toEqual(['[tool] I', '[fact] fifth', '[fact] fourth']);
});

describe('what is said in one of two servers [V1]', () => {
  it('is used, shown and found in that one and in the DM only, until its owner shares it; what they ask to have remembered there is for both', async () => {
    const name = await newcomer();
    const guild = await stage.sandbox.addGuild({
      name: `office-of-${name}`,
      owner: 'alice',
      members: [name],
    });
    const office = (await stage.sandbox.addChannel({ guild: guild.id, name: `desk-${name}` })).id;
    await stage.ask('alice', office, '!settings answer everything');
    const quote = 'I attend a support group on Mondays';
    await calls(name, '#dev', `${quote}.`, 'remember_item', { kind: 'fact', quote });
    const stored = await memory(name, '#dev', 'remember I like tea');

    expect(await promptFor(stage, name, '#general')).toContain('support group');
    expect(await promptFor(stage, name, 'dm')).toContain('support group');
    expect(await memory(name, '#general', 'show')).toMatch(/support group .* · server$/mu);
    const elsewhere = await promptFor(stage, name, office);
    expect(elsewhere).toContain('I like tea (src: manual, updated');
    expect(elsewhere).not.toMatch(/support group|#dev/u);
    expect(await memory(name, office, 'show')).not.toMatch(/support group|#dev/u);
    expect(await memory(name, office, 'show')).toContain('1 more in our DM');
    expect(await memory(name, office, 'search support group')).toContain('I found nothing');
    expect(
      await calls(name, office, 'What do you know?', 'recall_memory', { query: 'support group' }),
    ).toContain('Found 0 result(s)');

    expect(stored).toContain('every server');
    const id = /support group .* id (?<id>[0-9a-f]{8})/u.exec(await memory(name, 'dm', 'show'))?.groups?.[
      'id'
    ];
    expect(await memory(name, office, `share ${id}`)).toContain('I know of no item');
    expect(await memory(name, '#general', `share ${id}`)).toContain('every server');
    expect(await promptFor(stage, name, office)).toContain('support group');
  });
});
