import { expect, it } from 'vitest';

import { snowflakeAt } from '../../src/core/snowflake.ts';
import { openStage, type Stage } from './stage.ts';

const dayMs = 24 * 60 * 60_000;

/** What lies in a folder. */
async function namesIn(stage: Stage, folder: string): Promise<readonly string[]> {
  const kept = await stage.kept();
  const names = kept.flatMap(({ path }) => (path.startsWith(`${folder}/`) ? [path.split('/')[1] ?? ''] : []));
  return [...new Set(names)];
}

/** Writes what the bot has of a conversation in #general, with a turn of each age in days, as a data folder that has been there for long has it. */
async function writeTurns(stage: Stage, turns: ReadonlyMap<number, string>): Promise<void> {
  const { channels, people } = stage.info;
  const [channelId = '', userId = ''] = [channels['general'], people['alice']];
  const guildId = stage.info.guilds['Sandbox'];
  const common = { type: 'message', attachments: [], visibility: 'server', homeId: channelId, guildId };
  const lines: object[] = [];
  const items: object[] = [];
  for (const [daysAgo, word] of turns) {
    const at = new Date(Date.now() - daysAgo * dayMs);
    const id = snowflakeAt(at);
    const answerId = (BigInt(id) + 1n).toString();
    const when = { at: at.toISOString() };
    const asked = { role: 'user', id, authorId: userId, author: 'alice', text: `I bought a ${word}` };
    const answered = { role: 'assistant', id: answerId, ids: [answerId], replyTo: [id], author: 'Discoclaw' };
    lines.push({ ...common, ...when, ...asked });
    lines.push({ ...common, ...when, ...answered, text: `A ${word}, how nice.` });
    for (const type of ['summary', 'manual'])
      items.push({
        kind: 'fact',
        text: `${type === 'manual' ? 'Likes' : 'Owns'} ${type === 'manual' ? daysAgo : word}`,
        visibility: 'everywhere',
        source: { type, channelId, messageId: id },
        updatedAt: at.toISOString(),
      });
  }
  const folder = `data/sessions/${channelId}/${userId}`;
  const log = lines.map((record, index) => `${JSON.stringify({ sequence: index + 1, record })}\n`);
  await stage.writeFile(`${folder}/messages.jsonl`, log.join(''));
  const words = [...turns.values()];
  const summary = { text: `Bought: ${words.join(', ')}.`, updatedAt: new Date().toISOString() };
  const reach = { visibility: 'server', homeId: channelId, guildId };
  const rolling = { from: 0, cursor: lines.length, seen: lines.length, revision: 1, rebuild: false };
  const state = { version: 1, rolling: { ...rolling, summary: { ...summary, ...reach } } };
  await stage.writeFile(`${folder}/state.json`, JSON.stringify(state));
  await stage.writeFile(`${folder}/overview.md`, words.map((word) => `- Has a ${word}\n`).join(''));
  await stage.writeFile(`data/users/${userId}/durable.json`, JSON.stringify({ version: 1, items }));
}

it('takes what is older than the days that the operator sets off the disk and out of every prompt, and keeps what is younger [K15]', async () => {
  await using stage = await openStage({ model: () => ({ text: 'Understood.' }) });
  await stage.stopBot();
  await writeTurns(
    stage,
    new Map([
      [31, 'zeppelin'],
      [29, 'kayak'],
    ]),
  );
  expect(await stage.pathsWith('zeppelin')).not.toEqual([]);
  await stage.startBot({ DISCOCLAW_RETENTION_DAYS: '30' });
  await expect.poll(() => stage.pathsWith('zeppelin')).toEqual([]);

  await stage.ask('alice', 'general', 'What did I buy?');
  const prompts = JSON.stringify(stage.model.requests.map(({ body }) => body));
  expect(prompts).not.toContain('zeppelin');
  expect(prompts).toContain('kayak');
  const shown = await stage.ask('alice', 'general', '!memory show');
  expect(shown.text).toContain('Owns kayak');
  expect(shown.text).toContain('Likes 31');
  expect(shown.text).toContain('Messages older than 30 days are deleted automatically');
});

it('stores no word of what is said in a channel that the operator keeps without memory, nor in its threads, and answers there [K15]', async () => {
  await using stage = await openStage({ model: () => ({ text: 'A quagga, noted.' }) });
  await stage.stopBot();
  const general = stage.info.channels['general'] ?? '';
  await stage.startBot({
    DISCOCLAW_NO_MEMORY_CHANNELS: general,
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  });
  const { id: thread } = await stage.sandbox.addThread({ channel: general, name: 'side', as: 'alice' });
  for (const place of ['general', thread])
    for (const words of ['I saw an okapi', 'and then an aardvark'])
      expect((await stage.ask('alice', place, words)).text).toContain('A quagga');
  expect((await stage.ask('alice', 'general', '!memory remember I like okapis')).text).toContain(
    'Memory is switched off in this channel',
  );
  expect((await stage.ask('alice', thread, '!memory show')).text).toContain('switched off in this channel');
  await stage.stopBot();
  expect(await stage.pathsWith('okapi', 'aardvark', 'quagga')).toEqual([]);
});

