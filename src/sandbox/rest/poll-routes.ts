import { Snowflake } from '@sapphire/snowflake';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { messagePayload } from '../payloads/message-payload.ts';
import { userPayload } from '../payloads/user-payload.ts';
import { isOver } from '../world/poll.ts';
import { closePoll, hasPoll } from '../world/polls.ts';
import { userOf } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { messageIn, restView, viewableChannel } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(25),
  after: z.string().default('0'),
});

interface OnPoll {
  readonly Params: { readonly channel: string; readonly message: string };
}
interface OnAnswer {
  readonly Params: OnPoll['Params'] & { readonly answer: string };
}

/** Who voted for what, and the end of the bot's own polls. */
export function pollRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<OnAnswer>('/channels/:channel/polls/:message/answers/:answer', (request) => {
    const message = messageIn(
      context,
      viewableChannel(context, request.params.channel),
      request.params.message,
    );
    const { limit, after } = parseForm(pageSchema, request.query);
    const voters = hasPoll(message) ? message.poll.votes.get(Number(request.params.answer)) : undefined;
    const users = [...(voters ?? [])]
      .filter((id) => Snowflake.compare(id, after) > 0)
      .toSorted((a, b) => Snowflake.compare(a, b))
      .slice(0, limit)
      .map((id) => userPayload(userOf(world, id)));
    return { users };
  });

  app.post<OnPoll>('/channels/:channel/polls/:message/expire', (request) => {
    const message = messageIn(
      context,
      viewableChannel(context, request.params.channel),
      request.params.message,
    );
    if (!hasPoll(message)) throw apiErrors.notAPoll();
    if (message.authorId !== world.botId) throw apiErrors.foreignMessage();
    if (isOver(message.poll, world.now())) throw apiErrors.pollOver();
    closePoll(world, message);
    return messagePayload(world, message, restView(context));
  });
}
