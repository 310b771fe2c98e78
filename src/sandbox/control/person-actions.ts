import type { Channel, Message, User } from '../world/entities.ts';
import { linkMentions, mentionsIn } from '../world/mentions.ts';
import { createMessage, editMessage, findMessage } from '../world/messages.ts';
import { canSend, canView } from '../world/permissions.ts';
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
    attachments: input.attachments.map((attachment) => ({
      id: world.nextId(),
      name: attachment.name,
      contentType: attachment.contentType,
      bytes:
        attachment.base64 === undefined
          ? Buffer.from(attachment.text ?? '')
          : Buffer.from(attachment.base64, 'base64'),
    })),
  });
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

/** @throws {SandboxError} when the person cannot see the channel. */
export function requireView(world: World, channel: Channel, user: User): void {
  if (canView(world, channel, user.id)) return;
  throw new SandboxError(`${user.username} cannot see ${titleOf(channel)}`);
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
