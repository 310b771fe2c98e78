import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from './stage.ts';

const noMessages = { DISCORD_AUTO_REPLY_CHANNEL_IDS: '' };

type Said = Awaited<ReturnType<Stage['sandbox']['say']>>;

/** The bot's own emoji on a message. */
async function signsOn({ sandbox }: Stage, { id, channelId }: Said): Promise<readonly string[]> {
  const found = (await sandbox.messages({ in: channelId })).find((message) => message.id === id);
  return Object.keys(found?.reactions ?? {});
}

/** Requests that would put something into a channel. */
async function postsTo({ sandbox }: Stage, channelId: string): Promise<number> {
  return (await sandbox.requests({ method: 'POST', path: `/channels/${channelId}/messages` })).length;
}

async function restart(stage: Stage): Promise<void> {
  await stage.killBot();
  const bot = await stage.startBot();
  await bot.waitFor('"caught up with all channels"');
}

describe.concurrent('an answer that Discord refuses for good [G3d]', () => {
  it('is told by one sign, asked once, and not tried again by a restart, whatever the code', async () => {
    await using stage = await openStage({ model: () => ({ text: 'The answer.' }) });
    const { sandbox } = stage;
    await sandbox.setRateLimits({ on: true });
    const codes = [
      [404, 10_003],
      [403, 50_001],
      [403, 50_007],
      [403, 50_013],
      [400, 50_035],
      [400, 50_083],
      [403, 50_278],
      [403, 160_005],
      [400, 200_000],
      [400, 240_000],
    ] as const;
    const asked: Said[] = [];
    for (const [status, code] of codes) {
      await sandbox.addPerson({ name: `person${code}` });
      const { id } = await sandbox.openDm({ person: `person${code}` });
      const route = `POST /channels/${id}/messages`;
      await sandbox.setFault({ kind: 'status', status, code, route, times: 1000 });
      asked.push(await sandbox.say({ as: `person${code}`, in: 'dm', text: 'Are you there?' }));
    }
    const signs = () => Promise.all(asked.map((said) => signsOn(stage, said)));
    await eventually(async () => expect(await signs()).toEqual(asked.map(() => ['⚠️'])));
    const posts = () => Promise.all(asked.map(({ channelId }) => postsTo(stage, channelId)));
    const sent = await posts();
    // While it grew, whole, and where a thread was opened once more.
    for (const count of sent) expect(count).toBeLessThanOrEqual(3);
    const calls = stage.model.requests.length;

    await sandbox.clearFaults();
    await restart(stage);
    await sleep(500);
    expect(await posts()).toEqual(sent);
    expect(stage.model.requests).toHaveLength(calls);
    expect(await signs()).toEqual(asked.map(() => ['⚠️']));
  }, 120_000);

  it('is told by a DM where no reaction is possible, and the next answer comes as ever', async () => {
    await using stage = await openStage({ model: () => ({ text: 'The answer.' }), environment: noMessages });
    const { sandbox } = stage;
    const general = stage.info.channels['general'] ?? '';
    for (const route of [
      `POST /channels/${general}/messages`,
      `PUT /channels/${general}/messages/*/reactions/*/@me`,
    ])
      await sandbox.setFault({ kind: 'status', status: 403, code: 50_013, route, times: 1000 });
    await sandbox.say({ as: 'bob', in: '#general', text: 'Hello?', mentionBot: true });
    await eventually(async () => {
      const told = await sandbox.messages({ in: '@bob', from: 'bot' });
      expect(told.map(({ text }) => text)).toEqual([expect.stringContaining('I could not send my answer')]);
    });
    await sandbox.clearFaults();
    await restart(stage);
    await sandbox.say({ as: 'bob', in: '#general', text: 'And now?', mentionBot: true });
    await eventually(async () =>
      expect(await sandbox.messages({ in: '#general', from: 'bot' })).toHaveLength(1),
    );
    expect(await sandbox.messages({ in: '@bob', from: 'bot' })).toHaveLength(1);
  }, 120_000);

  it('stays as far as it had grown where AutoMod refuses the rest', async () => {
    await using stage = await openStage({
      model: () => ({ text: Array.from({ length: 10 }, () => 'word '.repeat(20)), pauseMs: 300 }),
    });
    const { sandbox } = stage;
    await sandbox.setFault({
      kind: 'status',
      status: 400,
      code: 200_000,
      route: 'PATCH /channels/*/messages/*',
      times: 1000,
    });
    const said = await sandbox.say({ as: 'alice', in: 'dm', text: 'Tell me.' });
    await eventually(async () => {
      const handled = await stage.readFile(`data/channels/${said.channelId}/journal.jsonl`);
      expect(handled).toContain('"handled"');
    });
    const patches = await sandbox.requests({
      method: 'PATCH',
      path: `/channels/${said.channelId}/messages/*`,
    });
    // While it grew, and whole.
    expect(patches).toHaveLength(2);
    await eventually(async () => expect(await signsOn(stage, said)).toEqual(['⚠️']));
  }, 120_000);

  it('brings no request into a server that the bot was taken out of, nor after a restart, and all is well when it is back', async () => {
    await using stage = await openStage({ model: () => ({ text: 'The answer.', delayMs: 1500 }) });
    const { sandbox } = stage;
    const general = stage.info.channels['general'] ?? '';
    await sandbox.say({ as: 'bob', in: '#general', text: 'Hello?' });
    await eventually(() => expect(stage.model.requests).toHaveLength(1));
    await sandbox.setBotMembership({ isMember: false });
    await sandbox.delivered();
    const ofServer = async () =>
      (await sandbox.requests()).filter(({ path }) => path.startsWith(`/channels/${general}`)).length;
    const before = await ofServer();
    await eventually(async () =>
      expect(await stage.readFile(`data/channels/${general}/journal.jsonl`)).toContain('"handled"'),
    );
    expect(await ofServer()).toBe(before);
    await restart(stage);
    expect(await ofServer()).toBe(before);
    await sandbox.setBotMembership({ isMember: true });
    await sandbox.delivered();
    await stage.ask('bob', '#general', 'Are you back?');
  }, 120_000);

  it('ends quietly where the channel is deleted or the permission taken meanwhile', async () => {
    await using stage = await openStage({ model: () => ({ text: 'The answer.', delayMs: 1500 }) });
    const { sandbox } = stage;
    const dev = stage.info.channels['dev'] ?? '';
    await sandbox.say({ as: 'bob', in: '#dev', text: 'Hello?' });
    const kept = await sandbox.say({ as: 'carol', in: '#general', text: 'Hello?' });
    await eventually(() => expect(stage.model.requests).toHaveLength(2));
    await sandbox.deleteChannel({ channel: '#dev' });
    await sandbox.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['SendMessages'] });
    await eventually(async () => expect(await signsOn(stage, kept)).toContain('⚠️'));
    for (const id of [dev, kept.channelId]) expect(await postsTo(stage, id)).toBe(0);
    await restart(stage);
    for (const id of [dev, kept.channelId]) expect(await postsTo(stage, id)).toBe(0);
  }, 120_000);
});
