import {
  InteractionResponseType,
  MessageFlags,
  MessageType,
  type APIApplicationCommandOptionChoice,
} from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';

import type { Interaction, Message, Modal } from '../world/entities.ts';
import { advanceInteraction, ageOf, failIfLate, findInteractionByToken } from '../world/interactions.ts';
import { createEphemeral, createMessage, deleteMessages, editMessage, isThere } from '../world/messages.ts';
import type { World } from '../world/world.ts';
import { apiErrors } from './api-error.ts';
import {
  changeBy,
  contentOf,
  readMessageForm,
  requireContent,
  Upload,
  type MessageForm,
} from './bot-messages.ts';
import { bodyAs, messageAnswer, type On, type RestContext } from './rest-context.ts';

/** A first response, of the types that bots give. */
type Callback =
  | {
      readonly type:
        | InteractionResponseType.ChannelMessageWithSource
        | InteractionResponseType.DeferredChannelMessageWithSource
        | InteractionResponseType.UpdateMessage;
      readonly data?: unknown;
    }
  | { readonly type: InteractionResponseType.DeferredMessageUpdate }
  | { readonly type: InteractionResponseType.Modal; readonly data: Modal }
  | {
      readonly type: InteractionResponseType.ApplicationCommandAutocompleteResult;
      readonly data: { readonly choices?: readonly APIApplicationCommandOptionChoice<string>[] };
    };

/** How long an interaction's token is good, in milliseconds. */
const tokenLifetime = 15 * 60_000;

/** The first response to an interaction. The token in the path is the authorisation. */
export function interactionRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.post<On<'interaction' | 'token'>>('/interactions/:interaction/:token/callback', (request, reply) => {
    const interaction = waitingInteraction(request.params.interaction, request.params.token);
    const upload = request.body instanceof Upload ? request.body : undefined;
    const callback = bodyAs<Callback>(upload?.payload ?? request.body);
    respond(interaction, callback, (data) =>
      readMessageForm(upload === undefined ? data : new Upload(data, upload.files)),
    );
    return reply.code(204).send();
  });

  function waitingInteraction(id: string, token: string): Interaction {
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

  function respond(
    interaction: Interaction,
    callback: Callback,
    formOf: (data: unknown) => MessageForm,
  ): void {
    switch (callback.type) {
      case InteractionResponseType.ChannelMessageWithSource: {
        const form = formOf(callback.data);
        requireContent(form);
        const original = postAnswer(world, interaction, form, 0);
        return advanceInteraction(world, interaction, { state: 'answered', original });
      }
      case InteractionResponseType.DeferredChannelMessageWithSource: {
        const original = postAnswer(world, interaction, formOf(callback.data), MessageFlags.Loading);
        return advanceInteraction(world, interaction, { state: 'deferred', original });
      }
      case InteractionResponseType.DeferredMessageUpdate: {
        const original = componentMessage(interaction);
        return advanceInteraction(world, interaction, { state: 'deferred', original });
      }
      case InteractionResponseType.UpdateMessage: {
        const original = componentMessage(interaction);
        fillAnswer(world, interaction, original, formOf(callback.data));
        return advanceInteraction(world, interaction, { state: 'answered', original });
      }
      case InteractionResponseType.Modal:
        return advanceInteraction(world, interaction, { state: 'answered', modal: callback.data });
      case InteractionResponseType.ApplicationCommandAutocompleteResult: {
        const { choices = [] } = callback.data;
        return advanceInteraction(world, interaction, { state: 'answered', choices });
      }
    }
  }

  function componentMessage({ request }: Interaction): Message {
    const message = request.kind === 'component' || request.kind === 'modal' ? request.message : undefined;
    if (message === undefined || !isThere(world, message)) throw apiErrors.unknownMessage();
    return message;
  }
}

type OnAnswer = On<'application' | 'token' | 'message'>;

/** Follow-ups and edits after the first response. The token is the authorisation. */
export function webhookRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;
  const answer = '/webhooks/:application/:token/messages/:message';

  app.post<On<'application' | 'token'>>('/webhooks/:application/:token', (request) => {
    const interaction = acknowledged(request.params);
    const form = readMessageForm(request.body);
    requireContent(form);
    const loading = loadingAnswer(interaction);
    // As in Discord, the first message after a deferral fills in the deferred answer.
    if (loading !== undefined) {
      fillAnswer(world, interaction, loading, form);
      return messageAnswer(context, loading);
    }
    const followUp = postAnswer(world, interaction, form, 0);
    advanceInteraction(world, interaction, { state: 'answered', followUp });
    return messageAnswer(context, followUp);
  });

  app.get<OnAnswer>(answer, ({ params }) =>
    messageAnswer(context, answerWith(world, acknowledged(params), params.message)),
  );

  app.delete<OnAnswer>(answer, ({ params }, reply) => {
    const message = answerWith(world, acknowledged(params), params.message);
    if (!world.ephemerals.delete(message.id)) deleteMessages(world, message.channelId, [message], false);
    return reply.code(204).send();
  });

  app.patch<OnAnswer>(answer, ({ params, body }) => {
    const interaction = acknowledged(params);
    const message = answerWith(world, interaction, params.message);
    fillAnswer(world, interaction, message, readMessageForm(body));
    return messageAnswer(context, message);
  });

  function acknowledged(params: On<'application' | 'token'>['Params']): Interaction {
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
}

/** Posts the first answer or a follow-up: in the channel, or for the asker alone. */
function postAnswer(world: World, interaction: Interaction, form: MessageForm, extraFlags: number): Message {
  const channel = world.channels.get(interaction.channelId);
  if (channel === undefined) throw apiErrors.unknownChannel();
  const { original, request } = interaction;
  const answered = original ?? ('message' in request ? request.message : undefined);
  const input = {
    ...contentOf(world, form, undefined),
    channel,
    authorId: world.botId,
    type: answerType(interaction),
    flags: (form.flags ?? 0) | extraFlags,
    interaction,
    replyTo: answered === undefined ? undefined : { channelId: channel.id, messageId: answered.id },
  };
  return (input.flags & MessageFlags.Ephemeral) === 0
    ? createMessage(world, input)
    : createEphemeral(world, input, interaction.userId);
}

/** Changes an answer; a deferred one is answered by it. Who sees it stays as it was. @throws {ApiError} 50006 */
function fillAnswer(world: World, interaction: Interaction, message: Message, form: MessageForm): void {
  const content = form.content ?? message.text;
  const embeds = form.embeds ?? message.embeds;
  const change = changeBy(world, message, form, undefined);
  if (change.attachments.length === 0) requireContent({ ...form, content, embeds: [...embeds] });
  editMessage(world, message, { ...change, flags: message.flags & ~MessageFlags.Loading });
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

/** Follow-ups, and answers to components and to what was opened from them, are replies. */
function answerType({ request, original }: Interaction): MessageType {
  const isOnComponent =
    request.kind === 'component' || (request.kind === 'modal' && request.message !== undefined);
  if (original !== undefined || isOnComponent) return MessageType.Reply;
  return request.kind === 'slash' || request.kind === 'modal'
    ? MessageType.ChatInputCommand
    : MessageType.ContextMenuCommand;
}
