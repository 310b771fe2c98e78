import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { refusedLine } from '../../src/turn/reply.ts';
import { deferred } from '../support/deferred.ts';
import { eventually } from '../support/eventually.ts';
import { blockEvents, messageEvents } from '../support/model-answer.ts';
import { openStage, type Stage } from './stage.ts';
import { outboxWhen } from './outbox-file.ts';

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

/** Kills the bot, and starts it in this process. */
async function restart(stage: Stage): Promise<void> {
  await stage.killBot();
  const bot = await stage.startBot();
  await bot.waitFor('"caught up with all channels"');
}

describe.concurrent('an answer that Discord refuses for good [G3d]', () => {
  it('is shown by one sign, sent once and not tried again by a restart, before or after a kill', async () => {
    await using stage = await openStage({ model: () => ({ text: 'The answer.' }) });
    await stage.startBuilt();
    const { sandbox } = stage;
    await sandbox.setRateLimits({ on: true });
    const codes = [
      [403, 50_007],
      [403, 50_013],
      [400, 200_000],
    ] as const;
    const asked: Said[] = [];
    const routeTo = ({ channelId }: Pick<Said, 'channelId'>) => `POST /channels/${channelId}/messages`;
    const allAsk = async (group: string, fault: (at: number, route: string) => Promise<void>) => {
      for (const at of codes.keys()) {
        const person = `${group}${at}`;
        await sandbox.addPerson({ name: person });
        const { id: channelId } = await sandbox.openDm({ person });
        await fault(at, routeTo({ channelId }));
        asked.push(await sandbox.say({ as: person, in: 'dm', text: 'Are you there?' }));
      }
    };
    const refuse = (at: number, route: string) => {
      const [status, code] = codes[at] ?? [403, 0];
      return sandbox.setFault({ kind: 'status', status, code, route, times: 1000 });
    };
    await allAsk('early', refuse);
    // On a busy machine the kill may come before a message's 👀 is taken away.
    const signs = async () =>
      (await Promise.all(asked.map((said) => signsOn(stage, said)))).map((each) =>
        each.filter((sign) => sign !== '👀'),
      );
    await eventually(async () => expect(await signs()).toEqual(asked.map(() => ['⚠️'])));
    const posts = () => Promise.all(asked.map(({ channelId }) => postsTo(stage, channelId)));
    const sent = await posts();
    // While it grew, whole, and where a thread was opened once more.
    for (const count of sent) expect(count).toBeLessThanOrEqual(3);

    // The answer is ready, and the connection breaks each time that it is sent, until the kill.
    await allAsk('late', (_, route) => sandbox.setFault({ kind: 'reset', route, times: 1000 }));
    const late = asked.slice(codes.length);
    for (const { channelId } of late) await outboxWhen(stage, channelId, ({ unsent }) => unsent.length > 0);
    await stage.killBot();
    await sandbox.clearFaults();
    for (const [at, said] of late.entries()) await refuse(at, routeTo(said));
    const calls = stage.model.requests.length;
    expect(calls).toBe(asked.length);
    const before = await posts();
    await stage.startBuilt();
    await stage.bot().waitFor('"caught up with all channels"');
    await eventually(async () => expect(await signs()).toEqual(asked.map(() => ['⚠️'])));
    const after = await posts();
    expect(after.slice(0, codes.length)).toEqual(sent);
    for (const [at, count] of after.entries()) expect(count - (before[at] ?? 0)).toBeLessThanOrEqual(2);

    await sandbox.clearFaults();
    await restart(stage);
    await sleep(500);
    expect(await posts()).toEqual(after);
    expect(stage.model.requests).toHaveLength(calls);
    expect(await signs()).toEqual(asked.map(() => ['⚠️']));
  });

  it('stays as far as it had grown where AutoMod refuses the rest, and says so', async () => {
    const isShown = deferred<void>();
    const isRefused = deferred<void>();
    const [start = {}, first = {}, ...rest] = blockEvents(
      0,
      { type: 'text', text: '' },
      [1, 2, 3].map(() => ({ type: 'text_delta', text: 'word '.repeat(20) })),
    );
    const [second = {}, ...end] = rest;
    const said = [start, first, { until: isShown.promise }, second, { until: isRefused.promise }, ...end];
    await using stage = await openStage({ model: () => ({ events: messageEvents(said, 'end_turn') }) });
    const { sandbox } = stage;
    const route = 'PATCH /channels/*/messages/*';
    // While it grew, and whole.
    await sandbox.setFault({ kind: 'status', status: 400, code: 200_000, route, times: 2 });
    const asked = await sandbox.say({ as: 'alice', in: 'dm', text: 'Tell me.' });
    const path = `/channels/${asked.channelId}/messages/*`;
    const patches = () => sandbox.requests({ method: 'PATCH', path });
    await stage.answerTo(asked);
    isShown.resolve();
    await eventually(async () => expect(await patches()).toHaveLength(1));
    isRefused.resolve();
    await outboxWhen(stage, asked.channelId, ({ handledIds }) => handledIds.length > 0);
    await eventually(async () =>
      expect((await sandbox.messages({ in: asked.channelId, from: 'bot' })).map(({ text }) => text)).toEqual([
        `${'word '.repeat(20).trim()}\n-# ${refusedLine}`,
      ]),
    );
    expect(await patches()).toHaveLength(3);
    expect(await signsOn(stage, asked)).toEqual([]);
  });

  it('brings no request into a server that the bot was taken out of, nor after a restart, and all is well when it is back', async () => {
    const isAway = deferred<void>();
    await using stage = await openStage({ model: () => ({ text: 'The answer.', held: isAway.promise }) });
    await stage.startBuilt();
    const { sandbox } = stage;
    const general = stage.info.channels['general'] ?? '';
    await sandbox.say({ as: 'bob', in: '#general', text: 'Hello?' });
    await eventually(() => expect(stage.model.requests).toHaveLength(1));
    await sandbox.setBotMembership({ isMember: false });
    await sandbox.delivered();
    const ofServer = async () =>
      (await sandbox.requests()).filter(({ path }) => path.startsWith(`/channels/${general}`)).length;
    const before = await ofServer();
    isAway.resolve();
    await outboxWhen(stage, general, ({ handledIds }) => handledIds.length > 0);
    expect(await ofServer()).toBe(before);
    await restart(stage);
    expect(await ofServer()).toBe(before);
    await sandbox.setBotMembership({ isMember: true });
    await sandbox.delivered();
    await stage.ask('bob', '#general', 'Are you back?');
  });
});
