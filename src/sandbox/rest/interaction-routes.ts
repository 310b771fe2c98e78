import { InteractionResponseType, MessageFlags } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { interactionType } from '../payloads/interaction-payload.ts';
import { messagePayload } from '../payloads/message-payload.ts';
import type { Interaction, Message } from '../world/entities.ts';
import { isEphemeral, isThere } from '../world/ephemerals.ts';
import { advanceInteraction, failIfLate } from '../world/interactions.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { parseCallback } from './callback-form.ts';
import type { Callback } from './callback-form.ts';
import { fillAnswer, postAnswer } from './interaction-answers.ts';
import { parseMessageForm, requireContent } from './message-form.ts';
import type { MessageForm } from './message-form.ts';
import { restView } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';
import { Upload } from './upload.ts';

const querySchema = z.object({ with_response: z.enum(['true', 'false']).default('false') });

interface OnInteraction {
  readonly Params: { readonly interaction: string; readonly token: string };
}

/** The first response to an interaction. The token in the path is the authorisation. */
export function interactionRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.post<OnInteraction>('/interactions/:interaction/:token/callback', (request, reply) => {
    const interaction = waitingInteraction(request.params);
    const upload = request.body instanceof Upload ? request.body : undefined;
    const callback = parseCallback(interaction.request, upload?.payload ?? request.body);
    const message = respond(interaction, callback, (data) =>
      parseMessageForm(upload === undefined ? data : new Upload(data, upload.files)),
    );
    if (parseForm(querySchema, request.query).with_response === 'false') return reply.code(204).send();
    return {
      interaction: {
        id: interaction.id,
        type: interactionType(interaction.request),
        ...(message === undefined
          ? {}
          : {
              response_message_id: message.id,
              response_message_loading: (message.flags & MessageFlags.Loading) !== 0,
              response_message_ephemeral: isEphemeral(message),
            }),
      },
      resource: {
        type: callback.type,
        ...(message === undefined ? {} : { message: messagePayload(world, message, restView(context)) }),
      },
    };
  });

  function waitingInteraction({ interaction: id, token }: OnInteraction['Params']): Interaction {
    const interaction = world.interactions.get(id);
    if (interaction === undefined || interaction.token !== token) throw apiErrors.unknownInteraction();
    failIfLate(world, interaction);
    switch (interaction.state) {
      case 'waiting':
        return interaction;
      case 'failed':
        throw apiErrors.unknownInteraction();
      case 'deferred':
      case 'answered':
        throw apiErrors.alreadyAcknowledged();
    }
  }

  /** Does what the callback says; gives the message that it made or changed, if any. */
  function respond(
    interaction: Interaction,
    callback: Callback,
    formOf: (data: unknown) => MessageForm,
  ): Message | undefined {
    switch (callback.type) {
      case InteractionResponseType.ChannelMessageWithSource: {
        const form = formOf(callback.data);
        requireContent(form);
        return begin(interaction, form, 0);
      }
      case InteractionResponseType.DeferredChannelMessageWithSource:
        return begin(interaction, formOf(callback.data), MessageFlags.Loading);
      case InteractionResponseType.DeferredMessageUpdate: {
        const original = componentMessage(interaction);
        advanceInteraction(world, interaction, {
          state: 'deferred',
          ephemeral: isEphemeral(original),
          original,
        });
        return undefined;
      }
      case InteractionResponseType.UpdateMessage: {
        const original = componentMessage(interaction);
        fillAnswer(world, interaction, original, formOf(callback.data));
        advanceInteraction(world, interaction, {
          state: 'answered',
          ephemeral: isEphemeral(original),
          original,
        });
        return original;
      }
      case InteractionResponseType.ApplicationCommandAutocompleteResult:
        advanceInteraction(world, interaction, { state: 'answered', choices: callback.choices });
        return undefined;
    }
  }

  function begin(interaction: Interaction, form: MessageForm, extraFlags: number): Message {
    const original = postAnswer(world, interaction, form, extraFlags);
    advanceInteraction(world, interaction, {
      state: extraFlags === 0 ? 'answered' : 'deferred',
      ephemeral: isEphemeral(original),
      original,
    });
    return original;
  }

  function componentMessage({ request }: Interaction): Message {
    if (request.kind !== 'component' || !isThere(world, request.message)) throw apiErrors.unknownMessage();
    return request.message;
  }
}
