import { ApplicationCommandType, ApplicationIntegrationType } from 'discord-api-types/v10';
import type { APIApplicationCommand } from 'discord-api-types/v10';

import type { Command } from '../world/entities.ts';
import type { World } from '../world/world.ts';

/** A registered command as Discord lists it. */
export function commandPayload(world: World, command: Command): APIApplicationCommand {
  const { memberPermissions, contexts } = command;
  return {
    id: command.id,
    type: command.type,
    application_id: world.application.id,
    name: command.name,
    description: command.description,
    ...(command.type === ApplicationCommandType.ChatInput ? { options: [...command.options] } : {}),
    default_member_permissions: memberPermissions === undefined ? null : memberPermissions.toString(),
    nsfw: command.nsfw,
    version: command.version,
    ...(command.guildId === undefined
      ? {
          contexts: contexts === undefined ? null : [...contexts],
          integration_types: [ApplicationIntegrationType.GuildInstall],
        }
      : { guild_id: command.guildId }),
  };
}
