import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, it } from 'vitest';

import type { TestSandbox } from '../support/sandbox/test-sandbox.ts';
import type { MessageView } from '../../src/sandbox/people/views.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from './stage.ts';
import { outboxWhen } from './outbox-file.ts';

type Permission = NonNullable<Parameters<TestSandbox['setOverwrite']>[0]['deny']>[number];

/** What people see of the bot: its words in the place, its signs on the message, and its lines in the DM of who asked. */
interface Seen {
  readonly says: readonly string[];
  readonly signs: readonly string[];
  readonly lines: number;
}

interface Scene {
  readonly name: string;
  readonly person: string;
  readonly place: string;
  readonly text: string;
  /** What happens while the bot works. */
  readonly change?: () => Promise<unknown>;
  /** How it is made good again; absent where that cannot be. */
  readonly undo?: () => Promise<unknown>;
  /** Whether the model is asked at all. */
  readonly isThoughtAbout?: false;
  readonly seen: Seen;
}

const words = Array.from({ length: 8 }, (_, index) => `word${index} `);
const whole = words.join('').trim();
const keptBack =
  '⚠️ This channel became visible to more people while I was answering, so I kept the answer back. Please ask again.';
const byReaction = { says: [], signs: ['⚠️'], lines: 0 };
const byLine = { says: [], signs: [], lines: 1 };
const answered = { says: ['The answer.'], signs: [], lines: 0 };

it('what is taken from the bot while it works costs one sign or line, no request for ever, and nothing after a restart [G3d] [V2]', async () => {
  const gate = new EventEmitter();
  const held = once(gate, 'open');
  await using stage = await openStage({
    isBuilt: true,
    environment: {
      DISCORD_AUTO_REPLY_CHANNEL_IDS: '',
      DISCOCLAW_MODEL_CONCURRENCY: '40',
      DISCOCLAW_SUMMARY_ENABLED: 'false',
    },
    model({ messages = [] }) {
      const asked = JSON.stringify(messages.at(-1));
      if (asked.includes('And now?')) return { text: 'Here.' };
      return asked.includes('slowly') ? { text: words, rest: held } : { text: 'The answer.', held };
    },
  });
  const { sandbox, model } = stage;
  await sandbox.setRateLimits({ on: true });
  const scenes = await scenesOn(stage);
  const thoughtAbout = scenes.filter(({ isThoughtAbout }) => isThoughtAbout !== false).length;
  const asked: MessageView[] = [];
  for (const { person, place, text } of scenes)
    asked.push(await sandbox.say({ as: person, in: place, text, mentionBot: !text.startsWith('!') }));
  await eventually(() => expect(model.requests).toHaveLength(thoughtAbout));
  for (const { place, text } of scenes)
    if (text.includes('slowly')) await sandbox.waitForReply({ in: place, containing: 'word0' });
  for (const { change } of scenes) await change?.();
  await sandbox.delivered();
  gate.emit('open');

  const seen = async () =>
    Object.fromEntries(
      await Promise.all(scenes.map(async (scene, at) => [scene.name, await seenBy(stage, scene, asked[at])])),
    );
  const wanted = Object.fromEntries(scenes.map((scene) => [scene.name, scene.seen]));
  await eventually(async () => expect(await seen()).toEqual(wanted));
  // An answer that a kill found unfinished would be tried again.
  for (const { place } of scenes.filter((scene) => scene.seen.says.length > 0))
    await outboxWhen(stage, place, ({ handledIds }) => handledIds.length > 0);
  // Typing goes on as long as a turn takes, which on a busy machine is long.
  const refused = async () =>
    (await sandbox.requests()).filter(({ status, path }) => status >= 400 && !path.endsWith('/typing'))
      .length;
  expect(await refused()).toBeLessThanOrEqual(scenes.length);

  // That a channel is deleted is known since it was told.
  const before = await refused();
  await stage.killBot();
  const bot = await stage.startBot();
  await bot.waitFor('"caught up with all channels"');
  await sleep(500);
  expect(await seen()).toEqual(wanted);
  expect(model.requests).toHaveLength(thoughtAbout);
  expect(await refused()).toBe(before);

  for (const { undo } of scenes) await undo?.();
  await sandbox.delivered();
  for (const { person, place, undo } of scenes) {
    if (undo === undefined) continue;
    const again = await sandbox.say({ as: person, in: place, text: 'And now?', mentionBot: true });
    expect((await sandbox.waitForReply({ in: place, after: again.id })).text).toBe('Here.');
  }
  // What the bot could not know: those words and that sign, and a DM that is closed. The client counts the requests of a second from another moment on
  // than Discord, so that one may be told to wait.
  const { requests } = await sandbox.invalidRequests();
  const refusals = requests.filter(({ status, path }) => status !== 429 && !path.endsWith('/typing'));
  expect(refusals).toHaveLength(3);
});

