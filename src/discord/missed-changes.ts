import type { Message } from 'discord.js';

import type { RememberedMessage } from '../core/chat.ts';
import { compareSnowflakes } from '../core/snowflake.ts';

/** What of a channel was fetched, oldest first. */
export interface FetchedMessages {
  readonly messages: readonly Message[];
  /** All of the time in question; otherwise there are more after the last. */
  readonly isWhole: boolean;
}

/** What happened to remembered messages while nobody told the bot [G5]. */
export interface MissedChanges {
  readonly deleted: readonly string[];
  /** Perhaps edited: whether their text is another one is for the log to say. */
  readonly edited: readonly Message[];
}

/** Compares what was remembered before the fetch with what stands in the channel. */
export function missedChanges(
  remembered: readonly RememberedMessage[],
  { messages, isWhole }: FetchedMessages,
): MissedChanges {
  const standing = new Map(messages.map((message) => [message.id, message]));
  const last = messages.at(-1)?.id;
  const isCovered = (id: string): boolean =>
    isWhole || (last !== undefined && compareSnowflakes(id, last) <= 0);
  const ids = remembered.flatMap((message) => message.ids);
  const edited = remembered.flatMap((message) => {
    const present = message.isOwn ? undefined : standing.get(message.ids[0] ?? '');
    // Discord keeps the words back from a bot that may not read them.
    return present === undefined || present.editedTimestamp === null || present.content === ''
      ? []
      : [present];
  });
  return { deleted: ids.filter((id) => isCovered(id) && !standing.has(id)), edited };
}
