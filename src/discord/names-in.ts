import type { APIUser, Client, User } from 'discord.js';

import { isPublic } from './place-of.ts';
import type { Names } from './readable-text.ts';

/** Where a text was written, and whom Discord says it mentions. */
export interface TextOrigin {
  readonly channelId: string;
  readonly guildId: string | null;
  readonly mentioned: readonly (User | APIUser)[];
}

/**
 * The names of what a text mentions, from the caches alone. Nobody is told the name of a channel that not everybody can see, unless
 * the text stands in it.
 */
export function namesIn(client: Client, { channelId, guildId, mentioned }: TextOrigin): Names {
  const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
  return {
    user(id) {
      const user = mentioned.find((one) => one.id === id) ?? client.users.cache.get(id);
      return guild?.members.cache.get(id)?.displayName ?? (user === undefined ? undefined : userName(user));
    },
    channel(id) {
      const channel = guild?.channels.cache.get(id);
      return channel !== undefined && (id === channelId || isPublic(channel)) ? channel.name : undefined;
    },
    role: (id) => guild?.roles.cache.get(id)?.name,
  };
}

/** The name a person goes by where they have no nickname. */
export function userName(user: User | APIUser): string {
  const chosen = 'globalName' in user ? user.globalName : user.global_name;
  return chosen ?? user.username;
}
