import { Snowflake } from '@sapphire/snowflake';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { channelPayload } from '../payloads/channel-payload.ts';
import { guildPayload, memberPayload, ownGuildPayload } from '../payloads/guild-payload.ts';
import { applicationPayload, emojiPayload, userPayload } from '../payloads/user-payload.ts';
import { openDm } from '../world/channels.ts';
import { userOf } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { guildWithBot, type On, type RestContext } from './rest-context.ts';

const guildPageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(200),
  after: z.string().default('0'),
});
const dmSchema = z.object({ recipient_id: z.string() });

/** Where the gateway is, who the bot is, whose it is, and who others are, and DMs with them. */
export function accountRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get('/gateway/bot', () => ({
    url: context.urls().gateway,
    ...context.gatewayFacts(),
  }));

  app.get('/users/@me', () => userPayload(userOf(world, world.botId)));

  app.get('/users/@me/guilds', (request) => {
    const { limit, after } = parseForm(guildPageSchema, request.query);
    return [...world.guilds.values()]
      .filter(({ id, members }) => members.has(world.botId) && Snowflake.compare(id, after) > 0)
      .toSorted((a, b) => Snowflake.compare(a.id, b.id))
      .slice(0, limit)
      .map((guild) => ownGuildPayload(guild, world.botId));
  });

  app.get<On<'user'>>('/users/:user', (request) => {
    const user = world.users.get(request.params.user);
    if (user === undefined) throw apiErrors.unknownUser();
    return userPayload(user);
  });

  app.post('/users/@me/channels', (request) => {
    const { recipient_id: personId } = parseForm(dmSchema, request.body);
    const person = world.users.get(personId);
    if (person === undefined) throw apiErrors.unknownUser();
    if (person.bot) throw apiErrors.cannotDm();
    return channelPayload(world, openDm(world, personId), world.botId);
  });

  app.get('/applications/@me', () => applicationPayload(world));
}

/** Guilds with their members and emoji. */
export function guildRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<On<'guild'>>('/guilds/:guild', (request) =>
    guildPayload(guildWithBot(context, request.params.guild)),
  );

  app.get<On<'guild' | 'user'>>('/guilds/:guild/members/:user', (request) => {
    const guild = guildWithBot(context, request.params.guild);
    const member = guild.members.get(request.params.user === '@me' ? world.botId : request.params.user);
    if (member === undefined) throw apiErrors.unknownMember();
    return memberPayload(world, member);
  });

  app.get<On<'guild'>>('/guilds/:guild/emojis', (request) =>
    Array.from(guildWithBot(context, request.params.guild).emojis.values(), emojiPayload),
  );
}
