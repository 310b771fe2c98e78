import {
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  InteractionType,
  Locale,
} from 'discord-api-types/v10';
import type { APIApplicationCommand } from 'discord-api-types/v10';

import type { Command, Interaction } from '../world/entities.ts';
import { channelPermissions } from '../world/permissions.ts';
import { channelOf, guildIdOf, memberOf, userOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { channelPayload } from './channel-payload.ts';
import { memberPayload } from './guild-payload.ts';
import { userPayload } from './user-payload.ts';

/** INTERACTION_CREATE for a slash command: with `member` in a guild, with `user` in a DM. */
export function interactionPayload(world: World, interaction: Interaction): object {
  const channel = channelOf(world, interaction.channelId);
  const guildId = guildIdOf(channel);
  const member = guildId === undefined ? undefined : memberOf(world, guildId, interaction.userId);
  const permissions = channelPermissions(world, channel, interaction.userId).toString();
  return {
    id: interaction.id,
    application_id: world.application.id,
    type: InteractionType.ApplicationCommand,
    token: interaction.token,
    version: 1,
    data: {
      id: interaction.command.id,
      name: interaction.command.name,
      type: ApplicationCommandType.ChatInput,
      ...(interaction.options.length === 0 ? {} : { options: interaction.options }),
      ...(interaction.command.guildId === undefined ? {} : { guild_id: interaction.command.guildId }),
    },
    channel_id: channel.id,
    channel: { ...channelPayload(world, channel, interaction.userId), permissions },
    ...(guildId === undefined || member === undefined
      ? { user: userPayload(userOf(world, interaction.userId)), context: InteractionContextType.BotDM }
      : {
          guild_id: guildId,
          guild: { id: guildId, locale: Locale.EnglishUS, features: [] },
          guild_locale: Locale.EnglishUS,
          member: { ...memberPayload(world, member), permissions },
          context: InteractionContextType.Guild,
        }),
    app_permissions: channelPermissions(world, channel, world.botId).toString(),
    locale: Locale.EnglishUS,
    entitlements: [],
    authorizing_integration_owners: { [ApplicationIntegrationType.GuildInstall]: guildId ?? '0' },
    attachment_size_limit: 10 * 1024 * 1024,
  };
}

/** A registered command as Discord lists it. */
export function commandPayload(world: World, command: Command): APIApplicationCommand {
  return {
    id: command.id,
    type: command.type,
    application_id: world.application.id,
    ...(command.guildId === undefined ? {} : { guild_id: command.guildId }),
    name: command.name,
    description: command.description,
    options: [...command.options],
    default_member_permissions: null,
    nsfw: false,
    version: command.version,
  };
}
