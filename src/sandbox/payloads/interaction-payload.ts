import {
  ApplicationCommandOptionType as Type,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ComponentType,
  InteractionContextType,
  Locale,
} from 'discord-api-types/v10';

import type {
  Channel,
  Command,
  Interaction,
  InteractionOption,
  InteractionRequest,
} from '../world/entities.ts';
import { channelPermissions } from '../world/permissions.ts';
import { channelOf, guildIdOf, memberOf, userOf, type World } from '../world/world.ts';
import { channelPayload, memberPayload, rolePayload, userPayload } from './guild-payload.ts';
import { attachmentPayload, interactionTypes, messagePayload } from './message-payload.ts';

/** INTERACTION_CREATE: with `member` in a guild, `user` in a DM. Its messages are readable without an intent. */
export function interactionPayload(world: World, interaction: Interaction, cdnUrl: string): object {
  const { id, token, request, userId } = interaction;
  const channel = channelOf(world, interaction.channelId);
  const guildId = guildIdOf(channel);
  const member = guildId === undefined ? undefined : memberOf(world, guildId, userId);
  const permissions = channelPermissions(world, channel, userId).toString();
  const context = contextOf(channel);
  // Everybody has installed the app for themselves too [EW1].
  const owners = { [ApplicationIntegrationType.UserInstall]: userId };
  const guildInstall = { [ApplicationIntegrationType.GuildInstall]: guildId ?? '0', ...owners };
  return {
    id,
    application_id: world.application.id,
    token,
    version: 1,
    type: interactionTypes[request.kind],
    ...requestPart(world, request, channel, cdnUrl),
    channel_id: channel.id,
    channel: { ...channelPayload(world, channel, userId), permissions },
    ...(member === undefined
      ? { user: userPayload(userOf(world, userId)) }
      : {
          guild_id: guildId,
          guild_locale: Locale.EnglishUS,
          guild: { id: guildId, locale: Locale.EnglishUS, features: [] },
          member: { ...memberPayload(world, member), permissions },
        }),
    context,
    app_permissions: channelPermissions(world, channel, world.botId).toString(),
    locale: Locale.EnglishUS,
    entitlements: [],
    authorizing_integration_owners: isBotIn(world, channel) ? guildInstall : owners,
    attachment_size_limit: 10 * 1024 * 1024,
  };
}

function requestPart(world: World, request: InteractionRequest, channel: Channel, cdnUrl: string): object {
  const messageOf = (message: Parameters<typeof messagePayload>[1]) =>
    messagePayload(world, message, { cdnUrl, readsContent: true });
  switch (request.kind) {
    case 'slash':
    case 'complete': {
      const { command, options, attachments = [] } = request;
      const files = attachments.map((file) => [file.id, attachmentPayload(channel.id, file, cdnUrl)]);
      const roles = resolvedRoles(world, options, channel);
      const resolved = { roles, attachments: Object.fromEntries(files) };
      return { data: { ...commandPart(command), options, resolved } };
    }
    case 'message-menu': {
      const { command, message } = request;
      const messages = { [message.id]: messageOf(message) };
      return { data: { ...commandPart(command), target_id: message.id, resolved: { messages } } };
    }
    case 'component': {
      const { message, component, values } = request;
      const { custom_id, type, id } = component;
      const data = {
        custom_id,
        component_type: type,
        id,
        values: 'options' in component ? values : undefined,
      };
      return { message: messageOf(message), data };
    }
    case 'modal': {
      const { modal, values, message } = request;
      const components = modal.components.map(({ component: { custom_id } }, index) => ({
        type: ComponentType.Label,
        id: 2 * index + 1,
        component: {
          type: ComponentType.TextInput,
          id: 2 * index + 2,
          custom_id,
          value: values.get(custom_id),
        },
      }));
      return { message: message && messageOf(message), data: { custom_id: modal.custom_id, components } };
    }
  }
}

function commandPart({ id, name, type }: Command): object {
  return { id, name, type };
}

/** The roles that options name, by id. */
function resolvedRoles(world: World, options: readonly InteractionOption[], here: Channel): object {
  const guild = world.guilds.get(guildIdOf(here) ?? '');
  const roles = options
    .flatMap((option) => option.options ?? [option])
    .filter(({ type }) => type === Type.Role || type === Type.Mentionable)
    .flatMap(({ value }) => guild?.roles.get(String(value)) ?? []);
  return Object.fromEntries(roles.map((role) => [role.id, rolePayload(role)]));
}

/** Of where somebody uses a command. */
export function contextOf(channel: Channel): InteractionContextType {
  if (channel.kind !== 'dm') return InteractionContextType.Guild;
  return channel.others === undefined ? InteractionContextType.BotDM : InteractionContextType.PrivateChannel;
}

/** Whether the bot is in the channel's guild, or the other side of the DM. */
export function isBotIn(world: World, channel: Channel): boolean {
  if (channel.kind === 'dm') return channel.others === undefined;
  return memberOf(world, channel.guildId, world.botId) !== undefined;
}

/** A registered command as Discord lists it. */
export function commandPayload(world: World, command: Command): object {
  const { id, type, name, description, memberPermissions, contexts, nsfw, version } = command;
  return {
    id,
    type,
    application_id: world.application.id,
    name,
    description,
    options: type === ApplicationCommandType.ChatInput ? [...command.options] : undefined,
    default_member_permissions: memberPermissions?.toString() ?? null,
    contexts: contexts ?? null,
    integration_types: command.installations,
    nsfw,
    version,
  };
}
