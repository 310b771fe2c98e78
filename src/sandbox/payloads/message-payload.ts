import { InteractionType, MessageFlags, MessageReferenceType, MessageType } from 'discord-api-types/v10';

import { attachmentUrl, pngSize } from '../world/attachments.ts';
import type { Attachment, Interaction, Message } from '../world/entities.ts';
import { findMessage } from '../world/messages.ts';
import { channelOf, guildIdOf, memberOf, userOf, type World } from '../world/world.ts';
import {
  channelType,
  memberPayloadWithoutUser,
  reactionEmoji,
  threadPayload,
  userPayload,
} from './guild-payload.ts';

/** How the bot gets to see messages. */
interface MessageView {
  /** Where attachments are served, without a slash at the end. */
  readonly cdnUrl: string;
  /** Whether the bot may read what was not addressed to it; otherwise content comes empty. */
  readonly readsContent: boolean;
}

/** A message as REST answers with it: no guild id, no member, and no key that has nothing to say. */
export function messagePayload(world: World, message: Message, view: MessageView): object {
  return { ...messageAlone(world, message, view), ...referencePart(world, message, view) };
}

/** MESSAGE_CREATE and MESSAGE_UPDATE: a message plus its channel's type and, in a guild, guild and member. */
export function messageEventPayload(world: World, message: Message, view: MessageView): object {
  const channel = channelOf(world, message.channelId);
  const guildId = guildIdOf(channel);
  const payload = { ...messagePayload(world, message, view), channel_type: channelType(channel) };
  if (guildId === undefined) return payload;
  const memberPart = (userId: string) => {
    const member = memberOf(world, guildId, userId);
    return member && memberPayloadWithoutUser(member);
  };
  // A webhook is not in the guild.
  const isByWebhook = message.fields?.['webhook_id'] !== undefined;
  return {
    ...payload,
    guild_id: guildId,
    member: isByWebhook ? undefined : memberPart(message.authorId),
    mentions: message.mentionedIds.map((id) => ({
      ...userPayload(userOf(world, id)),
      member: memberPart(id),
    })),
  };
}

function messageAlone(world: World, message: Message, view: MessageView): object {
  const readable = view.readsContent || isAlwaysReadable(world, message);
  const thread = world.channels.get(message.id);
  const isVoice = message.attachments.some(({ seconds }) => seconds !== undefined);
  return {
    id: message.id,
    channel_id: message.channelId,
    type: message.type,
    author: userPayload(userOf(world, message.authorId)),
    content: readable ? message.text : '',
    timestamp: message.createdAt,
    edited_timestamp: message.editedAt,
    tts: false,
    mention_everyone: message.mentionsEveryone,
    mentions: message.mentionedIds.map((id) => userPayload(userOf(world, id))),
    mention_roles: [],
    attachments: readable
      ? message.attachments.map((file) => attachmentPayload(message.channelId, file, view.cdnUrl))
      : [],
    embeds: readable ? [...message.embeds] : [],
    components: [...message.components],
    pinned: message.pinnedAt !== null,
    flags: message.flags | (isVoice ? MessageFlags.IsVoiceMessage : 0),
    nonce: message.nonce,
    poll: readable ? message.poll : undefined,
    reactions: Array.from(message.reactions, ([emoji, users]) => ({
      emoji: reactionEmoji(emoji),
      count: users.size,
      me: users.has(world.botId),
    })),
    thread: thread?.kind === 'thread' ? threadPayload(world, thread, world.botId) : undefined,
    ...(message.interaction && {
      application_id: world.application.id,
      webhook_id: world.application.id,
      interaction_metadata: interactionMetadata(world, message.interaction, message),
    }),
    ...(readable ? message.fields : undefined),
  };
}

/** Discord shows content without the intent for it in DMs, in the bot's own messages and where the bot is mentioned. */
function isAlwaysReadable(world: World, message: Message): boolean {
  return (
    message.authorId === world.botId ||
    message.mentionedIds.includes(world.botId) ||
    channelOf(world, message.channelId).kind === 'dm'
  );
}

/** Other messages only point: that something was pinned, or where a thread is. */
const showsReferenced: ReadonlySet<MessageType> = new Set([
  MessageType.Reply,
  MessageType.ThreadStarterMessage,
]);

function referencePart(world: World, message: Message, view: MessageView): object {
  if (message.replyTo === undefined) return {};
  const { channelId, messageId } = message.replyTo;
  const channel = world.channels.get(channelId);
  const referenced = findMessage(world, channelId, messageId);
  return {
    message_reference: {
      type: MessageReferenceType.Default,
      channel_id: channelId,
      message_id: messageId,
      guild_id: channel && guildIdOf(channel),
    },
    ...(showsReferenced.has(message.type) && {
      referenced_message: referenced === undefined ? null : messageAlone(world, referenced, view),
    }),
  };
}

function interactionMetadata(world: World, { id, userId, request, original }: Interaction, answer: Message) {
  return {
    id,
    type: interactionTypes[request.kind],
    user: userPayload(userOf(world, userId)),
    authorizing_integration_owners: {},
    original_response_message_id: original === answer ? undefined : original?.id,
  };
}

export const interactionTypes = {
  slash: InteractionType.ApplicationCommand,
  'message-menu': InteractionType.ApplicationCommand,
  complete: InteractionType.ApplicationCommandAutocomplete,
  component: InteractionType.MessageComponent,
  modal: InteractionType.ModalSubmit,
} as const;

/** A file as a message or a command in a channel carries it. */
export function attachmentPayload(channelId: string, attachment: Attachment, cdnUrl: string): object {
  const url = cdnUrl + attachmentUrl(channelId, attachment);
  return {
    id: attachment.id,
    filename: attachment.name,
    size: attachment.bytes.length,
    url,
    proxy_url: url,
    description: attachment.description,
    ...pngSize(attachment.bytes),
    duration_secs: attachment.seconds,
    waveform: attachment.seconds === undefined ? undefined : '',
    content_type: attachment.contentType,
  };
}
