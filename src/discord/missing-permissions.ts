import { Events, type Client, type Guild } from 'discord.js';

import type { Logger } from '../core/logger.ts';
import { neededPermissions } from './needs.ts';

/**
 * Says in the log, once for each server of a ready client and for each that the bot comes into later, which permissions it was not given
 * there: what needs them is refused or left out, and its owner should know why.
 */
export function reportMissingPermissions(client: Client, logger: Logger): void {
  for (const guild of client.guilds.cache.values()) report(guild, logger);
  client.on(Events.GuildCreate, (guild) => report(guild, logger));
}

function report({ id, members }: Guild, logger: Logger): void {
  const missing =
    members.me?.permissions.missing(neededPermissions.map(({ permission }) => permission)) ?? [];
  if (missing.length > 0)
    logger.warn('the bot lacks permissions in a server', { guildId: id, permissions: missing });
}
