import { InteractionResponseType, MessageFlags, MessageType } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { interactionType } from '../payloads/interaction-payload.ts';
import { messagePayload } from '../payloads/message-payload.ts';
import type { Interaction, InteractionOrigin, InteractionRequest, Message } from '../world/entities.ts';
import { advanceInteraction, ageOf, failIfLate, findInteractionByToken } from '../world/interactions.ts';
import { mentionsIn } from '../world/mentions.ts';
import {
  createEphemeral,
  createMessage,
  deleteAnyMessage,
  editMessage,
  isEphemeral,
  isThere,
} from '../world/messages.ts';
import type { World } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { parseCallback, type Callback } from './callback-form.ts';
import { parseMessageForm, requireContent, Upload, type MessageForm } from './message-form.ts';
import { attachmentsAfter } from './post-message.ts';
import { restView, type RestContext } from './rest-context.ts';

const querySchema = z.object({ with_response: z.enum(['true', 'false']).default('false') });

/** How long an interaction's token is good, in milliseconds. */
const tokenLifetime = 15 * 60_000;

interface OnInteraction {
  readonly Params: { readonly interaction: string; readonly token: string };
}
interface OnWebhook {
  readonly Params: { readonly application: string; readonly token: string };
}
interface OnAnswer {
  readonly Params: OnWebhook['Params'] & { readonly message: string };
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

/** Posts a first answer or, where the interaction has one, a follow-up: in the channel, or before the asker's eyes alone. */
function postAnswer(world: World, interaction: Interaction, form: MessageForm, extraFlags: number): Message {
  const channel = world.channels.get(interaction.channelId);
  if (channel === undefined) throw apiErrors.unknownChannel();
  const { original } = interaction;
  const answered = original ?? answeredMessage(interaction.request);
  const input = {
    channel,
    authorId: world.botId,
    text: form.text ?? '',
    mentions: mentionsIn(form.text ?? '', form.allowedMentions ?? undefined, undefined),
    type: answerType(interaction),
    attachments: form.files.map((file) => ({ ...file, id: world.nextId() })),
    embeds: form.embeds ?? [],
    components: form.components,
    flags: (form.flags ?? 0) | extraFlags,
    interaction: originOf(interaction),
    replyTo: answered === undefined ? undefined : { channelId: channel.id, messageId: answered.id },
  };
  return (input.flags & MessageFlags.Ephemeral) === 0
    ? createMessage(world, input)
    : createEphemeral(world, input, interaction.userId);
}

/** Changes an answer; a deferred one is answered by it. Who sees it stays as it was. @throws {ApiError} 50006 */
function fillAnswer(world: World, interaction: Interaction, message: Message, form: MessageForm): void {
  const text = form.text ?? message.text;
  const embeds = form.embeds ?? message.embeds;
  const attachments = attachmentsAfter(world, message, form);
  if (attachments.length === 0) requireContent({ ...form, text, embeds });
  editMessage(world, message, {
    text: form.text,
    embeds: form.embeds,
    components: form.components,
    attachments,
    flags: message.flags & ~MessageFlags.Loading,
    ...(form.text === undefined
      ? {}
      : { mentions: mentionsIn(form.text, form.allowedMentions ?? undefined, undefined) }),
  });
  advanceInteraction(world, interaction, message === interaction.original ? { state: 'answered' } : {});
}

/** The first answer by `@original` or its id, or a follow-up by its id. @throws {ApiError} 10008 where it is gone. */
function answerWith(world: World, interaction: Interaction, id: string): Message {
  const { original, followUps } = interaction;
  const message =
    id === '@original' || id === original?.id ? original : followUps.find((followUp) => followUp.id === id);
  if (message === undefined || !isThere(world, message)) throw apiErrors.unknownMessage();
  return message;
}

function originOf({ id, userId, request, original }: Interaction): InteractionOrigin {
  const messageId = answeredMessage(request)?.id;
  return {
    id,
    userId,
    kind: request.kind,
    ...(messageId === undefined ? {} : { messageId }),
    ...(original === undefined ? {} : { originalId: original.id }),
  };
}

/** The message that the request was made on. */
function answeredMessage(request: InteractionRequest): Message | undefined {
  return 'message' in request ? request.message : undefined;
}

/** Follow-ups, and answers to components, are replies. */
function answerType({ request, original }: Interaction): MessageType {
  if (original !== undefined || request.kind === 'component') return MessageType.Reply;
  return request.kind === 'slash' ? MessageType.ChatInputCommand : MessageType.ContextMenuCommand;
}
