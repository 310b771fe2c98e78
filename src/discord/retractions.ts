import type { Client, GatewayMessageUpdateDispatchData } from 'discord.js';
import { LRUCache } from 'lru-cache';

import type { BotHandlers, MessageEdit } from '../core/chat.ts';
import type { ChannelOrder } from './channel-order.ts';
import type { HandOn } from './hand-on.ts';
import type { History } from './history.ts';
import type { IntakePolicy } from './intake.ts';
import type { MissedChanges } from './missed-changes.ts';
import { namesIn } from './names-in.ts';
import { chatMessageOf } from './normalise.ts';
import { readableText } from './readable-text.ts';

/** Deletions that are remembered, so that a message which arrives after its deletion is not answered. */
const rememberedDeletions = 2000;

/** An edit as Discord tells it; an event that concerns only a link's preview may leave out everything else. */
type EditEvent = Pick<GatewayMessageUpdateDispatchData, 'id' | 'channel_id'> &
  Partial<GatewayMessageUpdateDispatchData>;

export interface RetractionsOptions extends Pick<IntakePolicy, 'parseCommand'> {
  readonly client: Client;
  readonly order: ChannelOrder;
  readonly history: History;
  readonly handlers: Pick<BotHandlers, 'edited' | 'deleted'>;
  readonly handOn: HandOn;
}

/** Takes edits and deletions to history and inward [G5], wherever they happen. Nothing here throws. */
export interface Retractions {
  /** The event in Discord's own form: the client keeps no messages, and would tell of none. */
  edited(data: EditEvent): void;
  /** What happened in a gap; resolves when memory has followed. */
  missed(channelId: string, changes: MissedChanges): Promise<void>;
  deleted(channelId: string, messageIds: readonly string[]): void;
  wasDeleted(messageId: string): boolean;
}

export function createRetractions({
  client,
  order,
  history,
  handlers,
  handOn,
  parseCommand,
}: RetractionsOptions): Retractions {
  const deletions = new LRUCache<string, true>({ max: rememberedDeletions });

  function edit(message: Omit<MessageEdit, 'isCommand'>): Promise<void> {
    history.edited(message.channelId, message.messageId, message.text);
    return handlers.edited({ ...message, isCommand: parseCommand(message.text) !== undefined });
  }

  function remove(channelId: string, messageIds: readonly string[]): void {
    for (const id of messageIds) deletions.set(id, true);
    history.removed(channelId, messageIds);
  }

  return {
    edited(data) {
      const { id, channel_id: channelId } = data;
      if (data.content === undefined) return;
      const text = textOf(data, data.content, client);
      if (text === history.textOf(channelId, id)) return;
      history.edited(channelId, id, text);
      // The bot's own edits are its own doing; a link preview is no edit.
      const authorId = data.author?.id;
      const isOwn = authorId !== undefined && authorId === client.user?.id;
      if (isOwn || data.edited_timestamp === null) return;
      const message = { channelId, messageId: id, ...(authorId === undefined ? {} : { authorId }), text };
      void order.run(channelId, () => handOn('an edit', () => edit(message)));
    },
    deleted(channelId, messageIds) {
      remove(channelId, messageIds);
      void order.run(channelId, () => handOn('a deletion', () => handlers.deleted(channelId, messageIds)));
    },
    missed: (channelId, { deleted, edited }) =>
      order.run(channelId, async () => {
        remove(channelId, deleted);
        if (deleted.length > 0) await handlers.deleted(channelId, deleted);
        for (const message of edited) {
          const { id, author, text } = chatMessageOf(message, client.user?.id ?? '');
          await edit({ channelId, messageId: id, authorId: author.id, text });
        }
      }),
    wasDeleted: (messageId) => deletions.has(messageId),
  };
}

function textOf(data: EditEvent, content: string, client: Client): string {
  const { channel_id: channelId, guild_id: guildId = null, mentions = [] } = data;
  const names = namesIn(client, { channelId, guildId, mentioned: mentions });
  return readableText(content, names, client.user?.id ?? '');
}
