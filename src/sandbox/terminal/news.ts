import { MessageFlags, MessageType } from 'discord-api-types/v10';

import type { Message } from '../world/entities.ts';
import type { WorldEvent } from '../world/world.ts';
import { contentOf, saidLine, type Names } from './readable.ts';
import type { TranscriptLine } from './transcript.ts';

/** What there is to tell of something that happened. */
export type News =
  | { readonly kind: 'said'; readonly line: TranscriptLine }
  | { readonly kind: 'did'; readonly text: string };

/** Who is told, and how everything is called there. */
interface Reader {
  readonly viewerId: string;
  readonly names: Names;
}

/** System messages: what they tell is told by its own event. */
const systemTypes: ReadonlySet<MessageType> = new Set([
  MessageType.ChannelPinnedMessage,
  MessageType.ThreadCreated,
  MessageType.ThreadStarterMessage,
]);

/**
 * What is left to tell of events, in order: a message once, in its last wording; nothing of messages and reactions that came
 * and went, or of new messages of people. `untold` keeps deferred answers for the call in which they have words.
 */
export function newsOf(events: readonly WorldEvent[], untold: Set<string>, reader: Reader): readonly News[] {
  const { names } = reader;
  /** By what it is about, so that what happens later can take its place. */
  const news = new Map<string, News>();
  const did = (key: string, channelId: string, words: string): void => {
    news.set(key, { kind: 'did', text: `${names.placeOf(channelId) ?? 'somewhere'}  ${words}` });
  };
  const announce = (message: Message): void => {
    const isLoading = (message.flags & MessageFlags.Loading) !== 0;
    if (isLoading || systemTypes.has(message.type) || news.has(message.id)) return;
    const isEdited = !untold.delete(message.id);
    news.set(message.id, { kind: 'said', line: saidLine(message, isEdited, reader) });
  };
  const deleted = new Set(
    events.flatMap((event) => (event.type === 'messages-deleted' ? event.messages : [])),
  );
  for (const event of events) {
    const isCreated = event.type === 'message-created' || event.type === 'ephemeral-created';
    if (isCreated && names.isBot(event.message.authorId)) untold.add(event.message.id);
    if ('message' in event && deleted.has(event.message)) continue;
    if (isCreated) {
      if (names.isBot(event.message.authorId)) announce(event.message);
    } else if (event.type === 'message-edited' || event.type === 'ephemeral-edited') {
      announce(event.message);
    } else if (event.type === 'messages-deleted') {
      for (const message of event.messages)
        if (!untold.delete(message.id))
          did(message.id, message.channelId, `${contentOf(message, names)} was deleted`);
    } else if (event.type === 'reaction-added' || event.type === 'reaction-removed') {
      const { message, userId, emoji, type } = event;
      const key = `${message.id} ${userId} ${emoji}`;
      const verb = type === 'reaction-added' ? `reacted ${emoji} to` : `took ${emoji} back from`;
      if (!news.delete(key))
        did(key, message.channelId, `${names.personOf(userId)} ${verb} ${contentOf(message, names)}`);
    } else if (event.type === 'thread-created') {
      const { id, parentId, ownerId, name } = event.thread;
      did(id, parentId, `${names.personOf(ownerId)} opened the thread “${name}”`);
    }
  }
  return [...news.values()];
}