async function seenBy(
  { sandbox }: Stage,
  { person, place }: Scene,
  asked: MessageView | undefined,
): Promise<Seen> {
  const dm = (await sandbox.openDm({ person })).id;
  const isThere = (await sandbox.channels()).some(({ id }) => id === place);
  const there = isThere ? await sandbox.messages({ in: place }) : [];
  const says = isThere ? await sandbox.messages({ in: place, from: 'bot' }) : [];
  return {
    says: says.map(({ text }) => text),
    signs: Object.keys(there.find(({ id }) => id === asked?.id)?.reactions ?? {}),
    lines: dm === place ? 0 : (await sandbox.messages({ in: dm, from: 'bot' })).length,
  };
}

/** Each with a person and a place of its own. */
async function scenesOn({ sandbox }: Stage): Promise<readonly Scene[]> {
  const scenes: Scene[] = [];
  const office = (await sandbox.addGuild({ name: 'Office', owner: 'alice' })).id;
  const deny = (channel: string, who: string, ...permissions: readonly Permission[]) =>
    sandbox.setOverwrite({ channel, for: who, deny: [...permissions] });

  async function add(
    name: string,
    seen: Seen,
    play: (place: string, person: string) => Promise<Partial<Scene>>,
    where: Partial<Parameters<TestSandbox['addChannel']>[0]> = {},
  ): Promise<void> {
    const person = `guest${scenes.length}`;
    await sandbox.addPerson({ name: person, guilds: ['Sandbox', office] });
    const members = where.private === true ? { members: [person] } : {};
    const { id: place } = await sandbox.addChannel({ name: `room${scenes.length}`, ...where, ...members });
    scenes.push({ name, person, place, text: 'Hello?', seen, ...(await play(place, person)) });
  }

  /** A thread of the person's in which the bot answers slowly. */
  async function slowThread(channel: string, person: string) {
    const thread = await sandbox.addThread({ channel, name: `thread of ${person}`, as: person });
    return { thread: thread.id, place: thread.id, text: 'Tell me slowly.' };
  }

  await add('nobody may write any more', byReaction, async (channel) => ({
    change: () => deny(channel, '@everyone', 'SendMessages'),
    undo: () => deny(channel, '@everyone'),
  }));
  await add('Discord refuses words and signs without having said so before', byLine, async (channel) => ({
    async change() {
      const routes = [
        `POST /channels/${channel}/messages`,
        `PUT /channels/${channel}/messages/*/reactions/*/@me`,
      ];
      for (const route of routes)
        await sandbox.setFault({ kind: 'status', status: 403, code: 50_013, route, times: 1000 });
    },
    undo: () => sandbox.clearFaults(),
  }));
  await add(
    'a role of the bot is deleted, and it sees the channel no more',
    byLine,
    async (channel, person) => {
      await sandbox.setRole({ name: 'insider', permissions: [], people: ['Discoclaw'] });
      await deny(channel, '@everyone', 'ViewChannel');
      for (const each of ['insider', person])
        await sandbox.setOverwrite({ channel, for: each, allow: ['ViewChannel'] });
      return {
        change: () => sandbox.deleteRole({ role: 'insider' }),
        undo: () => sandbox.setOverwrite({ channel, for: 'Discoclaw', allow: ['ViewChannel'] }),
      };
    },
  );
  await add(
    'the bot may not write any more when its answer stands there in part',
    { ...answered, says: [whole] },
    async (channel) => ({
      text: 'Tell me slowly.',
      change: () => deny(channel, 'Discoclaw', 'SendMessages'),
      undo: () => deny(channel, 'Discoclaw'),
    }),
  );
  await add(
    'the thread is locked and archived',
    { ...byLine, says: [words[0]?.trim() ?? ''] },
    async (channel, person) => {
      const { thread, ...rest } = await slowThread(channel, person);
      return {
        ...rest,
        change: () => sandbox.alterThread({ thread, archived: true, locked: true }),
        undo: () => sandbox.alterThread({ thread, archived: false, locked: false }),
      };
    },
  );
  await add('the channel is deleted', byLine, async (channel) => ({
    change: () => sandbox.deleteChannel({ channel }),
  }));
  await add('the person takes no DMs any more', byReaction, async (_, person) => ({
    place: (await sandbox.openDm({ person })).id,
    change: () => sandbox.closeDms({ person, closed: true }),
    undo: () => sandbox.closeDms({ person, closed: false }),
  }));
  await add(
    'a role becomes one that reads along everywhere',
    { ...answered, says: [keptBack] },
    async () => {
      await sandbox.setRole({ guild: office, name: 'deputies', permissions: [] });
      return {
        change: () => sandbox.changePermissions({ guild: office, for: 'deputies', allow: ['Administrator'] }),
        undo: () => sandbox.changePermissions({ guild: office, for: 'deputies', deny: ['Administrator'] }),
      };
    },
    { guild: office, private: true },
  );
  for (const text of ['Hello?', '!memory show'])
    await add(`the bot is told "${text}" where it may not write`, byReaction, async (channel) => {
      await deny(channel, 'Discoclaw', 'SendMessages');
      return { text, isThoughtAbout: false, undo: () => deny(channel, 'Discoclaw') };
    });
  await sandbox.delivered();
  return scenes;
}
