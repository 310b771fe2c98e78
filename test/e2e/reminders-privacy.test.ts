import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { laterBy } from './later.ts';
import { openStage } from './stage.ts';

const dayMs = 24 * 60 * 60_000;
const stage = await openStage({ isBuilt: true });
afterAll(() => stage[Symbol.asyncDispose]());
const { sandbox } = stage;
const bot = stage.info.bot.name;

interface Scene {
  readonly name: string;
  /** Who is reminded, and of what. */
  readonly person: string;
  readonly text?: string;
  /** Where it is set. */
  readonly where: () => Promise<string>;
  /** What happens before it is due. */
  readonly happens?: (channel: string) => Promise<unknown>;
  readonly comes: 'there' | 'dm' | 'nowhere';
}

const room =
  (name: string, ...members: readonly string[]) =>
  async (): Promise<string> =>
    (await sandbox.addChannel({ name, private: members.length > 0, members })).id;

const scenes: readonly Scene[] = [
  { name: 'nothing', person: 'bob', where: room('as-before', 'bob'), comes: 'there' },
  {
    name: 'the channel was opened to others',
    person: 'bob',
    where: room('opened', 'bob'),
    happens: (channel) => sandbox.setChannelPrivacy({ channel, private: false }),
    comes: 'dm',
  },
  {
    name: 'one more person was let in',
    person: 'bob',
    where: room('let-in', 'bob'),
    happens: (channel) => sandbox.setOverwrite({ channel, for: 'carol', allow: ['ViewChannel'] }),
    comes: 'dm',
  },
  {
    name: 'the channel was deleted',
    person: 'bob',
    where: room('deleted'),
    happens: (channel) => sandbox.deleteChannel({ channel }),
    comes: 'dm',
  },
  {
    name: 'the bot was shut out',
    person: 'bob',
    where: room('without-bot'),
    happens: (channel) => sandbox.setOverwrite({ channel, for: bot, deny: ['ViewChannel'] }),
    comes: 'dm',
  },
  {
    name: 'the bot may not write there',
    person: 'bob',
    where: room('mute'),
    happens: (channel) => sandbox.setOverwrite({ channel, for: bot, deny: ['SendMessages'] }),
    comes: 'dm',
  },
  {
    name: 'the bot left the server',
    person: 'bob',
    async where() {
      const { id } = await sandbox.addGuild({ name: 'Elsewhere', owner: 'alice', members: ['bob'] });
      return (await sandbox.addChannel({ guild: id, name: 'left' })).id;
    },
    happens: () => sandbox.setBotMembership({ guild: 'Elsewhere', isMember: false }),
    comes: 'dm',
  },
  {
    name: 'its person was shut out',
    person: 'bob',
    where: room('shut'),
    happens: (channel) => sandbox.setOverwrite({ channel, for: 'bob', deny: ['ViewChannel'] }),
    comes: 'dm',
  },
  {
    name: 'its person lost the role',
    person: 'carol',
    async where() {
      await sandbox.setRole({ name: 'crew', permissions: [], people: ['carol'] });
      const channel = await room('crew', 'alice')();
      await sandbox.setOverwrite({ channel, for: 'crew', allow: ['ViewChannel'] });
      return channel;
    },
    happens: () => sandbox.takeRole({ role: 'crew', people: ['carol'] }),
    comes: 'dm',
  },
  {
    name: 'the channel was deleted, and its person takes no direct messages',
    person: 'shy',
    async where() {
      await sandbox.addPerson({ name: 'shy', closedDms: true });
      return room('gone-too')();
    },
    happens: (channel) => sandbox.deleteChannel({ channel }),
    comes: 'nowhere',
  },
  {
    name: 'others and a link are named in it',
    person: 'carol',
    text: `@everyone @here <@${stage.info.people['alice'] ?? ''}> <@&1> https://example.org/a`,
    where: room('loud'),
    comes: 'there',
  },
];

type Post = Awaited<ReturnType<typeof sandbox.requests>>[number];

/** What tells a scene's reminder from the others'. */
const markOf = (scene: Scene): string => `case ${scenes.indexOf(scene)}.`;
const places = new Map<Scene, string>();
let posts: readonly Post[];

/** All are set, then everything happens while the bot is away, and it comes back when all are due. */
beforeAll(async () => {
  for (const scene of scenes) {
    const channel = await scene.where();
    places.set(scene, channel);
    await sandbox.delivered();
    const text = `!remind in 23 hours: ${scene.text ?? scene.name} ${markOf(scene)}`;
    await stage.answerTo(await sandbox.say({ as: scene.person, in: channel, text }));
  }
  await stage.stopBot();
  for (const scene of scenes) await scene.happens?.(places.get(scene) ?? '');
  const wish = { method: 'POST', path: '/channels/*/messages' };
  const before = (await sandbox.requests(wish)).length;
  await stage.startBot(laterBy(dayMs));
  await stage.bot().waitFor('could be delivered nowhere');
  await eventually(async () => {
    posts = (await sandbox.requests(wish)).slice(before).filter(({ status }) => status === 200);
    if (posts.length < scenes.length - 1) throw new Error(`Only ${posts.length} came`);
  });
});

describe('where a reminder comes, and whom it notifies [RM3]', () => {
  it.each(scenes)('$name: $comes', async (scene) => {
    const { person, comes } = scene;
    const dm = comes === 'dm' ? (await sandbox.openDm({ person })).id : undefined;
    const channelId = { there: places.get(scene), dm, nowhere: undefined }[comes];
    const personId = (await sandbox.info()).people[person] ?? '';
    const found = posts.filter(({ body }) => JSON.stringify(body).includes(markOf(scene)));
    const came = found.map(({ path, body }) => ({ path, body }));
    const notified = comes === 'dm' ? { parse: [], replied_user: false } : { parse: [], users: [personId] };
    const mention = comes === 'dm' ? '' : `<@${personId}> `;
    const body: unknown = expect.objectContaining({
      content: expect.stringContaining(
        `⏰ ${mention}${(scene.text ?? scene.name).replace(/<@\d+>/u, '@alice')} `,
      ),
      allowed_mentions: notified,
    });
    expect(came).toEqual(channelId === undefined ? [] : [{ path: `/channels/${channelId}/messages`, body }]);
  });

  it('lists as missed what could be delivered nowhere', async () => {
    const { answer } = await sandbox.slash({ as: 'shy', in: '#general', name: 'reminders' });
    expect(answer?.text).toMatch(/1\. missed: <t:/u);
  });
});
