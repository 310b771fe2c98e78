import type { Client, GatewayMessageUpdateDispatchData, Message } from 'discord.js';
import { LRUCache } from 'lru-cache';

import type { BotHandlers, MessageEdit } from '../core/chat.ts';
import type { ChannelOrder } from './channel-order.ts';
import type { HandOn } from './hand-on.ts';
import type { History } from './history.ts';
import type { IntakePolicy } from './intake.ts';
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
  /** A person's message that was fetched, and edited some time ago. */
  found(message: Message): void;
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

  function take(edit: Omit<MessageEdit, 'isCommand'>): void {
    const isCommand = parseCommand(edit.text) !== undefined;
    void order.run(edit.channelId, () => handOn('an edit', () => handlers.edited({ ...edit, isCommand })));
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
      take({ channelId, messageId: id, ...(authorId === undefined ? {} : { authorId }), text });
    },
    found(message) {
      const { id, channelId, author, text } = chatMessageOf(message, client.user?.id ?? '');
      history.edited(channelId, id, text);
      take({ channelId, messageId: id, authorId: author.id, text });
    },
    deleted(channelId, messageIds) {
      for (const id of messageIds) deletions.set(id, true);
      history.removed(channelId, messageIds);
      void order.run(channelId, () => handOn('a deletion', () => handlers.deleted(channelId, messageIds)));
    },
    wasDeleted: (messageId) => deletions.has(messageId),
  };
}

function textOf(data: EditEvent, content: string, client: Client): string {
  const { channel_id: channelId, guild_id: guildId = null, mentions = [] } = data;
  const names = namesIn(client, { channelId, guildId, mentioned: mentions });
  return readableText(content, names, client.user?.id ?? '');
}
