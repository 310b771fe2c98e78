import { DiscordSnowflake, Snowflake } from '@sapphire/snowflake';
import { MessageFlags, MessageType, type APIEmbed, type APIPoll } from 'discord-api-types/v10';

import { joinThread, setArchived } from './guilds.ts';
import type {
  Attachment,
  Channel,
  ComponentRow,
  Interaction,
  Message,
  MessageFields,
  MessageReference,
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
  readonly poll?: APIPoll | undefined;
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
  return {
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
}

/** Posts a message. In a thread it opens that again, and makes its author and those it pings members. */
export function createMessage(world: World, input: NewMessage): Message {
  const message = draftMessage(world, input);
  if (input.channel.kind === 'thread') {
    setArchived(world, input.channel, false);
    joinThread(world, input.channel, message.authorId);
    for (const id of message.mentionedIds) joinThread(world, input.channel, id);
  }
  const messages = world.messages.get(message.channelId);
  if (messages === undefined) world.messages.set(message.channelId, [message]);
  else messages.push(message);
  world.emit({ type: 'message-created', message });
  return message;
}

/** Of attachments, all that it has from now on. */
type MessageChange = Partial<
  Pick<NewMessage, 'text' | 'mentions' | 'embeds' | 'components' | 'attachments' | 'flags'>
>;

/** Changes a message; no edit where a deferred answer gets its words. */
export function editMessage(world: World, message: Message, change: MessageChange): void {
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
  if (!wasAnnounced) message.editedAt = world.now().toISOString();
  if (!isThere(world, message)) return;
  world.emit({ type: message.viewerId === undefined ? 'message-edited' : 'ephemeral-edited', message });
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

/** One page of at most 100 of a channel's messages (given oldest first), newest first as Discord answers. */
export function messagePage(
  messages: readonly Message[],
  request: { readonly limit: number; readonly before?: string; readonly after?: string },
): readonly Message[] {
  const { limit, before, after } = request;
  const isIn = ({ id }: Message) =>
    (before === undefined || Snowflake.compare(id, before) < 0) &&
    (after === undefined || Snowflake.compare(id, after) > 0);
  const found = messages.filter(isIn).toReversed();
  return after === undefined ? found.slice(0, limit) : found.slice(-limit);
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
  return world.ephemerals.has(message.id) || findMessage(world, message.channelId, message.id) !== undefined;
}

/** A unicode emoji in its coloured form, given with or without the sign for that; `undefined` for anything else. */
export function knownEmoji(text: string): string | undefined {
  const colourSign = '\u{FE0F}';
  const emoji = new RegExp(String.raw`^\p{RGI_Emoji}$`, 'v');
  return [text, `${text}${colourSign}`].find((candidate) => emoji.test(candidate));
}

/** Adds or takes back a reaction; nothing happens where it already is so. */
export function setReaction(
  world: World,
  message: Message,
  reaction: { readonly userId: string; readonly emoji: string; readonly present: boolean },
): void {
  const { userId, emoji, present } = reaction;
  const users = message.reactions.get(emoji) ?? new Set<string>();
  if (users.has(userId) === present) return;
  if (present) users.add(userId);
  else users.delete(userId);
  if (users.size === 0) message.reactions.delete(emoji);
  else message.reactions.set(emoji, users);
  world.emit({ type: present ? 'reaction-added' : 'reaction-removed', message, userId, emoji });
}

/** The emoji that a request names, as reactions are kept: a unicode one as itself, a guild's as `name:id`. */
export function reactionKey(world: World, text: string): string | undefined {
  const id = /^(?:a:)?\w+:(?<id>\d+)$/u.exec(text)?.groups?.['id'];
  if (id === undefined) return knownEmoji(text);
  const guilds = [...world.guilds.values()].filter(({ members }) => members.has(world.botId));
  const own = guilds.flatMap(({ emojis }) => emojis.get(id) ?? [])[0];
  return own === undefined ? undefined : `${own.name}:${own.id}`;
}
