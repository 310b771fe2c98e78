import { Snowflake } from '@sapphire/snowflake';

import type { Message } from './entities.ts';

/** Which part of a channel's history is asked for; at most one of `before`, `after`, `around`. */
export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly around?: string | undefined;
}

/** One page of a channel's messages (given oldest first), newest first as Discord answers. */
export function messagePage(messages: readonly Message[], request: PageRequest): readonly Message[] {
  return selected(messages, request).toReversed();
}

function selected(messages: readonly Message[], request: PageRequest): readonly Message[] {
  const { limit, before, after, around } = request;
  if (around !== undefined) {
    const half = Math.floor(limit / 2);
    const older = messages.filter((message) => Snowflake.compare(message.id, around) < 0);
    const rest = messages.slice(older.length);
    return [...older.slice(Math.max(0, older.length - half)), ...rest.slice(0, limit - half)];
  }
  if (after !== undefined) {
    return messages.filter((message) => Snowflake.compare(message.id, after) > 0).slice(0, limit);
  }
  const older =
    before === undefined ? messages : messages.filter((message) => Snowflake.compare(message.id, before) < 0);
  return older.slice(Math.max(0, older.length - limit));
}
