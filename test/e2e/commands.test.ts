import { createHash } from 'node:crypto';

import { afterAll, afterEach, describe, expect, it } from 'vitest';

import { subcommandsOf } from '../../src/sandbox/people/slash-command.ts';
import { eventually } from '../support/eventually.ts';
import { command, idIn, ways } from './memory-talk.ts';
import { callsOf, chatCall, newestOf, toldIn } from './model-calls.ts';
import { openStage } from './stage.ts';

const stage = await openStage({ model: () => ({ text: 'Understood.' }) });

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe.each(ways)('%s', (way) => {
  it('remembers with an id and, by the place, a visibility [V1][K2]', async () => {
    const { name } = await stage.newcomer();
    await stage.sandbox.addChannel({ name: `hideout-${name}`, private: true, members: [name] });
    const remember = (place: string, text: string) => command(stage, way, name, place, `remember ${text}`);

    const id = createHash('sha256').update('i prefer rust').digest('hex').slice(0, 8);
    expect(await remember('#dev', 'I prefer  Rust')).toBe(
      `Remembered: "I prefer Rust" · id ${id} · everywhere\n-# I may use it in every server that we share; \`!memory hide ${id}\` keeps it to our DM.`,
    );
    expect(await remember(`#hideout-${name}`, 'I hide here')).toMatch(/ · here$/u);
    expect(await remember('dm', 'I am shy')).toMatch(/ · dm$/u);
  });
});

it('keeps what a guild may not see to the DM and to ephemeral answers [K3]', async () => {
  const { name } = await stage.newcomer();
  await command(stage, '!memory', name, 'dm', 'remember I am shy');
  await command(stage, '!memory', name, '#dev', 'remember I prefer Rust');

  const inGuild = await command(stage, '!memory', name, '#general', 'show');
  expect(inGuild).toContain('Durable memory (1 item):\n- [fact] I prefer Rust');
  expect(inGuild).toContain('1 more in our DM');
  expect(inGuild).not.toContain('shy');

  const ephemeral = await stage.sandbox.slash({
    as: name,
    in: '#general',
    name: 'memory',
    subcommand: 'show',
  });
  expect(ephemeral.isEphemeral).toBe(true);
  expect(ephemeral.answer?.isEphemeral).toBe(true);
  expect(ephemeral.answer?.text).toContain('Durable memory (2 items):');
  expect(ephemeral.answer?.text).toMatch(/I am shy .* · dm$/mu);
  expect(ephemeral.answer?.text).toMatch(/I prefer Rust .* · everywhere$/mu);
});

it('asks what is meant where the command is misspelt, and no model ever hears of it [K1][F2]', async () => {
  const { name } = await stage.newcomer();
  const asked = callsOf(stage, 'chat').length;
  const answer = await stage.ask(name, 'dm', '!memroy show');
  expect(answer.text).toBe('There is no command "!memroy". Did you mean `!memory show`?');
  expect(callsOf(stage, 'chat')).toHaveLength(asked);
  expect((await chatCall(stage, name, 'dm')).raw).not.toContain('memroy');
});

it('answers commands in a channel where it must be addressed, with a mention before them or without', async () => {
  const { name } = await stage.newcomer();
  const { id } = await stage.sandbox.addChannel({ name: 'quiet' });
  const unaddressed = await stage.sandbox.say({ as: name, in: id, text: 'nobody in particular' });
  const said = [
    await stage.sandbox.say({ as: name, in: id, text: '!memory show' }),
    await stage.sandbox.say({ as: name, in: id, text: '!memory remember tea', mentionBot: true }),
  ];
  await stage.sandbox.waitForReply({ in: id, containing: 'Remembered: "tea"' });
  const replies = await stage.sandbox.messages({ in: id, after: unaddressed.id, from: 'bot' });
  expect(replies.map(({ replyTo }) => replyTo)).toEqual(said.map((message) => message.id));
});

