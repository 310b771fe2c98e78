import type { APIUser } from 'discord-api-types/v10';

import type { User } from '../world/entities.ts';

/** A user as Discord shows one; `bot` is left out for people. */
export function userPayload(user: User): APIUser {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.bot ? '0001' : '0',
    global_name: null,
    avatar: null,
    ...(user.bot ? { bot: true } : {}),
  };
}
