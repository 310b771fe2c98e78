import { DiscordSnowflake, Snowflake } from '@sapphire/snowflake';
import { MessageFlags, MessageType, type APIEmbed } from 'discord-api-types/v10';

import { changeThread, joinThread } from './channels.ts';
import type {
  Attachment,
  Channel,
  ComponentRow,
  Interaction,
  Message,
  MessageFields,
  MessageReference,
  Poll,
  ThreadChannel,
} from './entities.ts';
import type { Mentions } from './mentions.ts';
import { channelOf, type World } from './world.ts';

export interface NewMessage {
  /** A new one if not said. */
  readonly id?: string;
  readonly channel: Channel;
  readonly authorId: string;
  /** Absent, like mentions, where the type says it all. */
  readonly text?: string;
  readonly mentions?: Mentions;
  readonly type?: MessageType;
  readonly attachments?: readonly Attachment[];
  readonly embeds?: readonly APIEmbed[];
  readonly components?: readonly ComponentRow[] | undefined;
  readonly poll?: Poll | undefined;
  readonly replyTo?: MessageReference | undefined;
  readonly nonce?: string | number | undefined;
  readonly flags?: number;
  readonly interaction?: Interaction;
  readonly fields?: MessageFields;
  readonly viewerId?: string;
}

/** A message that nobody sees yet. Its moment is that of its id: clients read it from there. */
function draftMessage(world: World, input: NewMessage): Message {
  const id = input.id ?? world.nextId();
  const message: Message = {
    id,
    channelId: input.channel.id,
    authorId: input.authorId,
    type: input.type ?? (input.replyTo === undefined ? MessageType.Default : MessageType.Reply),
    text: input.text ?? '',
    createdAt: new Date(DiscordSnowflake.timestampFrom(id)).toISOString(),
    editedAt: null,
    attachments: input.attachments ?? [],
    embeds: input.embeds ?? [],
    components: input.components ?? [],
    mentionedIds: (input.mentions?.userIds ?? []).filter((userId) => world.users.has(userId)),
    mentionsEveryone: input.mentions?.everyone ?? false,
    replyTo: input.replyTo,
    nonce: input.nonce,
    flags: input.flags ?? 0,
    poll: input.poll,
    pinnedAt: null,
    reactions: new Map(),
    interaction: input.interaction,
    fields: input.fields,
    viewerId: input.viewerId,
  };
  world.versions.set(message.id, [{ at: message.createdAt, text: message.text }]);
  return message;
}

/** Posts a message. In a thread it opens that again, and makes its author and those it pings members. */
export function createMessage(world: World, input: NewMessage): Message {
  const message = draftMessage(world, input);
  if (input.channel.kind === 'thread') {
    if (input.channel.archived) changeThread(world, input.channel, { archived: false });
    if (!beginsThread(message, input.channel)) input.channel.sent += 1;
    joinThread(world, input.channel, message.authorId);
    for (const id of message.mentionedIds) joinThread(world, input.channel, id);
  }
  const messages = world.messages.get(message.channelId);
  if (messages === undefined) world.messages.set(message.channelId, [message]);
  else messages.push(message);
  world.emit({ type: 'message-created', message });
  return message;
}

/** Whether a thread or post begins with this message, which Discord does not count. */
export function beginsThread(message: Message, thread: ThreadChannel): boolean {
  return message.id === thread.id || message.type === MessageType.ThreadStarterMessage;
}

/** Of attachments, all that it has from now on. */
type MessageChange = {
  readonly [Field in 'text' | 'mentions' | 'embeds' | 'components' | 'attachments' | 'flags']?:
    | NewMessage[Field]
    | undefined;
};

/** Shows cards under a message, as Discord does for a link some time after it was written: no edit. */
export function showEmbeds(world: World, message: Message, embeds: readonly APIEmbed[]): void {
  message.embeds = embeds;
  world.emit({ type: 'message-edited', message });
}

/** Changes a message; no edit where a deferred answer gets its words. */
export function editMessage(world: World, message: Message, change: MessageChange): void {
  applyChange(world, message, change);
  if (!isThere(world, message)) return;
  world.emit({ type: message.viewerId === undefined ? 'message-edited' : 'ephemeral-edited', message });
}

