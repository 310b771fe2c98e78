import { PermissionFlagsBits } from 'discord-api-types/v10';

import { contentTypeOf, maxFileBytes } from '../world/attachments.ts';
import type { Attachment, Channel, Message, User } from '../world/entities.ts';
import { linkMentions, mentionsIn } from '../world/mentions.ts';
import { createMessage, editMessage, findMessage } from '../world/messages.ts';
import { canSend, canView, may } from '../world/permissions.ts';
import { maxPins, pinMessage, pinnedMessages, unpinMessage } from '../world/pins.ts';
import { knownEmoji, maxReactionKinds, setReaction } from '../world/reactions.ts';
import { channelOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { findChannel, findMessageById, findPerson } from './references.ts';
import { SandboxError } from './sandbox-error.ts';

/** Discord's limit for people with Nitro, in UTF-16 units. */
const maxPersonMessageLength = 4_000;

export interface Saying {
  readonly as: string;
  readonly in: string;
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly pingReplied: boolean;
  readonly mentionBot: boolean;
  readonly attachments: readonly {
    readonly name: string;
    readonly contentType?: string | undefined;
    readonly text?: string | undefined;
    readonly base64?: string | undefined;
    readonly pretended?:
      | { readonly url?: string | undefined; readonly bytes?: number | undefined }
      | undefined;
  }[];
}

/** A person writes a message. @throws {SandboxError} where Discord would not let them. */
export function say(world: World, input: Saying): Message {
  const author = findPerson(world, input.as);
  const channel = findChannel(world, input.in, author);
  requireRightToWrite(world, channel, author);
  const text = linkMentions(
    input.mentionBot ? `<@${world.botId}> ${input.text}` : input.text,
    world.users.values(),
  ).trim();
  if (input.attachments.length > 0) requirePermission(world, channel, author, 'AttachFiles');
  if (text === '' && input.attachments.length === 0)
    throw new SandboxError('A message needs a text or an attachment');
  requireLength(text);
  const replied = input.replyTo === undefined ? undefined : findMessage(world, channel.id, input.replyTo);
  if (input.replyTo !== undefined && replied === undefined) {
    throw new SandboxError(`There is no message ${input.replyTo} in ${input.in} to reply to`);
  }
  return createMessage(world, {
    channel,
    authorId: author.id,
    text,
    mentions: mentionsIn(text, undefined, input.pingReplied ? replied?.authorId : undefined),
    replyTo: replied === undefined ? undefined : { channelId: channel.id, messageId: replied.id },
    attachments: input.attachments.map((attachment) => uploaded(world, attachment)),
  });
}

function uploaded(world: World, file: Saying['attachments'][number]): Attachment {
  const bytes = file.base64 === undefined ? Buffer.from(file.text ?? '') : Buffer.from(file.base64, 'base64');
  if (bytes.length > maxFileBytes) {
    throw new SandboxError(
      `${file.name} has ${bytes.length} bytes, more than the ${maxFileBytes} of Discord`,
    );
  }
  return {
    id: world.nextId(),
    name: file.name,
    contentType: file.contentType ?? contentTypeOf(file.name),
    bytes,
    ...(file.pretended === undefined ? {} : { pretended: file.pretended }),
  };
}

/** A person changes a message of theirs. @throws {SandboxError} for one of the bot, or one that is not there. */
export function edit(world: World, input: { readonly message: string; readonly text: string }): Message {
  const message = findMessageById(world, input.message);
  if (message.authorId === world.botId) throw new SandboxError("Only the bot can edit the bot's messages");
  const text = linkMentions(input.text, world.users.values()).trim();
  requireLength(text);
  editMessage(world, message, { text, mentions: mentionsIn(text, undefined, undefined) });
  return message;
}

/** Puts a person's reaction under a message, or takes it back. @throws {SandboxError} where Discord would not let them. */
export function react(
  world: World,
  input: { readonly as: string; readonly message: string; readonly emoji: string },
  present: boolean,
): void {
  const user = findPerson(world, input.as);
  const message = findMessageById(world, input.message);
  const channel = channelOf(world, message.channelId);
  requireView(world, channel, user);
  const emoji = knownEmoji(input.emoji);
  if (emoji === undefined) throw new SandboxError(`${JSON.stringify(input.emoji)} is no emoji`);
  if (present && !message.reactions.has(emoji)) {
    requirePermission(world, channel, user, 'AddReactions');
    if (message.reactions.size >= maxReactionKinds) {
      throw new SandboxError(`A message takes ${maxReactionKinds} different emoji at most`);
    }
  }
  setReaction(world, message, { userId: user.id, emoji, present });
}

/** A person pins a message, or takes it from the pins. @throws {SandboxError} where Discord would not let them. */
export function pin(
  world: World,
  input: { readonly as: string; readonly message: string },
  pinned: boolean,
): void {
  const user = findPerson(world, input.as);
  const message = findMessageById(world, input.message);
  const channel = channelOf(world, message.channelId);
  requireView(world, channel, user);
  requirePermission(world, channel, user, 'PinMessages');
  if (!pinned) unpinMessage(world, channel, message);
  else if (pinnedMessages(world, channel.id).length < maxPins) pinMessage(world, channel, message, user.id);
  else throw new SandboxError(`A channel has ${maxPins} pinned messages at most`);
}

/** Somebody's own messages are theirs to delete; others need a moderator; nobody named is let through. @throws {SandboxError} */
export function requireRightToDelete(
  world: World,
  messages: readonly Message[],
  as: string | undefined,
): void {
  if (as === undefined) return;
  const user = findPerson(world, as);
  for (const message of messages) {
    const channel = channelOf(world, message.channelId);
    requireView(world, channel, user);
    if (message.authorId !== user.id) requirePermission(world, channel, user, 'ManageMessages');
  }
}

/** @throws {SandboxError} when the person cannot see the channel. */
export function requireView(world: World, channel: Channel, user: User): void {
  if (canView(world, channel, user.id)) return;
  throw new SandboxError(`${user.username} cannot see ${titleOf(channel)}`);
}

function requirePermission(
  world: World,
  channel: Channel,
  user: User,
  permission: keyof typeof PermissionFlagsBits,
): void {
  if (may(world, channel, user.id, PermissionFlagsBits[permission])) return;
  throw new SandboxError(`${user.username} lacks ${permission} in ${titleOf(channel)}`);
}

/** @throws {SandboxError} when the person cannot see the channel, or may not write there. */
export function requireRightToWrite(world: World, channel: Channel, user: User): void {
  requireView(world, channel, user);
  if (!canSend(world, channel, user.id)) {
    throw new SandboxError(`${user.username} may not write in ${titleOf(channel)}`);
  }
}

function requireLength(text: string): void {
  if (text.length <= maxPersonMessageLength) return;
  throw new SandboxError(
    `A message has at most ${maxPersonMessageLength} characters, this one has ${text.length}`,
  );
}

export function titleOf(channel: Channel): string {
  return channel.kind === 'dm' ? 'this DM' : `#${channel.name}`;
}
