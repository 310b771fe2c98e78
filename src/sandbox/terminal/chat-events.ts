import { MessageFlags, MessageType } from 'discord-api-types/v10';

import type { SandboxServer } from '../sandbox-server.ts';
import type { EphemeralMessage, Message, Presence, ThreadChannel } from '../world/entities.ts';
import type { WorldEvent } from '../world/world.ts';

/** Something that people see in Discord. Messages are the sandbox's own, so they show their newest wording. */
export type ChatEvent =
  | Said
  | { readonly kind: 'deleted'; readonly message: Message; readonly onlyFor?: string }
  | {
      readonly kind: 'reacted' | 'unreacted';
      readonly message: Message;
      readonly userId: string;
      readonly emoji: string;
    }
  | {
      readonly kind: 'voted' | 'unvoted';
      readonly message: Message;
      readonly userId: string;
      readonly answerId: number;
    }
  | { readonly kind: 'pinned' | 'unpinned' | 'cleared of reactions'; readonly message: Message }
  | { readonly kind: 'thread'; readonly thread: ThreadChannel }
  | { readonly kind: 'presence'; readonly presence: Presence };

export interface Said {
  readonly kind: 'said';
  readonly message: Message;
  /** It was seen before, with other words. */
  readonly isCorrection: boolean;
  /** The id of the one person who can see it; absent for a message of the channel. */
  readonly onlyFor?: string;
}

interface ChatFeedOptions {
  readonly sandbox: Pick<SandboxServer, 'subscribe'>;
  readonly botId: string;
  /** Called with each event, in order. */
  readonly onEvent: (event: ChatEvent) => void;
}

/** System messages: what they tell is told by its own event. */
const systemTypes: ReadonlySet<MessageType> = new Set([
  MessageType.ChannelPinnedMessage,
  MessageType.PollResult,
  MessageType.ThreadCreated,
  MessageType.ThreadStarterMessage,
]);

/**
 * Turns what goes on in the sandbox into what people see, apart from new messages of people, which they know. Resolves nothing
 * and waits for nothing. Returns how to stop.
 */
export function followSandbox({ sandbox, botId, onEvent }: ChatFeedOptions): () => void {
  /** By id: a deletion tells no more than that. */
  const known = new Map<string, Message>();
  /** Announced, and without words until now. */
  const loading = new Set<string>();
  const pinned = new Set<string>();

  function said(message: Message, isCorrection: boolean, onlyFor: string | undefined): void {
    if (systemTypes.has(message.type)) return;
    const seer = onlyFor === undefined ? {} : { onlyFor };
    if ((message.flags & MessageFlags.Loading) !== 0) {
      loading.add(message.id);
      return;
    }
    const isFirst = loading.delete(message.id) || !isCorrection;
    onEvent({ kind: 'said', message, isCorrection: !isFirst, ...seer });
  }

  function deleted(messageId: string): void {
    const message = known.get(messageId);
    known.delete(messageId);
    if (message !== undefined && !loading.delete(messageId)) onEvent({ kind: 'deleted', message });
  }

  function ephemeral(type: WorldEvent['type'], { message, viewerId }: EphemeralMessage): void {
    if (type !== 'ephemeral-deleted') said(message, type === 'ephemeral-edited', viewerId);
    else if (!loading.delete(message.id)) onEvent({ kind: 'deleted', message, onlyFor: viewerId });
  }

  function touched(message: Message): void {
    const isPinned = message.pinnedAt !== null;
    if (isPinned === pinned.has(message.id)) return;
    if (isPinned) pinned.add(message.id);
    else pinned.delete(message.id);
    onEvent({ kind: isPinned ? 'pinned' : 'unpinned', message });
  }

  return sandbox.subscribe((event) => {
    if (event.type === 'message-created' || event.type === 'message-edited') {
      const { message } = event;
      known.set(message.id, message);
      const isCorrection = event.type === 'message-edited';
      if (isCorrection || message.authorId === botId) said(message, isCorrection, undefined);
    } else if (event.type === 'message-deleted') {
      deleted(event.messageId);
    } else if (event.type === 'messages-deleted') {
      for (const id of event.messageIds) deleted(id);
    } else if ('ephemeral' in event) {
      ephemeral(event.type, event.ephemeral);
    } else if (event.type === 'reaction-added' || event.type === 'reaction-removed') {
      const { message, userId, emoji } = event;
      const kind = event.type === 'reaction-added' ? 'reacted' : 'unreacted';
      onEvent({ kind, message, userId, emoji });
    } else if (event.type === 'vote-added' || event.type === 'vote-removed') {
      const { message, userId, answerId } = event;
      onEvent({ kind: event.type === 'vote-added' ? 'voted' : 'unvoted', message, userId, answerId });
    } else if (event.type === 'reactions-cleared') {
      onEvent({ kind: 'cleared of reactions', message: event.message });
    } else if (event.type === 'message-touched') {
      touched(event.message);
    } else if (event.type === 'thread-created') {
      onEvent({ kind: 'thread', thread: event.thread });
    } else if (event.type === 'presence-changed') {
      onEvent({ kind: 'presence', presence: event.presence });
    }
  });
}

/**
 * What is left to see when all of it has happened, in order: a message once, in its last wording; nothing of a message that
 * came and went, or of a reaction that did.
 */
export function collapseEvents(events: readonly ChatEvent[]): readonly ChatEvent[] {
  return events.reduce<readonly ChatEvent[]>((left, event) => {
    switch (event.kind) {
      case 'said': {
        const isKnown = left.some((earlier) => earlier.kind === 'said' && isSameMessage(earlier, event));
        return isKnown ? left : [...left, event];
      }
      case 'deleted': {
        const cameNow = left.some(
          (earlier) => earlier.kind === 'said' && !earlier.isCorrection && isSameMessage(earlier, event),
        );
        const others = left.filter((earlier) => !isSameMessage(earlier, event));
        return cameNow ? others : [...others, event];
      }
      case 'reacted':
      case 'unreacted': {
        const opposite = event.kind === 'reacted' ? 'unreacted' : 'reacted';
        const others = left.filter(
          (earlier) =>
            !(
              earlier.kind === opposite &&
              isSameMessage(earlier, event) &&
              earlier.userId === event.userId &&
              earlier.emoji === event.emoji
            ),
        );
        return others.length < left.length ? others : [...left, event];
      }
      case 'presence':
        return [...left.filter(({ kind }) => kind !== 'presence'), event];
      case 'voted':
      case 'unvoted':
      case 'pinned':
      case 'unpinned':
      case 'cleared of reactions':
      case 'thread':
        return [...left, event];
    }
  }, []);
}

function isSameMessage(a: ChatEvent, b: ChatEvent): boolean {
  return 'message' in a && 'message' in b && a.message.id === b.message.id;
}
