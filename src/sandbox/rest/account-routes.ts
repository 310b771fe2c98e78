import {
  ApplicationCommandType,
  type APIApplicationCommandOption,
  type RESTPutAPIApplicationCommandsJSONBody,
} from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';

import {
  applicationPayload,
  channelPayload,
  emojiPayload,
  memberPayload,
  ownGuildPayload,
  guildChannelPayload,
} from '../payloads/guild-payload.ts';
import { commandPayload } from '../payloads/interaction-payload.ts';
import { openDm } from '../world/guilds.ts';
import type { Guild } from '../world/entities.ts';
import { apiErrors } from './api-error.ts';
import { bodyAs, type On, type RestContext } from './rest-context.ts';

/** Where the gateway is, whose the bot is, DMs with people, and guilds with their members and emoji. */
export function accountRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get('/gateway/bot', () => ({
    url: context.urls().gateway,
    shards: context.shards,
    session_start_limit: { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: context.shards },
  }));

  app.get('/applications/@me', () => applicationPayload(world));

  app.get('/users/@me/guilds', () =>
    [...world.guilds.values()]
      .filter(({ members }) => members.has(world.botId))
      .map((guild) => ownGuildPayload(guild, world.botId)),
  );

  app.post('/users/@me/channels', (request) => {
    const { recipient_id: personId } = bodyAs<{ recipient_id: string }>(request.body);
    const person = world.users.get(personId);
    if (person === undefined) throw apiErrors.unknownUser();
    if (person.bot) throw apiErrors.cannotDm();
    return channelPayload(world, openDm(world, personId), world.botId);
  });

  app.get<On<'guild' | 'user'>>('/guilds/:guild/members/:user', (request) => {
    const { guild, user } = request.params;
    const member = guildWithBot(guild).members.get(user === '@me' ? world.botId : user);
    if (member === undefined) throw apiErrors.unknownMember();
    return memberPayload(world, member);
  });

  app.get<On<'guild'>>('/guilds/:guild/channels', ({ params }) => {
    const { id } = guildWithBot(params.guild);
    const channels = [...world.channels.values()];
    return channels.flatMap((channel) =>
      channel.kind === 'text' && channel.guildId === id ? [guildChannelPayload(world, channel)] : [],
    );
  });

  app.get<On<'guild'>>('/guilds/:guild/emojis', (request) =>
    Array.from(guildWithBot(request.params.guild).emojis.values(), emojiPayload),
  );

  function guildWithBot(id: string): Guild {
    const guild = world.guilds.get(id);
    if (guild === undefined || !guild.members.has(world.botId)) throw apiErrors.unknownGuild();
    return guild;
  }
}

/** The application's commands. */
export function commandRoutes(app: FastifyInstance, { world }: RestContext): void {
  const path = `/applications/${world.application.id}/commands`;

  app.get(path, registered);
  // The sandbox keeps no commands of single servers.
  app.get(`/applications/${world.application.id}/guilds/:guild/commands`, () => []);

  app.put(path, ({ body }) => {
    const forms = bodyAs<RESTPutAPIApplicationCommandsJSONBody>(body);
    const previous = [...world.commands.values()];
    world.commands.clear();
    for (const form of forms) {
      const type =
        form.type === ApplicationCommandType.Message ? form.type : ApplicationCommandType.ChatInput;
      // A command keeps its id as long as its name stays.
      const same = previous.find((command) => command.name === form.name && command.type === type);
      const id = same?.id ?? world.nextId();
      const permissions = form.default_member_permissions;
      world.commands.set(id, {
        id,
        type,
        name: form.name,
        description: 'description' in form ? (form.description ?? '') : '',
        options: 'options' in form ? bodyAs<APIApplicationCommandOption[]>(form.options ?? []) : [],
        memberPermissions: typeof permissions === 'string' ? BigInt(permissions) : undefined,
        contexts: form.contexts ?? undefined,
        installations: form.integration_types ?? undefined,
        nsfw: form.nsfw ?? false,
        version: world.nextId(),
      });
    }
    return registered();
  });

  function registered(): readonly object[] {
    return Array.from(world.commands.values(), (command) => commandPayload(world, command));
  }
}