it('sends a long show in parts, all of it, and pings nobody [K3][G3]', async () => {
  const { name } = await stage.newcomer();
  const texts = Array.from(
    { length: 10 },
    (_, index) => `Number ${index}: @everyone knows ${'many things '.repeat(20)}end ${index}.`,
  );
  for (const text of texts) await command(stage, '/memory', name, '#dev', `remember ${text}`);
  const said = await stage.sandbox.say({ as: name, in: '#dev', text: '!memory show' });
  await stage.sandbox.waitForReply({ in: '#dev', after: said.id, containing: 'Characters used' });
  const parts = await stage.sandbox.messages({ in: '#dev', after: said.id, from: 'bot' });
  const given = { as: name, in: '#dev', name: 'memory', subcommand: 'show', followUps: parts.length - 1 };
  const { answer, followUps } = await stage.sandbox.slash(given);
  for (const messages of [parts, [answer, ...followUps]]) {
    const whole = messages.map((message) => message?.text).join('\n');
    expect(whole.startsWith('Durable memory (10 items):')).toBe(true);
    for (const text of texts) expect(whole).toContain(text);
    for (const message of messages)
      expect(message).toMatchObject({ mentions: [], isEphemeral: messages !== parts });
  }
  const posts = await stage.sandbox.requests({ method: 'POST', path: '/channels/*/messages' });
  for (const { body } of posts)
    expect(body).toMatchObject({ allowed_mentions: { parse: [], replied_user: false } });
});

describe('a command however its sign, its spaces or its surroundings came out [K1] [F2]', () => {
  it.each([
    '/memory show',
    '！ｍｅｍｏｒｙ　ｓｈｏｗ',
    '\u2800!memory show\u200b',
    '```\n!memory show\n```',
    '**!memory show**',
  ])('is carried out, and neither logged nor told to a model: %j', async (text) => {
    const { name } = await stage.newcomer();
    await command(stage, '!memory', name, 'dm', 'remember I like tea');
    const asked = callsOf(stage, 'chat').length;
    expect((await stage.ask(name, 'dm', text)).text).toMatch(/^Durable memory \(1 item\):/u);
    expect(callsOf(stage, 'chat')).toHaveLength(asked);
    expect((await stage.kept()).filter(({ text: kept }) => kept.includes(text))).toEqual([]);
    await stage.ask(name, 'dm', 'hello');
    expect(toldIn(newestOf(stage, 'chat'))).not.toMatch(/show|ｓｈｏｗ|Durable memory/iu);
  });
});

it('a slash command that Discord sent as text takes what stands behind its options [K1]', async () => {
  const { name } = await stage.newcomer();
  const say = async (text: string) => (await stage.ask(name, 'dm', text)).text;
  const id = idIn(await say('/memory remember text: I like tea'));
  expect(await say(`/memory item pin id:${id}`)).toBe(`Pinned: "I like tea" · id ${id} · dm`);
  expect(await say(`/memory edit text: I like oolong: the best id: ${id}`)).toContain(
    'Edited: "I like oolong: the best"',
  );
});

it.each(['<ID>', '(id: #ID)'])('an id is known in %s', async (form) => {
  const { name } = await stage.newcomer();
  const give = (words: string) => command(stage, '!memory', name, 'dm', words);
  const written = form.replace('ID', idIn(await give('remember I like tea')));
  expect(await give(`pin ${written}`)).toMatch(/^Pinned/u);
  expect(await give(`edit ${written} I like oolong`)).toMatch(/^Edited/u);
  expect(await give(`forget ${written}`)).toContain('Deprecated 1 item');
});

it('what people stored is shown as it is stored, wherever it is shown [D8]', async () => {
  const text = 'I call __init__ by `make`, see https://a.example/x_y_z and [this](https://b.example)';
  const shown = String.raw`I call \_\_init\_\_ by \`make\`, see https://a.example/x_y_z and \[this](https://b.example)`;
  const { name } = await stage.newcomer();
  const give = (words: string) => command(stage, '!memory', name, 'dm', words);
  const id = idIn(await give(`remember ${text}`));
  for (const words of ['show', `why ${id}`, `history ${id}`, 'search init', 'forget init'])
    expect(await give(words)).toContain(shown);
  await give('undo');
  expect(await command(stage, '/memory', name, 'dm', 'panel')).toContain(String.raw`\_\_init\_\_`);
});

