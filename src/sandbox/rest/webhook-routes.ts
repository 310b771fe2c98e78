import { MessageFlags } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';

import { messagePayload } from '../payloads/message-payload.ts';
import type { Interaction, Message } from '../world/entities.ts';
import { deleteAnyMessage, isThere } from '../world/ephemerals.ts';
import { advanceInteraction, ageOf, failIfLate, findInteractionByToken } from '../world/interactions.ts';
import { apiErrors } from './api-error.ts';
import { answerWith, fillAnswer, postAnswer } from './interaction-answers.ts';
import { parseMessageForm, requireContent } from './message-form.ts';
import { restView } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

/** How long an interaction's token is good, in milliseconds. */
const tokenLifetime = 15 * 60_000;

interface OnWebhook {
  readonly Params: { readonly application: string; readonly token: string };
}
interface OnAnswer {
  readonly Params: { readonly application: string; readonly token: string; readonly message: string };
}

/** What comes after the first response to an interaction: follow-ups, edits, deletions. The token is the authorisation. */
export function webhookRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.post<OnWebhook>('/webhooks/:application/:token', (request) => {
    const interaction = acknowledged(request.params);
    const form = parseMessageForm(request.body);
    requireContent(form);
    const loading = loadingAnswer(interaction);
    // As in Discord, the first message after a deferral fills in the deferred answer.
    if (loading !== undefined) {
      fillAnswer(world, interaction, loading, form);
      return payload(loading);
    }
    const followUp = postAnswer(world, interaction, form, 0);
    advanceInteraction(world, interaction, { state: 'answered', followUp });
    return payload(followUp);
  });

  app.get<OnAnswer>('/webhooks/:application/:token/messages/:message', ({ params }) =>
    payload(answerWith(world, acknowledged(params), params.message)),
  );

  app.patch<OnAnswer>('/webhooks/:application/:token/messages/:message', ({ params, body }) => {
    const interaction = acknowledged(params);
    const message = answerWith(world, interaction, params.message);
    fillAnswer(world, interaction, message, parseMessageForm(body));
    return payload(message);
  });

  app.delete<OnAnswer>('/webhooks/:application/:token/messages/:message', ({ params }, reply) => {
    const interaction = acknowledged(params);
    deleteAnyMessage(world, answerWith(world, interaction, params.message));
    // A deferred answer that is taken back ends the wait for it.
    advanceInteraction(world, interaction, { state: 'answered' });
    return reply.code(204).send();
  });

  function acknowledged(params: OnWebhook['Params']): Interaction {
    const interaction = findInteractionByToken(world, params.token);
    const valid = interaction !== undefined && params.application === world.application.id;
    if (!valid || ageOf(world, interaction) > tokenLifetime) throw apiErrors.invalidWebhookToken();
    failIfLate(world, interaction);
    if (interaction.state === 'waiting' || interaction.state === 'failed') throw apiErrors.unknownWebhook();
    return interaction;
  }

  function loadingAnswer({ original }: Interaction): Message | undefined {
    if (original === undefined || !isThere(world, original)) return undefined;
    return (original.flags & MessageFlags.Loading) === 0 ? undefined : original;
  }

  function payload(message: Message): object {
    return messagePayload(world, message, restView(context));
  }
}
