import type { APIEmoji } from 'discord-api-types/v10';

import type { GuildEmoji } from '../world/entities.ts';

/** An emoji of a guild's own. */
export function emojiPayload({ id, name }: GuildEmoji): APIEmoji {
  return { id, name, roles: [], require_colons: true, managed: false, animated: false, available: true };
}

/** The emoji of a reaction, from the key under which it is kept: itself, or `name:id`. */
export function reactionEmoji(key: string): { readonly id: string | null; readonly name: string } {
  const { name, id } = /^(?<name>\w+):(?<id>\d+)$/u.exec(key)?.groups ?? {};
  return name === undefined || id === undefined ? { id: null, name: key } : { id, name };
}