describe('the two ways to every memory command [K0]', () => {
  it('are the same commands, by name', async () => {
    const { name } = await stage.newcomer();
    const help = await command(stage, '!memory', name, 'dm', 'help');
    const named = new Set([...help.matchAll(/^`(\w+)/gmu)].map(([, subcommand = '']) => subcommand));
    const memory = (await stage.sandbox.commands()).find((each) => each.name === 'memory');
    const bySlash = new Set(memory === undefined ? [] : subcommandsOf(memory).map((each) => each.name));
    // A page that only its person may see exists as `/memory` alone.
    bySlash.delete('help');
    expect(bySlash).toEqual(named);
  });

  it('give the same data', async () => {
    const { name } = await stage.newcomer();
    await command(stage, '/memory', name, 'dm', 'remember I keep bees');
    for (const words of ['show', 'search bees', 'notebook ..', 'mode', 'privacy', 'share ffffffff'])
      expect(await command(stage, '/memory', name, 'dm', words)).toBe(
        await command(stage, '!memory', name, 'dm', words),
      );
  });

  it('treat somebody else’s id like an unknown one', async () => {
    const { name } = await stage.newcomer();
    const { name: other } = await stage.newcomer();
    const id = idIn(await command(stage, '/memory', other, 'dm', 'remember I own a drum'));
    for (const subcommand of ['share', 'hide', 'pin', 'why', 'history', 'forget', 'undo']) {
      const [theirs, unknown] = [
        await command(stage, '/memory', name, 'dm', `${subcommand} ${id}`),
        await command(stage, '/memory', name, 'dm', `${subcommand} ffffffff`),
      ];
      expect(theirs.replaceAll(id, 'ffffffff')).toBe(unknown);
    }
  });
});

it('the menu of a message remembers what one said, and what one was answered', async () => {
  const { name, id } = await stage.newcomer();
  const menu = async (message: string): Promise<string> => {
    const { answer, isEphemeral } = await stage.sandbox.menu({ as: name, message, name: 'Remember this' });
    expect(isEphemeral).toBe(true);
    return answer?.text ?? '';
  };
  const said = await stage.sandbox.say({ as: name, in: '#general', text: 'I keep bees' });
  const reply = await stage.answerTo(said);
  expect(await menu(said.id)).toContain('Remembered: "I keep bees"');
  // The reply is seen a moment before it is logged.
  await eventually(async () => expect(await menu(reply.id)).toContain('Remembered: "Understood'));
  const durable = await stage.readFile(`data/users/${id}/durable.json`);
  for (const source of [said, reply]) expect(durable).toContain(source.id);
});

const requests = async () =>
  (await stage.sandbox.requests()).filter(({ path }) => /^\/(?:interactions|webhooks)\//u.test(path)).length;

describe('an interaction that Discord refuses to hear of [G3d]', () => {
  const slash = { as: 'bob', in: 'dm', name: 'memory', subcommand: 'remember' };
  afterEach(() => stage.sandbox.clearFaults());

  it('is not done, nor asked for again', async () => {
    const { answer } = await stage.sandbox.slash({ ...slash, options: { text: 'I keep drones' } });
    const before = await requests();
    const route = 'POST /interactions/*/*/callback';
    await stage.sandbox.setFault({ kind: 'status', status: 404, code: 10_062, route, times: 1000 });
    const forget = { as: 'alice', in: 'dm', name: 'memory', subcommand: 'forget', option: 'target' };
    await Promise.all(
      [
        stage.sandbox.slash({ ...slash, options: { text: 'I keep bees' } }),
        stage.sandbox.click({ as: 'bob', message: answer?.id ?? '', label: 'Undo' }),
        stage.sandbox.complete(forget),
      ].map((asked) => expect(asked).rejects.toThrow('did not respond')),
    );
    expect((await requests()) - before).toBe(3);
    await stage.sandbox.clearFaults();
    const shown = await command(stage, '!memory', 'bob', 'dm', 'show');
    expect(shown).not.toContain('bees');
    expect(shown).toContain('drones');
  });

  it('when its answer is ready is done, and the answer sent once', async () => {
    const route = 'PATCH /webhooks/*/*/messages/*';
    await stage.sandbox.setFault({ kind: 'status', status: 401, code: 50_027, route, times: 1000 });
    const before = await requests();
    await stage.sandbox.slash({ ...slash, options: { text: 'I keep hives' }, until: 'acknowledged' });
    await eventually(async () => expect((await requests()) - before).toBe(2));
    await stage.sandbox.clearFaults();
    expect(await command(stage, '!memory', 'bob', 'dm', 'show')).toContain('hives');
    expect((await requests()) - before).toBe(2);
  });
});

it('one request at each start registers every command once', async () => {
  const registered = async () => (await stage.sandbox.commands()).map(({ name }) => name).toSorted();
  const writes = () => stage.sandbox.requests({ method: 'PUT', path: '/applications/*/commands' });
  const names = await registered();
  expect(names).toEqual(expect.arrayContaining(['memory', 'Remember this', 'What do you know about this?']));
  const before = (await writes()).length;
  await stage.restart();
  expect(await writes()).toHaveLength(before + 1);
  expect(await registered()).toEqual(names);
});
