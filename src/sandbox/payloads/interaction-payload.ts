import {
  ApplicationCommandOptionType as Type,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ComponentType,
  InteractionContextType,
  InteractionType,
  Locale,
  type APIApplicationCommand,
} from 'discord-api-types/v10';

import type {
  Channel,
  Command,
  Interaction,
  InteractionOption,
  InteractionRequest,
  ModalField,
} from '../world/entities.ts';
import { channelPermissions } from '../world/permissions.ts';
import { channelOf, guildIdOf, memberOf, userOf, type World } from '../world/world.ts';
import { channelPayload } from './channel-payload.ts';
import { memberPayload, rolePayload } from './guild-payload.ts';
import { attachmentPayload, messagePayload } from './message-payload.ts';
import { userPayload } from './user-payload.ts';

/** INTERACTION_CREATE: with `member` in a guild, `user` in a DM. Its messages are readable without an intent. */
export function interactionPayload(world: World, interaction: Interaction, cdnUrl: string): object {
  const channel = channelOf(world, interaction.channelId);
  const guildId = guildIdOf(channel);
  const member = guildId === undefined ? undefined : memberOf(world, guildId, interaction.userId);
  const permissions = channelPermissions(world, channel, interaction.userId).toString();
  return {
    id: interaction.id,
    application_id: world.application.id,
    token: interaction.token,
    version: 1,
    ...requestPart(world, interaction.request, channel, cdnUrl),
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

export function interactionType(request: InteractionRequest): InteractionType {
  switch (request.kind) {
    case 'slash':
    case 'message-menu':
      return InteractionType.ApplicationCommand;
    case 'complete':
      return InteractionType.ApplicationCommandAutocomplete;
    case 'component':
      return InteractionType.MessageComponent;
    case 'modal':
      return InteractionType.ModalSubmit;
  }
}

function requestPart(world: World, request: InteractionRequest, channel: Channel, cdnUrl: string): object {
  const view = { cdnUrl, readsContent: true };
  const type = interactionType(request);
  switch (request.kind) {
    case 'slash':
    case 'complete': {
      const { command, options, attachments = [] } = request;
      const files = attachments.map((file) => [file.id, attachmentPayload(world, channel.id, file, view)]);
      const resolved = {
        roles: resolvedRoles(world, options, channel),
        attachments: Object.fromEntries(files),
      };
      return { type, data: { ...commandPart(command), options, resolved } };
    }
    case 'message-menu': {
      const { command, message } = request;
      const messages = { [message.id]: messagePayload(world, message, view) };
      return { type, data: { ...commandPart(command), target_id: message.id, resolved: { messages } } };
    }
    case 'component': {
      const { message, component, values } = request;
      return {
        type,
        message: messagePayload(world, message, view),
        data: {
          custom_id: component.custom_id,
          component_type: component.type,
          id: component.id,
          values: 'options' in component ? values : undefined,
        },
      };
    }
    case 'modal': {
      const { modal, values, message } = request;
      return {
        type,
        message: message && messagePayload(world, message, view),
        data: {
          custom_id: modal.customId,
          components: modal.fields.map((field) => submittedField(field, values.get(field.customId) ?? '')),
        },
      };
    }
  }
}

/** A field as the bot gets it back, in its label. */
function submittedField({ customId, ids: [labelId, id] }: ModalField, value: string): object {
  const component = { type: ComponentType.TextInput, id, custom_id: customId, value };
  return { type: ComponentType.Label, id: labelId, component };
}

function commandPart(command: Command): object {
  return {
    id: command.id,
    name: command.name,
    type: command.type,
    guild_id: command.guildId,
  };
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

/** A registered command as Discord lists it. */
export function commandPayload(world: World, command: Command): APIApplicationCommand {
  const { memberPermissions, contexts } = command;
  return {
    id: command.id,
    type: command.type,
    application_id: world.application.id,
    name: command.name,
    description: command.description,
    options: command.type === ApplicationCommandType.ChatInput ? [...command.options] : undefined,
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
