import type { Client, GatewayMessageUpdateDispatchData, Message } from 'discord.js';

import type { RecentChanges } from '../core/changes.ts';
import type { BotHandlers, MessageEdit } from '../core/message.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import type { IntakePolicy } from './access.ts';
import type { History } from './history.ts';
import { cardsIn, chatMessageOf, textIn } from './normalise.ts';
import type { Proxies } from './proxied.ts';

/** An event about a link's preview may leave out everything else. */
type EditEvent = Pick<GatewayMessageUpdateDispatchData, 'id' | 'channel_id'> &
  Partial<GatewayMessageUpdateDispatchData>;

export interface MissedChanges {
  readonly deleted: readonly string[];
  /** Possibly edited; the log compares texts. */
  readonly edited: readonly Message[];
}

/** Behind earlier events of the channel; resolves when it is queued. Must not reject. */
export type InOrder = (channelId: string, what: string, work: () => Promise<unknown>) => Promise<void>;

export type MessageChanges = ReturnType<typeof createMessageChanges>;

/** Takes in edits and deletions [G5]. Nothing here throws. */
export function createMessageChanges(
  options: Pick<IntakePolicy, 'parseCommand'> & {
    readonly client: Client;
    readonly channelQueue: KeyedQueue;
    readonly inOrder: InOrder;
    readonly history: Pick<History, 'messageOf' | 'showCards'>;
    readonly recent: Pick<RecentChanges, 'note'>;
    readonly proxies: Pick<Proxies, 'accountOf'>;
    readonly handlers: Pick<BotHandlers, 'edited' | 'deleted'>;
  },
) {
  const { client, channelQueue, inOrder, history, recent, proxies, handlers, parseCommand } = options;
  /** An edit into a command removes the message, so that no turn begins with it. */
  function noted(message: Omit<MessageEdit, 'isCommand'>): MessageEdit {
    const { channelId, messageId, text, editedAt } = message;
    const isCommand = parseCommand(text) !== undefined;
    recent.note(
      isCommand
        ? { kind: 'deleted', channelId, messageIds: [messageId] }
        : { kind: 'edited', channelId, messageId, text, editedAt },
    );
    return { ...message, isCommand };
  }

  return {
    /** Takes the raw event, as the client keeps no messages. */
    async edited(data: EditEvent): Promise<void> {
      const { id, channel_id: channelId } = data;
      if (data.embeds !== undefined && data.author?.id !== client.user?.id)
        history.showCards(channelId, id, cardsIn(data));
      if (data.content === undefined) return;
      const { content, guild_id: guildId = null, mentions: mentioned = [] } = data;
      const isByWebhook = data.webhook_id !== undefined && data.author?.id !== client.user?.id;
      const authorId = isByWebhook ? proxies.accountOf(id) : data.author?.id;
      const text = textIn(client, { content, authorId, channelId, guildId, mentioned });
      if (text === history.messageOf(channelId, id)?.text) return;
      if (data.edited_timestamp === null) return;
      const editedAt = data.edited_timestamp && new Date(data.edited_timestamp).toISOString();
      const message = { channelId, messageId: id, authorId, text, editedAt };
      if (authorId !== undefined && authorId === client.user?.id) {
        recent.note({ kind: 'edited', ...message });
        return;
      }
      const edit = noted(message);
      await inOrder(channelId, 'an edit', () => handlers.edited(edit));
    },
    async deleted(channelId: string, messageIds: readonly string[]): Promise<void> {
      recent.note({ kind: 'deleted', channelId, messageIds });
      await inOrder(channelId, 'a deletion', () => handlers.deleted(channelId, messageIds));
    },
    /** Resolves when memory has followed. */
    missed: (channelId: string, { deleted, edited }: MissedChanges): Promise<void> =>
      channelQueue.run(channelId, async () => {
        if (deleted.length > 0) {
          recent.note({ kind: 'deleted', channelId, messageIds: deleted });
          await handlers.deleted(channelId, deleted);
        }
        for (const message of edited) {
          const { id, author, text, editedAt } = chatMessageOf(message, client.user?.id ?? '');
          const authorId = message.webhookId === null ? author.id : proxies.accountOf(id);
          await handlers.edited(noted({ channelId, messageId: id, authorId, text, editedAt }));
        }
      }),
  };
}
