import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { limits } from '../../src/core/limits.ts';
import { freePort } from '../support/free-port.ts';
import { footerIn } from './footers.ts';
import { laterBy } from './later.ts';
import { idIn } from './memory-talk.ts';
import { answeringBy, callsOf, newestOf, type Answers } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

/** As Discord is to show it. */
const at = (moment: string): string => `<t:${Date.parse(moment) / 1000}:F>`;

const dayMs = 24 * 60 * 60_000;

describe('a reminder over restarts', () => {
  let stage: Stage;
  /** Of Discord's clock and the bot's; milliseconds. */
  let ahead = 0;
  beforeAll(async () => {
    stage = await openStage({ isBuilt: true, now: () => new Date(Date.now() + ahead) });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  async function restartAt(ms: number): Promise<void> {
    await stage.stopBot();
    ahead = ms;
    await stage.startBot(laterBy(ms));
  }

  const fromBot = async (place: string) =>
    (await stage.sandbox.messages({ in: place, from: 'bot' })).map(({ text }) => text);
  const cameTimes = async () =>
    (await fromBot('#general')).filter((text) => /^⏰ <@\d+> call mum/u.test(text)).length;

  it('comes after a start where it fell due meanwhile, to its person, once, and can be put off [RM3][RM4][RM5]', async () => {
    const set = await stage.ask('alice', '#general', '!remind in 23 hours: call mum');
    expect(set.text).toMatch(/^⏰ I will remind you <t:\d+:F> \(<t:\d+:R>\): "call mum"/u);
    await stage.ask('carol', '@carol', '!remind in 23 hours: water the plants');
    await stage.sandbox.closeDms({ person: 'carol', closed: true });
    await restartAt(dayMs);
    await expect
      .poll(() => fromBot('#general'))
      .toContainEqual(expect.stringContaining('call mum\n-# It was due'));
    const [came] = (await stage.sandbox.messages({ in: '#general', from: 'bot' })).slice(-1);
    expect(came?.text).toMatch(/^⏰ <@\d+> call mum/u);
    expect((await stage.press('alice', came?.id ?? '', 'Tomorrow')).text).toContain('It comes <t:');
    await restartAt(dayMs);
    expect((await stage.ask('alice', '@alice', '!reminders')).text).toContain('1. <t:');
    expect(await cameTimes()).toBe(1);
    await restartAt(2 * dayMs);
    await expect.poll(cameTimes).toBe(2);
  });

  it('that reached nobody is kept as missed, and the next answer says so once', async () => {
    const listOf = async () =>
      (await stage.sandbox.slash({ as: 'carol', in: '#general', name: 'reminders' })).answer?.text;
    await expect.poll(listOf).toContain('1. missed: <t:');
    expect(footerIn(await stage.ask('carol', '#general', 'Good evening.'))).toContain(
      '📌 I could not deliver 1 reminder: `/reminders` shows what was missed',
    );
    expect(footerIn(await stage.ask('carol', '#general', 'And good night.'))).not.toContain('📌');
    expect(await listOf()).toContain('water the plants');
  });
});

describe('reminders on each way', () => {
  const answers: Answers = {};
  let stage: Stage;
  let url: string;
  beforeAll(async () => {
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    stage = await openStage({
      model: answeringBy(answers),
      environment: { DISCOCLAW_PAGE_PORT: port, DISCOCLAW_PAGE_URL: url },
    });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  /** All that `/reminders` shows a person. */
  async function listed(as: string, more = 0): Promise<string> {
    const { answer, followUps } = await stage.sandbox.slash({
      as,
      in: '#general',
      name: 'reminders',
      followUps: more,
    });
    return [answer, ...followUps].map((each) => each?.text ?? '').join('\n');
  }

  it('is refused with an example where nobody can tell when that is [RM1]', async () => {
    expect((await stage.ask('alice', '#general', '!remind sometime: call mum')).text).toContain(
      '`tomorrow at 9:00`',
    );
    expect((await stage.ask('alice', '@alice', '!reminders')).text).toContain('No reminders');
  });

  it('is set about a message from its menu, with a link and own words, and nothing of the message [RM1]', async () => {
    const { name } = await stage.newcomer();
    const said = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'The keys are under the mat' });
    const window = async (words: string): Promise<MessageView | undefined> => {
      const given = { as: name, message: said.id, name: 'Remind me about this' };
      const { id, modal } = await stage.sandbox.menu(given);
      const [field = ''] = modal?.fields.map(({ label }) => label) ?? [];
      const sent = await stage.sandbox.submit({ as: name, interaction: id, values: { [field]: words } });
      return sent.answer;
    };
    expect((await window('in a bit'))?.text).toContain('Nothing is set.');
    expect((await window('tomorrow at 9:00: ask Bob'))?.text).toContain(
      `"ask Bob https://discord.com/channels/`,
    );
    expect((await window('tomorrow at 10:00'))?.text).toContain(`/${said.id}"`);
    expect(await listed(name)).not.toContain('under the mat');
    expect((await listed(name)).match(new RegExp(said.id, 'gu'))).toHaveLength(2);
  });

  it('is set for an item with a day by a button, for nine o’clock of it or the evening before [RM8]', async () => {
    const { name } = await stage.newcomer();
    const year = new Date().getUTCFullYear() + 1;
    const stored = await stage.ask(name, '@' + name, `!memory remember My exam is on ${year}-03-15`);
    const set = await stage.press(name, stored.id, `⏰ Remind me (${year}-03-15)`);
    expect(set.text).toContain(at(`${year}-03-15T09:00Z`));
    expect(set.text).toContain(`"My exam is on ${year}-03-15"`);
    await stage.press(name, set.id, 'The evening before');
    expect(await listed(name)).toContain(`1. ${at(`${year}-03-14T18:00Z`)}`);
    const other = await stage.ask(name, '@' + name, '!memory remember I like tea');
    expect(JSON.stringify(other.components)).not.toContain('Remind me');
  });

  it('is listed, changed and removed on the page [Y3]', async () => {
    const { name } = await stage.newcomer();
    await stage.ask(name, '@' + name, '!remind tomorrow at 9:00: call <b>mum</b>');
    const { answer } = await stage.sandbox.slash({
      as: name,
      in: '#general',
      name: 'memory',
      subcommand: 'page',
    });
    const link = answer?.components.rows[0]?.buttons[0]?.url ?? '';
    const opened = await fetch(link, { method: 'POST', headers: { origin: url }, redirect: 'manual' });
    const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
    const page = async () => (await fetch(`${url}/reminders`, { headers: { cookie } })).text();
    const give = async (line: string, text?: string) => {
      const [, csrf = ''] = /name="_csrf" value="([^"]+)"/u.exec(await page()) ?? [];
      const body = new URLSearchParams({ _csrf: csrf, line, ...(text !== undefined && { text }) });
      return (await fetch(`${url}/do`, { method: 'POST', headers: { cookie, origin: url }, body })).text();
    };
    expect(await page()).toContain('call &lt;b&gt;mum&lt;/b&gt;');
    const id = /reminders move ([0-9a-f]{8})/u.exec(await page())?.[1] ?? '';
    expect(await give(`reminders move ${id}`)).toContain('name="text"');
    expect(await give(`reminders move ${id}`, 'in 3 days')).toContain('It comes');
    expect(await give(`reminders remove ${id}`)).toContain('Off your list');
    expect(await page()).toContain('No reminders are waiting');
  });

  it('goes with an export, and what is still to come with its import elsewhere, after a yes [K10]', async () => {
    const [from, to] = [await stage.newcomer(), await stage.newcomer()];
    await stage.ask(from.name, '#general', '!remind in 5 days: call mum');
    await stage.ask(from.name, '#general', '!remind daily at 7:30: stand up');
    await stage.ask(from.name, '#general', '!memory export');
    const sent = await vi.waitUntil(async () =>
      (await stage.sandbox.messages({ in: `@${from.name}`, from: 'bot' })).find(
        (each) => each.attachments.length > 0,
      ),
    );
    const file = sent.attachments[0]?.name ?? '';
    const { base64 } = await stage.sandbox.file({ as: from.name, message: sent.id, name: file });
    const { answer: shown } = await stage.sandbox.slash({
      as: to.name,
      in: '#general',
      name: 'memory',
      subcommand: 'import',
      options: { file },
      attachments: [{ name: file, base64 }],
    });
    expect(shown?.text).toMatch(/2 reminders still to come, by direct message:\n- <t:[^\n]*"\n- <t:/u);
    expect(await listed(to.name)).toContain('No reminders');
    expect((await stage.press(to.name, shown?.id ?? '', '✅ Store')).text).toContain('Set 2 of 2 reminders');
    const lines = (await listed(to.name)).split('\n').map((line) => line.replace(/ · id.*/u, ''));
    expect(lines).toEqual((await listed(from.name)).split('\n').map((line) => line.replace(/ · id.*/u, '')));
  });

  it('is named by forget where it holds the words, with a button, and gone with purge [K4][RM7]', async () => {
    const { name } = await stage.newcomer();
    await stage.ask(name, '#general', '!remind tomorrow at 9:00: feed the axolotl');
    const answer = await stage.ask(name, '#general', '!memory forget axolotl');
    expect(answer.text).toContain('I am still to remind you of it:\n<t:');
    await stage.press(name, answer.id, 'Do not remind me: feed the axolotl');
    expect(await listed(name)).toContain('No reminders');
    await stage.ask(name, '#general', '!remind tomorrow at 9:00: feed the axolotl');
    const asked = await stage.ask(name, '#general', '!memory purge axolotl');
    await stage.press(name, asked.id, 'Erase it');
    expect(await listed(name)).toContain('No reminders');
  });

  it('goes with the command that set it, once that is deleted or says it no more [RM7]', async () => {
    const { name } = await stage.newcomer();
    const say = (what: string) =>
      stage.sandbox.say({ as: name, in: '#general', text: `!remind tomorrow: ${what}` });
    const [deleted, edited, kept] = [
      await say('call mum'),
      await say('water plants'),
      await say('feed cats'),
    ];
    await expect.poll(() => listed(name)).toContain('3 reminders');
    await stage.sandbox.edit({ message: kept.id, text: '!remind tomorrow: feed cats, twice' });
    await stage.sandbox.edit({ message: edited.id, text: '!remind tomorrow: nothing' });
    await stage.sandbox.delete({ message: deleted.id });
    await expect.poll(() => listed(name)).toMatch(/^1 reminder:.*"feed cats"/su);
  });

  it('goes by its person’s time zone or says that it goes by the bot’s; what comes again moves with it [RM2][RM6]', async () => {
    const { name } = await stage.newcomer();
    const set = await stage.ask(name, '#general', '!remind daily at 9:00: stand up');
    expect(set.text).toContain('-# By the clock in UTC, which is mine;');
    const before = Number(/<t:(\d+):F>/u.exec(set.text)?.[1]);
    await stage.ask(name, '#general', '!memory timezone Asia/Tehran');
    const after = Number(/<t:(\d+):F>/u.exec(await listed(name))?.[1]);
    // Half past five in UTC.
    expect((after - before) / 3600 + 24).toSatisfy((hours: number) => (hours + 3.5) % 24 === 0);
    const once = await stage.ask(name, '#general', '!remind tomorrow at 9:00: call mum');
    expect(once.text).toContain('-# By the clock in Asia/Tehran;');
    expect(Number(/<t:(\d+):F>/u.exec(once.text)?.[1]) % 86_400).toBe(5.5 * 3600);
  });

  it('is set by plain words through the tool, also in mode off, and not in a pause [RM1][RM7]', async () => {
    const { name } = await stage.newcomer();
    let result = '';
    answers.chat = ({ messages = [] }) => {
      const last = messages.at(-1)?.content ?? [];
      if (!last.some(({ type }) => type === 'tool_result')) {
        const input = { when: 'tomorrow at 9:00', what: 'call mum' };
        return { toolUse: [{ name: 'set_reminder', input }] };
      }
      result = JSON.stringify(last);
      return { text: 'Yes.' };
    };
    const wish = 'Please remind me tomorrow at 9:00 to call mum.';
    await stage.ask(name, '@' + name, '!memory mode off');
    const answer = await stage.ask(name, '@' + name, wish);
    expect(result).toContain('Set for');
    expect(footerIn(answer)).toMatch(
      /⏰ I will remind you <t:\d+:F> \(<t:\d+:R>\): "call mum"\. By the clock in UTC, which is mine; `!memory timezone <city>`/u,
    );
    expect(await listed(name)).toContain('1 reminder:');
    await stage.press(name, answer.id, 'Do not remind me');
    await stage.ask(name, '@' + name, '!memory pause');
    expect(footerIn(await stage.ask(name, '@' + name, wish))).not.toContain('⏰');
    expect(result).toContain('paused');
    expect((await stage.ask(name, '@' + name, '!remind tomorrow at 9:00: call mum')).text).toContain(
      'paused',
    );
    expect(await listed(name)).toContain('No reminders');
    delete answers.chat;
  });

  it('is one of fifty, all of them listed and changed by their ids, without a model [L3]', async () => {
    const { name } = await stage.newcomer();
    const asked = callsOf(stage, 'chat').length;
    for (let count = 1; count <= limits.reminders; count += 1)
      await stage.ask(
        name,
        '@' + name,
        `!remind in ${count + 1} days: number ${count} ${'with words '.repeat(20)}`,
      );
    expect((await stage.ask(name, '@' + name, '!remind tomorrow at 9:00: one more')).text).toContain('fifty');
    const last = (await listed(name, 4)).split('\n').find((line) => line.includes('number 50 '));
    const id = idIn(last ?? '');
    expect((await stage.ask(name, '@' + name, `!reminders move ${id} in 1 day`)).text).toContain('It comes');
    expect((await listed(name)).split('\n')[1]).toContain('number 50 ');
    expect((await stage.ask(name, '@' + name, `!reminders remove ${id}`)).text).toContain('Off your list');
    expect(callsOf(stage, 'chat')).toHaveLength(asked);
  });
});

describe('what a model sees of reminders', () => {
  it('stands behind the last cache mark, is nothing where there are none, no model is called when one comes, and a reply shows it [RM4] [RM5]', async () => {
    await using own = await openStage({ isBuilt: true, model: () => ({ text: 'Understood.' }) });
    const mark = /,"cache_control":\{[^}]*\}/gu;
    const asked = async (as: string): Promise<string> => {
      await own.ask(as, `@${as}`, 'What is new?');
      return newestOf(own, 'chat').raw;
    };
    const before = await asked('bob');
    const cached = before.slice(0, before.lastIndexOf('"cache_control"')).replaceAll(mark, '');
    await own.sandbox.slash({
      as: 'bob',
      in: '@bob',
      name: 'remind',
      options: { when: 'in 23 hours', what: 'feed the cat' },
    });
    const after = (await asked('bob')).replaceAll(mark, '');
    expect(after.slice(0, cached.length - 1)).toBe(cached.slice(0, -1));
    expect(after.slice(cached.length)).toContain('feed the cat');
    expect(await asked('carol')).not.toContain('asked to be reminded of');
    const calls = callsOf(own, 'chat').length;
    await own.restart(laterBy(dayMs));
    const latest = async () => (await own.sandbox.messages({ in: '@bob', as: 'bob', from: 'bot' })).at(-1);
    await expect.poll(async () => (await latest())?.text).toContain('⏰ feed the cat');
    expect(callsOf(own, 'chat')).toHaveLength(calls);
    const replied = { as: 'bob', in: '@bob', text: 'With what?', replyTo: (await latest())?.id };
    await own.answerTo(await own.sandbox.say(replied));
    expect(newestOf(own, 'chat').raw).toContain('feed the cat');
    expect(await asked('bob')).not.toContain('feed the cat');
  });
});
