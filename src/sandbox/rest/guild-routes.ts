import { Snowflake } from '@sapphire/snowflake';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { guildChannelPayload, threadMemberPayload, threadPayload } from '../payloads/channel-payload.ts';
import { emojiPayload } from '../payloads/emoji-payload.ts';
import { guildPayload, memberPayload, rolePayload } from '../payloads/guild-payload.ts';
import { activeThreads } from '../world/active-threads.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { guildWithBot } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const memberPageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(1),
  after: z.string().default('0'),
});

interface InGuild {
  readonly Params: { readonly guild: string };
}
interface OnMember {
  readonly Params: { readonly guild: string; readonly user: string };
}

/** Guilds with their members, roles, emoji, channels and active threads. */
export function guildRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<InGuild>('/guilds/:guild', (request) => guildPayload(guildWithBot(context, request.params.guild)));

  app.get<InGuild>('/guilds/:guild/members', (request) => {
    const guild = guildWithBot(context, request.params.guild);
    if (!world.application.privileged.guildMembers) throw apiErrors.missingAccess();
    const { limit, after } = parseForm(memberPageSchema, request.query);
    return [...guild.members.values()]
      .filter(({ userId }) => Snowflake.compare(userId, after) > 0)
      .toSorted((a, b) => Snowflake.compare(a.userId, b.userId))
      .slice(0, limit)
      .map((member) => memberPayload(world, member));
  });

  app.get<OnMember>('/guilds/:guild/members/:user', (request) => {
    const guild = guildWithBot(context, request.params.guild);
    const member = guild.members.get(request.params.user === '@me' ? world.botId : request.params.user);
    if (member === undefined) throw apiErrors.unknownMember();
    return memberPayload(world, member);
  });

  app.get<InGuild>('/guilds/:guild/emojis', (request) =>
    Array.from(guildWithBot(context, request.params.guild).emojis.values(), emojiPayload),
  );

  app.get<InGuild>('/guilds/:guild/roles', (request) =>
    Array.from(guildWithBot(context, request.params.guild).roles.values(), rolePayload),
  );

  app.get<InGuild>('/guilds/:guild/channels', (request) => {
    const guild = guildWithBot(context, request.params.guild);
    return [...world.channels.values()].flatMap((channel) =>
      channel.kind === 'text' && channel.guildId === guild.id ? [guildChannelPayload(world, channel)] : [],
    );
  });

  app.get<InGuild>('/guilds/:guild/threads/active', (request) => {
    const guild = guildWithBot(context, request.params.guild);
    const threads = activeThreads(world, guild.id);
    return {
      threads: threads.map((thread) => threadPayload(world, thread, world.botId)),
      members: threads
        .filter((thread) => thread.members.has(world.botId))
        .map((thread) => threadMemberPayload(thread, world.botId)),
    };
  });
}