/** Has what is gone been gone for so many days. */
async function goneFor(stage: Stage, days: number): Promise<void> {
  const document = await stage.readFile('data/gone-places.json');
  const at = new Date(Date.now() - days * dayMs).toISOString();
  await stage.writeFile('data/gone-places.json', document.replaceAll(/"at": ?"[^"]*"/gu, `"at": "${at}"`));
}

it('erases what belongs to a server 30 days after the bot was removed from it, and nothing that was said elsewhere [K15]', async () => {
  await using stage = await openStage({
    model: () => ({ text: 'Understood.' }),
    environment: { DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true' },
  });
  await stage.ask('alice', 'general', 'I saw a quokka');
  await stage.ask('alice', 'general', '!memory remember I keep ferrets');
  await stage.ask('alice', 'general', '!settings actions off');
  await stage.ask('alice', 'dm', 'I saw an okapi');
  await stage.sandbox.setBotMembership({ isMember: false });
  // The look of this start may be over by now, and the next one is an hour away.
  await stage.stopBot();
  await stage.startBot();
  await expect.poll(() => stage.readFile('data/gone-places.json').catch(() => '')).toContain('"at"');
  for (const days of [29, 31]) {
    await stage.stopBot();
    expect(await stage.pathsWith('quokka')).not.toEqual([]);
    await goneFor(stage, days);
    await stage.startBot();
  }
  await expect.poll(() => namesIn(stage, 'guilds')).toEqual([]);
  await expect.poll(() => namesIn(stage, 'channels')).not.toContain(stage.info.channels['general']);
  await expect
    .poll(async () => (await stage.pathsWith('quokka')).filter((path) => !path.endsWith('messages.jsonl')))
    .toEqual([]);
  expect(await stage.pathsWith('okapi')).not.toEqual([]);
});

/** What the person's search of all their memory gives, in the DM. */
const found = async (stage: Stage, words: string): Promise<string> =>
  (await stage.ask('alice', '@alice', `!memory search ${words}`)).text;

it('uses nothing of a deleted channel and its threads at once, erases it 7 days later, and keeps items without their link [K15] [G5]', async () => {
  await using stage = await openStage({
    model: () => ({ text: 'Understood.' }),
    environment: { DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true' },
  });
  await stage.ask('alice', '#dev', 'I saw a quokka');
  const { text } = await stage.ask('alice', '#dev', '!memory remember I keep ferrets');
  const id = /\b[0-9a-f]{8}\b/u.exec(text)?.[0] ?? '';
  const thread = await stage.sandbox.addThread({ channel: '#dev', as: 'alice', name: 'animals' });
  await stage.ask('alice', thread.id, `<@${stage.info.bot.id}> I saw a numbat`);
  await stage.ask('alice', '#general', 'I saw an okapi');
  expect(await found(stage, 'quokka')).toContain('I saw a quokka');
  expect(await found(stage, 'numbat')).toContain('I saw a numbat');
  expect((await stage.ask('alice', '@alice', `!memory why ${id}`)).text).toContain('discord.com/channels');
  await stage.sandbox.deleteChannel({ channel: '#dev' });
  await expect.poll(() => found(stage, 'quokka')).not.toContain('I saw a quokka');
  await expect.poll(() => found(stage, 'numbat')).not.toContain('I saw a numbat');
  expect(await found(stage, 'okapi')).toContain('I saw an okapi');
  const why = (await stage.ask('alice', '@alice', `!memory why ${id}`)).text;
  expect(why).toContain('I keep ferrets');
  expect(why).not.toContain('discord.com/channels');
  await stage.stopBot();
  expect(await stage.pathsWith('quokka')).not.toEqual([]);
  await goneFor(stage, 6);
  await stage.startBot();
  await stage.ask('alice', '#general', 'Hello');
  await stage.stopBot();
  expect(await stage.pathsWith('quokka')).not.toEqual([]);
  await goneFor(stage, 8);
  await stage.startBot();
  await expect.poll(() => stage.pathsWith('quokka', 'numbat'), { timeout: 60_000 }).toEqual([]);
  expect(await found(stage, 'okapi')).toContain('I saw an okapi');
  expect(await found(stage, 'ferrets')).toContain('I keep ferrets');
});
