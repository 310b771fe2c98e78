import {
  InteractionType,
  MessageFlags,
  MessageReferenceType,
  MessageType,
  PollLayoutType,
  type APIAttachment,
  type APIMessage,
  type APIMessageInteractionMetadata,
  type APIPoll,
  type APIReaction,
  type GatewayMessageCreateDispatchData,
} from 'discord-api-types/v10';

import { imageDimensions, signedUrl } from '../world/attachments.ts';
import type { Attachment, Interaction, Message, Poll } from '../world/entities.ts';
import { findMessage } from '../world/messages.ts';
import { channelOf, guildIdOf, memberOf, userOf, type World } from '../world/world.ts';
import { channelType, threadPayload } from './channel-payload.ts';
import { memberPayloadWithoutUser } from './guild-payload.ts';
import { flagBits, reactionEmoji, userPayload } from './user-payload.ts';

/** How the bot gets to see messages. */
export interface MessageView {
  /** Where attachments are served, without a slash at the end. */
  readonly cdnUrl: string;
  /** Whether the bot may read what was not addressed to it; otherwise content comes empty. */
  readonly readsContent: boolean;
}

/** A message as REST answers with it: no guild id, no member, and no key that has nothing to say. */
export function messagePayload(world: World, message: Message, view: MessageView): APIMessage {
  return { ...baseMessagePayload(world, message, view), ...referencePart(world, message, view) };
}

/** MESSAGE_CREATE and MESSAGE_UPDATE: a message plus its channel's type and, in a guild, guild and member. */
export function messageEventPayload(
  world: World,
  message: Message,
  view: MessageView,
): GatewayMessageCreateDispatchData {
  const channel = channelOf(world, message.channelId);
  const guildId = guildIdOf(channel);
  const payload = { ...messagePayload(world, message, view), channel_type: channelType(channel) };
  if (guildId === undefined) return payload;
  // A webhook is not in the guild.
  const isByWebhook = message.fields?.['webhook_id'] !== undefined;
  const member = isByWebhook ? undefined : memberOf(world, guildId, message.authorId);
  return {
    ...payload,
    guild_id: guildId,
    member: member && memberPayloadWithoutUser(member),
    mentions: message.mentionedIds.map((id) => {
      const mentioned = memberOf(world, guildId, id);
      return {
        ...userPayload(userOf(world, id)),
        member: mentioned && memberPayloadWithoutUser(mentioned),
      };
    }),
  };
}

function baseMessagePayload(world: World, message: Message, view: MessageView): APIMessage {
  const readable = view.readsContent || isAlwaysReadable(world, message);
  const thread = world.channels.get(message.id);
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
      ? message.attachments.map((attachment) => attachmentPayload(world, message.channelId, attachment, view))
      : [],
    embeds: readable ? [...message.embeds] : [],
    components: [...message.components],
    pinned: message.pinnedAt !== null,
    flags: flagBits(message.flags | (isVoice(message) ? MessageFlags.IsVoiceMessage : 0)),
    nonce: message.nonce,
    poll: readable && message.poll !== undefined ? pollPayload(message.poll, world.now()) : undefined,
    reactions: message.reactions.size === 0 ? undefined : reactionPayloads(world, message),
    thread: thread?.kind === 'thread' ? threadPayload(world, thread, world.botId) : undefined,
    ...interactionPart(world, message),
    ...(readable ? message.fields : undefined),
  };
}

function isVoice({ attachments }: Message): boolean {
  return attachments.some(({ seconds }) => seconds !== undefined);
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

function referencePart(
  world: World,
  message: Message,
  view: MessageView,
): Pick<APIMessage, 'message_reference' | 'referenced_message'> {
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
    ...(showsReferenced.has(message.type)
      ? { referenced_message: referenced === undefined ? null : baseMessagePayload(world, referenced, view) }
      : {}),
  };
}

function interactionPart(
  world: World,
  message: Message,
): Pick<APIMessage, 'application_id' | 'interaction_metadata' | 'webhook_id'> {
  if (message.interaction === undefined) return {};
  return {
    application_id: world.application.id,
    webhook_id: world.application.id,
    interaction_metadata: interactionMetadata(world, message.interaction, message),
  };
}

function interactionMetadata(
  world: World,
  { id, userId, request, original }: Interaction,
  answer?: Message,
): APIMessageInteractionMetadata {
  const common = {
    id,
    user: userPayload(userOf(world, userId)),
    authorizing_integration_owners: {},
    original_response_message_id: original === answer ? undefined : original?.id,
  };
  if (request.kind === 'component') {
    const type = InteractionType.MessageComponent;
    return { ...common, type, interacted_message_id: request.message.id };
  }
  if (request.kind === 'modal') {
    const opened = interactionMetadata(world, request.openedBy);
    // A modal opens no other one.
    if (opened.type !== InteractionType.ModalSubmit)
      return { ...common, type: InteractionType.ModalSubmit, triggering_interaction_metadata: opened };
  }
  return {
    ...common,
    type: InteractionType.ApplicationCommand,
    target_message_id: 'message' in request ? request.message?.id : undefined,
  };
}

/** A file as a message or a command in a channel carries it. */
export function attachmentPayload(
  world: World,
  channelId: string,
  attachment: Attachment,
  view: Pick<MessageView, 'cdnUrl'>,
): APIAttachment {
  const path = `/attachments/${channelId}/${attachment.id}/${encodeURIComponent(attachment.name)}`;
  const url = attachment.pretended?.url ?? signedUrl(view.cdnUrl, path, world.now());
  return {
    id: attachment.id,
    filename: attachment.name,
    size: attachment.pretended?.bytes ?? attachment.bytes.length,
    url,
    proxy_url: url,
    description: attachment.description,
    ...imageDimensions(attachment.bytes),
    duration_secs: attachment.seconds,
    waveform: attachment.seconds === undefined ? undefined : '',
    content_type: attachment.contentType,
  };
}

function reactionPayloads(world: World, message: Message): APIReaction[] {
  return Array.from(message.reactions, ([emoji, users]) => ({
    emoji: reactionEmoji(emoji),
    count: users.size,
    count_details: { burst: 0, normal: users.size },
    me: users.has(world.botId),
    me_burst: false,
    burst_colors: [],
  }));
}

function pollPayload(poll: Poll, now: Date): APIPoll {
  return {
    question: { text: poll.question },
    answers: poll.answers.map(({ id, text, emoji }) => ({
      answer_id: id,
      poll_media: { text, emoji: emoji === undefined ? undefined : { id: null, name: emoji } },
    })),
    expiry: poll.expiresAt,
    allow_multiselect: poll.allowsSeveral,
    layout_type: PollLayoutType.Default,
    results: { is_finalized: Date.parse(poll.expiresAt) <= now.getTime(), answer_counts: [] },
  };
}