function applyChange(world: World, message: Message, change: MessageChange): void {
  const wasAnnounced = (message.flags & MessageFlags.Loading) !== 0;
  if (change.text !== undefined) message.text = change.text;
  if (change.mentions !== undefined) {
    message.mentionedIds = change.mentions.userIds.filter((id) => world.users.has(id));
    message.mentionsEveryone = change.mentions.everyone;
  }
  if (change.embeds !== undefined) message.embeds = change.embeds;
  if (change.components !== undefined) message.components = change.components;
  if (change.attachments !== undefined) message.attachments = change.attachments;
  if (change.flags !== undefined) message.flags = change.flags;
  const at = world.now().toISOString();
  if (!wasAnnounced) message.editedAt = at;
  world.versions.get(message.id)?.push({ at, text: message.text });
}

/** Deletes messages of a channel, which is told as one event. */
export function deleteMessages(
  world: World,
  channelId: string,
  messages: readonly Message[],
  inBulk: boolean,
): void {
  const left = messagesOf(world, channelId).filter((message) => !messages.includes(message));
  world.messages.set(channelId, left);
  world.emit({ type: 'messages-deleted', channelId, messages, inBulk });
}

/** The channel's messages, oldest first. */
export function messagesOf(world: World, channelId: string): readonly Message[] {
  return world.messages.get(channelId) ?? [];
}

export function findMessage(world: World, channelId: string, messageId: string): Message | undefined {
  return messagesOf(world, channelId).find((message) => message.id === messageId);
}

/** The message with this id, in whichever channel. */
export function findMessageAnywhere(world: World, messageId: string): Message | undefined {
  for (const messages of world.messages.values()) {
    const found = messages.find((message) => message.id === messageId);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Which part of a channel's history is asked for; at most one of `before`, `after`, `around`. */
interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly around?: string | undefined;
}

/** One page of a channel's messages (given oldest first), newest first as Discord answers. */
export function messagePage(messages: readonly Message[], request: PageRequest): readonly Message[] {
  return selected(messages, request).toReversed();
}

function selected(messages: readonly Message[], request: PageRequest): readonly Message[] {
  const { limit, before, after, around } = request;
  if (around !== undefined) {
    const half = Math.floor(limit / 2);
    const older = messages.filter((message) => Snowflake.compare(message.id, around) < 0);
    const rest = messages.slice(older.length);
    return [...older.slice(Math.max(0, older.length - half)), ...rest.slice(0, limit - half)];
  }
  if (after !== undefined) {
    return messages.filter((message) => Snowflake.compare(message.id, after) > 0).slice(0, limit);
  }
  const older =
    before === undefined ? messages : messages.filter((message) => Snowflake.compare(message.id, before) < 0);
  return older.slice(Math.max(0, older.length - limit));
}

/** So many messages of a channel can be pinned. */
export const maxPins = 250;

/** The pinned messages of a channel, the one pinned last first. */
export function pinnedMessages(world: World, channelId: string): readonly (Message & { pinnedAt: string })[] {
  return messagesOf(world, channelId)
    .filter((message): message is Message & { pinnedAt: string } => message.pinnedAt !== null)
    .toSorted((a, b) => Date.parse(b.pinnedAt) - Date.parse(a.pinnedAt));
}

/** Pins a message, which leaves a note of it in the channel, or unpins it; already so is fine. */
export function setPinned(world: World, message: Message, userId: string, pinned: boolean): void {
  if ((message.pinnedAt !== null) === pinned) return;
  message.pinnedAt = pinned ? world.now().toISOString() : null;
  world.emit({ type: 'pin-changed', message });
  if (!pinned) return;
  createMessage(world, {
    channel: channelOf(world, message.channelId),
    authorId: userId,
    type: MessageType.ChannelPinnedMessage,
    replyTo: { channelId: message.channelId, messageId: message.id },
  });
}

/** Shows a message to one person alone: it enters no channel's history, and the gateway tells nobody of it. */
export function createEphemeral(world: World, input: NewMessage, viewerId: string): Message {
  const message = draftMessage(world, { ...input, viewerId });
  world.ephemerals.set(message.id, message);
  world.emit({ type: 'ephemeral-created', message });
  return message;
}

/** Whether a message is there still, in its channel or before one person's eyes. */
export function isThere(world: World, message: Message): boolean {
  return message.viewerId !== undefined || findMessage(world, message.channelId, message.id) !== undefined;
}
