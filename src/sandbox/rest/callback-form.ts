import { InteractionResponseType } from 'discord-api-types/v10';
import { z } from 'zod';

import type { InteractionRequest } from '../world/entities.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { modalOf, modalSchema } from './modal-form.ts';

const choicesSchema = z
  .array(z.object({ name: z.string().min(1).max(100), value: z.string().min(1).max(100) }))
  .max(25);

const callbackSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal(InteractionResponseType.ChannelMessageWithSource), data: z.unknown() }),
  z.object({ type: z.literal(InteractionResponseType.DeferredChannelMessageWithSource), data: z.unknown() }),
  z.object({ type: z.literal(InteractionResponseType.DeferredMessageUpdate) }),
  z.object({ type: z.literal(InteractionResponseType.UpdateMessage), data: z.unknown() }),
  z
    .object({ type: z.literal(InteractionResponseType.Modal), data: modalSchema })
    .transform(({ type, data }) => ({ type, modal: modalOf(data) })),
  z
    .object({
      type: z.literal(InteractionResponseType.ApplicationCommandAutocompleteResult),
      data: z.object({ choices: choicesSchema.optional() }),
    })
    .transform(({ type, data }) => ({ type, choices: data.choices ?? [] })),
]);

export type Callback = z.output<typeof callbackSchema>;

const messageTypes = [
  InteractionResponseType.ChannelMessageWithSource,
  InteractionResponseType.DeferredChannelMessageWithSource,
] as const;

/** Reads a first response. @throws {ApiError} 50035 for a response that a request of this kind does not take. */
export function parseCallback(request: InteractionRequest, body: unknown): Callback {
  const callback = parseForm(callbackSchema, body);
  if (!responsesTo(request).includes(callback.type)) {
    throw apiErrors.invalidField(
      ['type'],
      'INTERACTION_RESPONSE_TYPE_INVALID',
      `A response of type ${callback.type} does not fit this interaction.`,
    );
  }
  return callback;
}

const updateTypes = [
  InteractionResponseType.DeferredMessageUpdate,
  InteractionResponseType.UpdateMessage,
] as const;

function responsesTo(request: InteractionRequest): readonly InteractionResponseType[] {
  switch (request.kind) {
    case 'slash':
    case 'message-menu':
      return [...messageTypes, InteractionResponseType.Modal];
    case 'component':
      return [...messageTypes, ...updateTypes, InteractionResponseType.Modal];
    case 'modal':
      // No modal opens another one.
      return request.message === undefined ? messageTypes : [...messageTypes, ...updateTypes];
    case 'complete':
      return [InteractionResponseType.ApplicationCommandAutocompleteResult];
  }
}
