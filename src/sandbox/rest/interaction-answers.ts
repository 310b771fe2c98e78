import { MessageFlags, MessageType } from 'discord-api-types/v10';

import type { Interaction, InteractionOrigin, InteractionRequest, Message } from '../world/entities.ts';
import { createEphemeral, isThere } from '../world/ephemerals.ts';
import { advanceInteraction } from '../world/interactions.ts';
import { mentionsIn } from '../world/mentions.ts';
import { createMessage, editMessage } from '../world/messages.ts';
import type { World } from '../world/world.ts';
import { apiErrors } from './api-error.ts';
import { requireContent } from './message-form.ts';
import type { MessageForm } from './message-form.ts';
import { attachmentsAfter } from './post-message.ts';

/** Posts a first answer or, where the interaction has one, a follow-up: in the channel, or before the asker's eyes alone. */
export function postAnswer(
  world: World,
  interaction: Interaction,
  form: MessageForm,
  extraFlags: number,
): Message {
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
export function fillAnswer(
  world: World,
  interaction: Interaction,
  message: Message,
  form: MessageForm,
): void {
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
export function answerWith(world: World, interaction: Interaction, id: string): Message {
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
