import { createHash } from 'node:crypto';

import { afterAll, describe, expect, it } from 'vitest';

import { asksForSummary, callsForAnswers, command, idIn, newestCall, toldIn, ways } from './memory-talk.ts';
import { openStage } from './stage.ts';

const summary = 'They talked about the parser.';
/** Ids of people who come as the tests need them, and have access. */
const guestIds = Array.from({ length: 40 }, (_, index) => String(160_000_000_000_000_001n + BigInt(index)));

let guests = 0;

/** Somebody new, of whom nothing is remembered. */
async function newcomer(): Promise<string> {
  const id = guestIds[guests] ?? '';
  guests += 1;
  return (await stage.sandbox.addPerson({ name: `guest${guests}`, id })).name;
}

const stage = await openStage({
  environment: {
    DISCOCLAW_ACCESS: 'allowlist',
    DISCORD_ALLOW_USER_IDS: guestIds.join(','),
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
  },
  model: (body) => ({ text: asksForSummary(body) ? summary : 'Understood.' }),
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

describe('a command however its sign, its spaces or its surroundings came out [K1] [F2]', () => {
  it.each([
    '/memory show',
    '！memory show',
    '！ｍｅｍｏｒｙ　ｓｈｏｗ',
    '! memory show',
    '!memory: show',
    '!Memory Show.',
    '\u200b!memory show',
    '\u2800!memory show\u200b',
    '`!memory show`',
    '```\n!memory show\n```',
    '**!memory show**',
  ])('is carried out, and neither logged nor told to a model: %j', async (text) => {
    const name = await newcomer();
    await command(stage, '!memory', name, 'dm', 'remember I like tea');
    const asked = callsForAnswers(stage).length;
    for (const written of [text, `\u200b<@${stage.info.bot.id}>\u200b ${text}`]) {
      const { text: answer } = await stage.ask(name, 'dm', written);
      expect(answer).toMatch(/^Durable memory \(1 item\):/u);
    }
    expect(callsForAnswers(stage)).toHaveLength(asked);
    expect((await stage.kept()).filter(({ text: kept }) => kept.includes(text))).toEqual([]);
    await stage.ask(name, 'dm', 'hello');
    expect(toldIn(newestCall(stage))).not.toMatch(/show|ｓｈｏｗ|Durable memory/iu);
  });

  it.each([
    (id: string) => `<${id}>`,
    (id: string) => `[${id}]`,
    (id: string) => `\`${id}\``,
    (id: string) => `#${id}.`,
    (id: string) => `id ${id}`,
    (id: string) => `(id: #${id})`,
  ])('knows an id in %s', async (written) => {
    const name = await newcomer();
    const give = (words: string) => command(stage, '!memory', name, 'dm', words);
    const id = idIn(await give('remember I like tea'));
    const as = written(id);
    expect(await give(`pin ${as}`)).toMatch(/^Pinned/u);
    expect(await give(`why ${as}`)).toContain('How: you told me');
    expect(await give(`review still ${as.replace(/^(?<bracket>\(?)id:? /u, '$<bracket>')}`)).toContain(
      'Still true',
    );
    expect(await give(`edit ${as} I like oolong`)).toMatch(/^Edited/u);
    expect(await give(`forget ${as}`)).toContain('Deprecated 1 item');
  });

  it('leaves to the conversation what only speaks of a command', async () => {
    const name = await newcomer();
    for (const text of ['`!memory show` does nothing', '> !memory show', 'please !memory show', '!memoryfoo'])
      expect((await stage.ask(name, 'dm', text)).text).toBe('Understood.');
  });
});

describe('what people stored, with signs that Discord would take away [D8]', () => {
  const text =
    'I call __init__ in **snake_case** by `make`, see https://a.example/x_y_z and [this](https://b.example)';
  const shown = String.raw`I call \_\_init\_\_ in \*\*snake\_case\*\* by \`make\`, see https://a.example/x_y_z and \[this](https://b.example)`;

  it('is shown as it is stored, wherever it is shown', async () => {
    const name = await newcomer();
    const give = (words: string) => command(stage, '!memory', name, 'dm', words);
    const id = idIn(await give(`remember ${text}`));
    for (const words of ['show', `why ${id}`, `pin ${id}`, `history ${id}`, 'search snake', 'forget snake'])
      expect(await give(words)).toContain(shown);
    await give('undo');
    expect(await command(stage, '/memory', name, 'dm', 'panel')).toContain(String.raw`\_\_init\_\_`);
  });
});
