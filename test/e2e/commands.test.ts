import { createHash } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  asksForSummary,
  callsForAnswers,
  command,
  idIn,
  newestCall,
  promptFor,
  toldIn,
  ways,
} from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';

const summary = 'They talked about the parser.';
/** Ids of people who come as the tests need them, and have access. */
const guestIds = Array.from({ length: 40 }, (_, index) => String(160_000_000_000_000_001n + BigInt(index)));

let stage: Stage;
let guests = 0;

/** Somebody new, of whom nothing is remembered. */
async function newcomer(): Promise<string> {
  const id = guestIds[guests] ?? '';
  guests += 1;
  return (await stage.sandbox.addPerson({ name: `guest${guests}`, id })).name;
}

beforeAll(async () => {
  stage = await openStage({
    environment: {
      DISCOCLAW_ACCESS: 'allowlist',
      DISCORD_ALLOW_USER_IDS: guestIds.join(','),
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    },
    model: (body) => ({ text: asksForSummary(body) ? summary : 'Understood.' }),
  });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe.each(ways)('%s', (way) => {
  it('remembers with an id and, by the place, a visibility [V1][K2]', async () => {
    const name = await newcomer();
    await stage.sandbox.addChannel({ name: `hideout-${name}`, private: true, members: [name] });
    const remember = (place: string, text: string) => command(stage, way, name, place, `remember ${text}`);

    const id = createHash('sha256').update('i prefer rust').digest('hex').slice(0, 8);
    expect(await remember('#dev', 'I prefer  Rust')).toBe(
      `Remembered: "I prefer Rust" · id ${id} · everywhere\n-# I may use it in every server that we share; \`!memory hide ${id}\` keeps it to our DM.`,
    );
    expect(await remember(`#hideout-${name}`, 'I hide here')).toMatch(
      /^Remembered: "I hide here" · id [0-9a-f]{8} · here$/u,
    );
    expect(await remember('dm', 'I am shy')).toMatch(/^Remembered: "I am shy" · id [0-9a-f]{8} · dm$/u);
  });

  it('refuses to remember what is too long, and says so', async () => {
    const name = await newcomer();
    const most = 'x'.repeat(500);
    expect(await command(stage, way, name, 'dm', `remember ${most}y`)).toContain(
      '501 characters, 500 at most',
    );
    expect(await command(stage, way, name, 'dm', 'show')).toContain('Durable memory (0 items):');
    expect(await command(stage, way, name, 'dm', `remember ${most}`)).toContain(`Remembered: "${most}"`);
  });

  it('forgets plain words, whatever the case, and lists what it forgot [K2]', async () => {
    const name = await newcomer();
    const give = (words: string) => command(stage, way, name, '#dev', words);
    for (const text of [
      'I work at ACME Corp',
      'Acme pays me',
      'I like tea',
      'my pattern is a.*b( today',
      'axxb',
    ])
      await give(`remember ${text}`);

    expect(await give('forget coffee')).toBe('No item that I may use here matches "coffee"');
    expect(await give('forget a.*b(')).toMatch(
      /^Deprecated 1 item matching "a\.\*b\("\n- \[fact\] my pattern is a\.\*b\( today \([^\n]*$/u,
    );
    expect(await give('forget acme')).toContain('2 items have "acme". Nothing is forgotten yet');
    expect(await give('forget all acme')).toMatch(
      /^Deprecated 2 items matching "acme"\n- \[fact\] [^\n]*\n- \[fact\] [^\n]*$/u,
    );
    const left = await give('show');
    expect(left).toContain('Durable memory (2 items):');
    expect(left).toContain('axxb');
    expect(left).toContain('I like tea');
    expect(left).not.toMatch(/acme/iu);
  });

  it('forgets by id', async () => {
    const name = await newcomer();
    const id = idIn(await command(stage, way, name, 'dm', 'remember I like tea'));
    await command(stage, way, name, 'dm', 'remember I like coffee');
    expect(await command(stage, way, name, 'dm', `forget ${id}`)).toContain('[fact] I like tea');
    expect(await command(stage, way, name, 'dm', 'show')).toContain('Durable memory (1 item):');
  });

  it('touches only what may be used in a guild when it forgets there, and says how many more match [K2]', async () => {
    const name = await newcomer();
    await command(stage, way, name, 'dm', 'remember Acme owes me money');
    await command(stage, way, name, '#dev', 'remember I work at Acme');

    expect(await command(stage, way, name, '#general', 'forget Acme')).toMatch(
      /^Deprecated 1 item matching "Acme"\n- \[fact\] I work at Acme [^\n]*\n1 more in our DM: [^\n]*$/u,
    );
    expect(await command(stage, way, name, 'dm', 'show')).toContain('Acme owes me money');
    expect(await command(stage, way, name, 'dm', 'forget Acme')).toContain(
      'Deprecated 1 item matching "Acme"',
    );
  });

  it('shares and hides an item by its id', async () => {
    const name = await newcomer();
    const id = idIn(await command(stage, way, name, 'dm', 'remember I like tea'));
    expect(await command(stage, way, name, 'dm', `share ${id}`)).toMatch(
      new RegExp(`^Shared: "I like tea" · id ${id} · everywhere\\n-# I may use it in every server`, 'u'),
    );
    expect(await command(stage, '!memory', name, '#general', 'show')).toContain('I like tea');
    expect(await command(stage, way, name, 'dm', `hide ${id}`)).toBe(`Hidden: "I like tea" · id ${id} · dm`);
    expect(await command(stage, '!memory', name, '#general', 'show')).not.toContain('I like tea');
    expect(await command(stage, way, name, 'dm', 'share 12345678')).toContain(
      'no item with the id "12345678"',
    );
  });

  it.runIf(way === '!memory')('explains the commands', async () => {
    const name = await newcomer();
    const help = await command(stage, way, name, '#general', 'help');
    for (const each of ['show', 'remember <text>', 'forget <', 'reset rolling', 'share <id>', 'hide <id>'])
      expect(help).toContain(`!memory ${each}`);
  });

  it('clears the rolling summary of the conversation [R4]', async () => {
    const name = await newcomer();
    await stage.ask(name, 'dm', 'Let us talk about the parser.');
    await expect.poll(() => command(stage, way, name, 'dm', 'show')).toContain(summary);
    expect(await command(stage, way, name, 'dm', 'reset rolling')).toBe(
      'Rolling summary of this conversation cleared.',
    );
    expect(await command(stage, way, name, 'dm', 'show')).not.toContain(summary);
  });
});

it('shows items with kind, source, date, id and visibility, then the summary, then what is used of each budget', async () => {
  const name = await newcomer();
  const first = idIn(await command(stage, '!memory', name, '#dev', 'remember I prefer Rust'));
  const second = idIn(await command(stage, '!memory', name, 'dm', 'remember I am shy'));
  const { channelId } = await stage.ask(name, 'dm', 'Let us talk about the parser.');
  const told = toldIn(newestCall(stage));
  await expect.poll(() => command(stage, '!memory', name, 'dm', 'show')).toContain(summary);

  const used = /<durable_items>[\s\S]*<\/durable_items>\n/u.exec(told)?.[0].length;
  const shown = [
    'Durable memory (2 items):',
    `- [fact] I am shy (src: manual, updated <day>) · id ${second} · dm`,
    `- [fact] I prefer Rust (src: manual, #dev, updated <day>) · id ${first} · everywhere`,
    '',
    'Rolling summary:',
    summary,
    '',
    `Characters used in a prompt here: durable items ${used} of 2000 · rolling summary ${summary.length} of 2000`,
  ].join('\n');
  for (const [form, place] of [
    ['!memory', channelId],
    ['/memory', 'dm'],
  ] as const) {
    const answer = await command(stage, form, name, place, 'show');
    expect(answer.replaceAll(/<t:\d{10}:d>/gu, '<day>')).toBe(shown);
  }
});

it('keeps what a guild may not see to the DM and to ephemeral answers [K3]', async () => {
  const name = await newcomer();
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

it('answers half a command, or something like one, with help [K1]', async () => {
  const name = await newcomer();
  const asked = callsForAnswers(stage).length;
  const say = async (text: string) => (await stage.ask(name, '#general', text)).text;
  expect(await say('!memory remmber tea')).toMatch(
    /^I don't know the command "remmber"\. Did you mean `!memory remember`\?\n\n`\/memory panel` has it all/u,
  );
  expect(await say('!memory remember')).toContain('There is nothing to remember');
  expect(await say('!memory forget')).toContain('Say what to forget.');
  expect(await say('!memory reset everything')).toContain('Only `rolling` can be reset.');
  expect(await say('!MEMORY Show')).toContain('Durable memory (0 items):');
  expect(await say('!memory')).toContain('`!memory show` shows what I remember');
  expect(callsForAnswers(stage)).toHaveLength(asked);
});

it('asks what is meant where the command is misspelt, and no model ever hears of it [K1][F2]', async () => {
  const name = await newcomer();
  const asked = callsForAnswers(stage).length;
  const answer = await stage.ask(name, 'dm', '!memroy show');
  expect(answer.text).toBe('There is no command "!memroy". Did you mean `!memory show`?');
  expect(callsForAnswers(stage)).toHaveLength(asked);
  expect(await promptFor(stage, name, 'dm')).not.toContain('memroy');
});

it('takes !memoryfoo for a message like any other [K1]', async () => {
  const name = await newcomer();
  expect((await stage.ask(name, '#general', '!memoryfoo show')).text).toBe('Understood.');
  expect(toldIn(newestCall(stage))).toContain('!memoryfoo show');
});

it('answers commands in a channel where it must be addressed, with a mention before them or without', async () => {
  const name = await newcomer();
  const { id } = await stage.sandbox.addChannel({ name: 'quiet' });
  const asked = callsForAnswers(stage).length;
  const unaddressed = await stage.sandbox.say({ as: name, in: id, text: 'nobody in particular' });
  expect((await stage.ask(name, id, '!memory show')).text).toContain('Durable memory (0 items):');

  const said = await stage.sandbox.say({ as: name, in: id, text: '!memory remember tea', mentionBot: true });
  const reply = await stage.sandbox.waitForReply({ in: id, after: said.id });
  expect(reply.text).toContain('Remembered: "tea"');
  expect(reply.replyTo).toBe(said.id);

  expect(callsForAnswers(stage)).toHaveLength(asked);
  const replies = await stage.sandbox.messages({ in: id, after: unaddressed.id, from: 'bot' });
  expect(replies).toHaveLength(2);
});

it('does not answer a person without access, and tells them nothing by slash either [G1]', async () => {
  const name = await newcomer();
  const asked = callsForAnswers(stage).length;
  const ignored = [
    await stage.sandbox.say({ as: 'bob', in: '#general', text: '!memory search bees' }),
    await stage.sandbox.say({ as: 'bob', in: '#general', text: 'hello' }),
  ].map(({ id }) => id);
  await stage.ask(name, '#general', '!memory show');
  const answered = (await stage.sandbox.messages({ in: '#general', from: 'bot' })).map(
    ({ replyTo }) => replyTo,
  );
  for (const id of ignored) expect(answered).not.toContain(id);
  expect(callsForAnswers(stage)).toHaveLength(asked);

  const told = await command(stage, '/memory', 'bob', '#general', 'remember I am Bob');
  expect(told).toBe('I only answer people whom my owner has given access.');
  await expect(stage.readFile(`data/users/${stage.info.people['bob']}/durable.json`)).rejects.toThrow(
    'ENOENT',
  );
});

it('sends a long show in parts, all of it, and pings nobody [K3][G3]', async () => {
  const name = await newcomer();
  const bobId = stage.info.people['bob'];
  const texts = Array.from(
    { length: 10 },
    (_, index) => `Number ${index}: @everyone and <@${bobId}> know ${'many things '.repeat(20)}end ${index}.`,
  );
  for (const text of texts) await command(stage, '/memory', name, '#dev', `remember ${text}`);

  const said = await stage.sandbox.say({ as: name, in: '#dev', text: '!memory show' });
  await stage.sandbox.waitForReply({ in: '#dev', after: said.id, containing: 'Characters used' });
  const parts = await stage.sandbox.messages({ in: '#dev', after: said.id, from: 'bot' });
  const { answer, followUps } = await stage.sandbox.slash({
    as: name,
    in: '#dev',
    name: 'memory',
    subcommand: 'show',
    followUps: parts.length - 1,
  });
  const pages = answer === undefined ? [] : [answer, ...followUps];

  for (const messages of [parts, pages]) {
    expect(messages.length).toBeGreaterThan(1);
    const whole = messages.map(({ text }) => text).join('\n');
    expect(whole.startsWith('Durable memory (10 items):')).toBe(true);
    for (const text of texts) expect(whole).toContain(text);
    for (const message of messages) {
      expect(message.text.length).toBeLessThanOrEqual(2000);
      expect(message.mentions).toEqual([]);
    }
  }
  for (const message of pages) expect(message.isEphemeral).toBe(true);

  const sent = (await stage.sandbox.requests()).flatMap(({ body }) => (hasContent(body) ? [body] : []));
  expect(sent.length).toBeGreaterThan(texts.length);
  for (const body of sent)
    expect(body).toMatchObject({ allowed_mentions: { parse: [], replied_user: false } });
});

function hasContent(body: unknown): body is { readonly content: string } {
  return typeof body === 'object' && body !== null && 'content' in body;
}
