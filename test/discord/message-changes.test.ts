import { setImmediate } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { createDiscordClient } from '../../src/discord/client.ts';
import { createHistory } from '../../src/discord/history.ts';
import { createMessageChanges } from '../../src/discord/message-changes.ts';
import { createBackground } from '../../src/discord/gateway-error.ts';
import { incoming } from '../support/incoming.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RecordingHandlers, runGateway, textsOf } from './support/gateway-harness.ts';

const message = incoming();
const author = { username: 'alice', discriminator: '0', global_name: null, avatar: null };
const editedAt = '2026-01-15T10:05:00.000Z';

function setUp() {
  const logger = new RecordingLogger();
  const recent = new RecentChanges();
  const history = createHistory({
    recent,
    fetchNewest: () => Promise.resolve([]),
    hiddenIn: () => Promise.resolve(() => false),
    isCommand: () => false,
    logger,
  });
  const handlers = new RecordingHandlers();
  const { runInBackground, idle } = createBackground(logger);
  const channelQueue = createKeyedQueue();
  const client = createDiscordClient({ logger });
  const changes = createMessageChanges({
    client,
    channelQueue,
    inOrder: async (_, what, work) => runInBackground(what, work),
    history,
    recent,
    proxies: { accountOf: () => undefined, edited: () => undefined, deleted: () => undefined },
    handlers,
    parseCommand: (text) =>
      text.startsWith('!memory ') ? { name: 'memory', subcommand: text.slice(8), options: {} } : undefined,
  });
  history.seen(message);
  const settled = async () => {
    await setImmediate();
    await channelQueue.idle();
    await idle();
  };
  return { history, recent, handlers, changes, settled };
}

function edit(text: string, timestamp: string | null = editedAt) {
  return { id: message.id, channel_id: message.channelId, content: text, edited_timestamp: timestamp };
}

describe('changes', () => {
  it('pass an edit to history and on to the bot', async () => {
    const { changes, handlers, history, settled } = setUp();
    void changes.edited(edit('corrected'));
    expect(textsOf(await history.recent(message.channelId, 10))).toEqual(['corrected']);
    await settled();
    expect(handlers.events).toEqual(['edited corrected']);
  });

  it('say who edited a message, and whether it is a command now', async () => {
    const { changes, handlers, settled } = setUp();
    void changes.edited({ ...edit('!memory show'), author: { ...author, id: message.author.id } });
    await settled();
    expect(handlers.events).toEqual(['edited into a command !memory show']);
    expect(handlers.edits).toMatchObject([{ authorId: message.author.id, isCommand: true }]);
  });

  it('pass over what changes no text: a link’s preview, a pin, the same text again', async () => {
    const { changes, handlers, settled } = setUp();
    void changes.edited({ id: message.id, channel_id: message.channelId });
    void changes.edited(edit(message.text));
    void changes.edited({ ...edit('a message from before the start', null), id: '400000000000000009' });
    await settled();
    expect(handlers.events).toEqual([]);
  });

  it('pass a deletion to history and on to the bot, and remember it', async () => {
    const { changes, handlers, history, recent, settled } = setUp();
    expect(recent.wasDeleted(message.id)).toBe(false);
    void changes.deleted(message.channelId, [message.id]);
    expect(recent.wasDeleted(message.id)).toBe(true);
    expect(await history.recent(message.channelId, 10)).toEqual([]);
    await settled();
    expect(handlers.events).toEqual([`deleted ${message.id}`]);
  });

  it('do not report the bot’s own edits', async () => {
    const { server, client, replies, history, handlers, settled } = await runGateway();
    const asked = await server.say({ as: 'bob', in: 'dm', text: 'hello' });
    const sent = await replies.send(asked.channelId, 'Thinking…', asked.id);
    const [own = ''] = sent.kind === 'sent' ? sent.ids : [];
    const channel = await client.channels.fetch(asked.channelId);
    if (channel?.isSendable() !== true) throw new Error('a DM takes messages');
    await channel.messages.edit(own, 'Hello Bob!');
    await settled();
    expect(textsOf(await history.recent(asked.channelId, 10))).toEqual(['hello', 'Hello Bob!']);
    expect(handlers.events).toEqual(['message hello']);
  });
});
