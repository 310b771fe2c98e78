import { InteractionResponseType, InteractionType, MessageFlags, MessageType } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { messagePayload } from '../payloads/message-payload.ts';
import type { Interaction, Message } from '../world/entities.ts';
import { advanceInteraction, findInteractionByToken } from '../world/interactions.ts';
import { mentionsIn } from '../world/mentions.ts';
import { createMessage, deleteMessage, draftMessage, editMessage, findMessage } from '../world/messages.ts';
import { snowflakeTime } from '../world/snowflake-source.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { parseMessageForm, requireContent } from './message-form.ts';
import type { MessageForm } from './message-form.ts';
import { restView } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';
import { Upload } from './upload.ts';

/** How long the bot has for its first response, and how long the token is good, in milliseconds. */
const firstResponseWithin = 3_000;
const tokenLifetime = 15 * 60_000;

const callbackSchema = z.object({
  type: z.union([
    z.literal(InteractionResponseType.ChannelMessageWithSource),
    z.literal(InteractionResponseType.DeferredChannelMessageWithSource),
  ]),
  data: z.unknown(),
});
const querySchema = z.object({ with_response: z.enum(['true', 'false']).default('false') });

interface OnInteraction {
  readonly Params: { readonly interaction: string; readonly token: string };
}
interface OnWebhook {
  readonly Params: { readonly application: string; readonly token: string };
}
interface OnAnswer {
  readonly Params: { readonly application: string; readonly token: string; readonly message: string };
}

/** Answers to slash commands. The token in the path is the authorisation; an ephemeral answer enters no channel. */
export function interactionRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.post<OnInteraction>('/interactions/:interaction/:token/callback', (request, reply) => {
    const interaction = world.interactions.get(request.params.interaction);
    if (interaction === undefined || interaction.token !== request.params.token)
      throw apiErrors.unknownInteraction();
    if (interaction.state !== 'waiting') throw apiErrors.alreadyAcknowledged();
    if (ageOf(interaction) > firstResponseWithin) throw apiErrors.unknownInteraction();
    const upload = request.body instanceof Upload ? request.body : undefined;
    const callback = parseForm(callbackSchema, upload?.payload ?? request.body);
    const form = parseMessageForm(
      upload === undefined ? callback.data : new Upload(callback.data, upload.files),
    );
    const deferred = callback.type === InteractionResponseType.DeferredChannelMessageWithSource;
    if (!deferred) requireContent(form);
    const original = answer(interaction, form, deferred ? MessageFlags.Loading : 0);
    advanceInteraction(world, interaction, {
      state: deferred ? 'deferred' : 'answered',
      ephemeral: isEphemeral(original),
      original,
    });
    if (parseForm(querySchema, request.query).with_response === 'false') return reply.code(204).send();
    return {
      interaction: {
        id: interaction.id,
        type: InteractionType.ApplicationCommand,
        response_message_id: original.id,
        response_message_loading: deferred,
        response_message_ephemeral: isEphemeral(original),
      },
      resource: { type: callback.type, message: messagePayload(world, original, restView(context)) },
    };
  });

  app.post<OnWebhook>('/webhooks/:application/:token', (request) => {
    const interaction = acknowledged(request.params);
    const form = parseMessageForm(request.body);
    requireContent(form);
    // As in Discord, the first message after a deferral fills in the deferred answer.
    if (interaction.state === 'deferred' && interaction.original !== undefined) {
      fill(interaction, interaction.original, form);
      return messagePayload(world, interaction.original, restView(context));
    }
    const followUp = answer(interaction, form, 0);
    advanceInteraction(world, interaction, { followUp });
    return messagePayload(world, followUp, restView(context));
  });

  app.get<OnAnswer>('/webhooks/:application/:token/messages/:message', (request) => {
    const interaction = acknowledged(request.params);
    return messagePayload(world, answerWith(interaction, request.params.message), restView(context));
  });

  app.patch<OnAnswer>('/webhooks/:application/:token/messages/:message', (request) => {
    const interaction = acknowledged(request.params);
    const message = answerWith(interaction, request.params.message);
    const form = parseMessageForm(request.body);
    if (form.text !== undefined) requireContent(form);
    fill(interaction, message, form);
    return messagePayload(world, message, restView(context));
  });

  app.delete<OnAnswer>('/webhooks/:application/:token/messages/:message', (request, reply) => {
    const message = answerWith(acknowledged(request.params), request.params.message);
    deleteMessage(world, message.channelId, message.id);
    return reply.code(204).send();
  });

  function acknowledged(params: OnWebhook['Params']): Interaction {
    const interaction = findInteractionByToken(world, params.token);
    const valid = interaction !== undefined && params.application === world.application.id;
    if (!valid || ageOf(interaction) > tokenLifetime) throw apiErrors.invalidWebhookToken();
    if (interaction.state === 'waiting') throw apiErrors.unknownMessage();
    return interaction;
  }

  function answer(interaction: Interaction, form: MessageForm, extraFlags: number): Message {
    const channel = world.channels.get(interaction.channelId);
    if (channel === undefined) throw apiErrors.unknownChannel();
    const input = {
      channel,
      authorId: world.botId,
      text: form.text ?? '',
      mentions: mentionsIn(form.text ?? '', form.allowedMentions ?? undefined, undefined),
      type: MessageType.ChatInputCommand,
      attachments: form.files.map((file) => ({ ...file, id: world.nextId() })),
      embeds: form.embeds ?? [],
      flags: (form.flags ?? 0) | extraFlags,
      interaction: { id: interaction.id, userId: interaction.userId },
    };
    return (input.flags & MessageFlags.Ephemeral) === 0
      ? createMessage(world, input)
      : draftMessage(world, input);
  }

  function fill(interaction: Interaction, message: Message, form: MessageForm): void {
    editMessage(world, message, {
      text: form.text,
      embeds: form.embeds,
      flags: message.flags & ~MessageFlags.Loading,
      ...(form.text === undefined
        ? {}
        : { mentions: mentionsIn(form.text, form.allowedMentions ?? undefined, undefined) }),
    });
    advanceInteraction(world, interaction, message === interaction.original ? { state: 'answered' } : {});
  }

  function answerWith(interaction: Interaction, id: string): Message {
    const message =
      id === '@original' || id === interaction.original?.id
        ? interaction.original
        : interaction.followUps.find((followUp) => followUp.id === id);
    if (message === undefined) throw apiErrors.unknownMessage();
    const deleted = !isEphemeral(message) && findMessage(world, message.channelId, message.id) === undefined;
    if (deleted) throw apiErrors.unknownMessage();
    return message;
  }

  function ageOf(interaction: Interaction): number {
    return world.now().getTime() - snowflakeTime(interaction.id);
  }
}

function isEphemeral(message: Message): boolean {
  return (message.flags & MessageFlags.Ephemeral) !== 0;
}
