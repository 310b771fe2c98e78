import {
  ApplicationCommandOptionType,
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
import { memberPayload, memberPayloadWithoutUser, rolePayload } from './guild-payload.ts';
import { attachmentPayload, messagePayload } from './message-payload.ts';
import { userPayload } from './user-payload.ts';

/** INTERACTION_CREATE: with `member` in a guild, with `user` in a DM. Messages in it can be read whatever the intents are. */
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
    ...requestPart(world, interaction.request, { userId: interaction.userId, channel }, cdnUrl),
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
    case 'user-menu':
      return InteractionType.ApplicationCommand;
    case 'complete':
      return InteractionType.ApplicationCommandAutocomplete;
    case 'component':
      return InteractionType.MessageComponent;
    case 'modal':
      return InteractionType.ModalSubmit;
  }
}

function requestPart(world: World, request: InteractionRequest, asker: Asker, cdnUrl: string): object {
  const view = { cdnUrl, readsContent: true };
  const type = interactionType(request);
  switch (request.kind) {
    case 'slash':
    case 'complete': {
      const { command, options, attachments = [] } = request;
      const files = attachments.map((file) => [
        file.id,
        attachmentPayload(world, asker.channel.id, file, view),
      ]);
      const resolved = {
        ...resolvedValues(world, options, asker),
        ...(files.length === 0 ? {} : { attachments: Object.fromEntries(files) }),
      };
      const data = { ...commandPart(command), ...(options.length === 0 ? {} : { options }) };
      return { type, data: Object.keys(resolved).length === 0 ? data : { ...data, resolved } };
    }
    case 'message-menu': {
      const { command, message } = request;
      const messages = { [message.id]: messagePayload(world, message, view) };
      return { type, data: { ...commandPart(command), target_id: message.id, resolved: { messages } } };
    }
    case 'user-menu': {
      const { command, targetId } = request;
      const resolved = resolvedUsers(world, [targetId], asker.channel);
      return { type, data: { ...commandPart(command), target_id: targetId, resolved } };
    }
    case 'component': {
      const { message, component, values } = request;
      return {
        type,
        message: messagePayload(world, message, view),
        data: {
          custom_id: component.custom_id,
          component_type: component.type,
          ...(component.id === undefined ? {} : { id: component.id }),
          ...('options' in component ? { values } : {}),
        },
      };
    }
    case 'modal': {
      const { modal, values, message } = request;
      return {
        type,
        ...(message === undefined ? {} : { message: messagePayload(world, message, view) }),
        data: {
          custom_id: modal.customId,
          components: modal.fields.map((field) => submittedField(field, values.get(field.customId) ?? '')),
        },
      };
    }
  }
}

/** A field as the bot gets it back, in what it lay in. */
function submittedField({ customId, holder, ids: [holderId, id] }: ModalField, value: string): object {
  const field = { type: ComponentType.TextInput, id, custom_id: customId, value };
  return holder === 'label'
    ? { type: ComponentType.Label, id: holderId, component: field }
    : { type: ComponentType.ActionRow, id: holderId, components: [field] };
}

function commandPart(command: Command): object {
  return {
    id: command.id,
    name: command.name,
    type: command.type,
    ...(command.guildId === undefined ? {} : { guild_id: command.guildId }),
  };
}

/** Who asks, and where. */
interface Asker {
  readonly userId: string;
  readonly channel: Channel;
}

/** The users, channels and roles that options name; empty where they name none. */
function resolvedValues(
  world: World,
  options: readonly InteractionOption[],
  { userId, channel: here }: Asker,
): object {
  const given = options.flatMap((option) => option.options ?? [option]);
  const idsOf = (wanted: ApplicationCommandOptionType): readonly string[] =>
    given.flatMap(({ type, value }) => (type === wanted && typeof value === 'string' ? [value] : []));
  const userIds = idsOf(ApplicationCommandOptionType.User).filter((id) => world.users.has(id));
  const channels = idsOf(ApplicationCommandOptionType.Channel).flatMap((id) => world.channels.get(id) ?? []);
  const guild = world.guilds.get(guildIdOf(here) ?? '');
  const roles = idsOf(ApplicationCommandOptionType.Role).flatMap((id) => guild?.roles.get(id) ?? []);
  return {
    ...(userIds.length === 0 ? {} : resolvedUsers(world, userIds, here)),
    ...(roles.length === 0
      ? {}
      : { roles: Object.fromEntries(roles.map((role) => [role.id, rolePayload(role)])) }),
    ...(channels.length === 0
      ? {}
      : {
          channels: Object.fromEntries(
            channels.map((channel) => {
              const permissions = channelPermissions(world, channel, userId).toString();
              return [channel.id, { ...channelPayload(world, channel, userId), permissions }];
            }),
          ),
        }),
  };
}

/** Users, and in a guild what they are there as members. */
function resolvedUsers(world: World, ids: readonly string[], here: Channel): object {
  const guildId = guildIdOf(here);
  const members = ids.flatMap((id) => {
    const member = guildId === undefined ? undefined : memberOf(world, guildId, id);
    const permissions = channelPermissions(world, here, id).toString();
    return member === undefined ? [] : [[id, { ...memberPayloadWithoutUser(member), permissions }]];
  });
  return {
    users: Object.fromEntries(ids.map((id) => [id, userPayload(userOf(world, id))])),
    ...(members.length === 0 ? {} : { members: Object.fromEntries(members) }),
  };
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
