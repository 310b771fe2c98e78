import type { Message } from '../world/entities.ts';
import { linkMentions, mentionsIn } from '../world/mentions.ts';
import { createMessage, editMessage, findMessage } from '../world/messages.ts';
import { maxPins, pinMessage, pinnedMessages, unpinMessage } from '../world/pins.ts';
import { isOver } from '../world/poll.ts';
import { hasPoll, setVote } from '../world/polls.ts';
import { knownEmoji, maxReactionKinds, setReaction } from '../world/reactions.ts';
import { channelOf, userOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { findChannel, findMessageById, findPerson } from './references.ts';
import { requireOpen, requirePermission, requireRightToWrite, requireView } from './rights.ts';
import { SandboxError } from './sandbox-error.ts';
import { requireLength, written } from './writing.ts';
import type { Writing } from './writing.ts';

export interface Saying extends Writing {
  readonly as: string;
  readonly in: string;
  readonly replyTo?: string | undefined;
  readonly pingReplied: boolean;
}

/** A person writes a message. @throws {SandboxError} where Discord would not let them. */
export function say(world: World, input: Saying): Message {
  const author = findPerson(world, input.as);
  const channel = findChannel(world, input.in, author);
  requireRightToWrite(world, channel, author);
  const { text, attachments } = written(world, channel, author, input);
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
    attachments,
  });
}

/** A person changes a message of theirs. @throws {SandboxError} for one of the bot, or one that is not there. */
export function edit(world: World, input: { readonly message: string; readonly text: string }): Message {
  const message = findMessageById(world, input.message);
  if (message.authorId === world.botId) throw new SandboxError("Only the bot can edit the bot's messages");
  requireOpen(world, channelOf(world, message.channelId), userOf(world, message.authorId));
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
  requireOpen(world, channel, user);
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

/** A person votes in a poll, or takes their vote back. @throws {SandboxError} where Discord would not let them. */
export function vote(
  world: World,
  input: {
    readonly as: string;
    readonly message: string;
    readonly answer: string;
    readonly withdraw: boolean;
  },
): void {
  const user = findPerson(world, input.as);
  const message = findMessageById(world, input.message);
  requireView(world, channelOf(world, message.channelId), user);
  if (!hasPoll(message)) throw new SandboxError(`Message ${message.id} has no poll`);
  if (isOver(message.poll, world.now())) throw new SandboxError('The poll is over');
  const answer = message.poll.answers.find(({ text }) => text === input.answer);
  if (answer === undefined) {
    const texts = message.poll.answers.map(({ text }) => text).join(', ');
    throw new SandboxError(`The poll has no answer ${JSON.stringify(input.answer)}; it has ${texts}`);
  }
  setVote(world, message, { userId: user.id, answerId: answer.id, present: !input.withdraw });
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
