import { contentTypeOf, maxFileBytes } from '../world/attachments.ts';
import type { Attachment, Channel, Message, User } from '../world/entities.ts';
import { linkMentions, mentionsIn } from '../world/mentions.ts';
import {
  createMessage,
  deleteMessages,
  editMessage,
  findMessage,
  maxPins,
  pinnedMessages,
  setPinned,
  showEmbeds,
} from '../world/messages.ts';
import { knownEmoji, maxReactionKinds, setReaction } from '../world/reactions.ts';
import { channelOf, userOf, type World } from '../world/world.ts';
import type { CheckedInput } from './control-inputs.ts';
import { messageView } from './message-view.ts';
import {
  findChannel,
  findMessageById,
  findPerson,
  requireOpen,
  requirePermission,
  requireRightToWrite,
  requireView,
  visibleMessage,
} from './references.ts';
import { SandboxError, type DefineCall } from './sandbox-control.ts';

/** What people do with messages. */
export function messageCalls(define: DefineCall, world: World) {
  return {
    /** Refused where the person could not write in Discord. */
    say: define('say', (input) => messageView(world, say(world, input))),
    showEmbeds: define('showEmbeds', (input) =>
      showEmbeds(world, findMessageById(world, input.message), input.embeds),
    ),
    edit: define('edit', (input) => messageView(world, edit(world, input))),
    /** Also a message of the bot's, by a moderator. */
    delete: define('delete', (input) => {
      const message = findMessageById(world, input.message);
      requireRightToDelete(world, [message], input.as);
      deleteMessages(world, message.channelId, [message], false);
    }),
    /** All of one channel. */
    bulkDelete: define('bulkDelete', (input) => {
      const messages = input.messages.map((id) => findMessageById(world, id));
      const channelIds = new Set(messages.map(({ channelId }) => channelId));
      const [channelId] = channelIds;
      if (channelId === undefined || channelIds.size > 1)
        throw new SandboxError('The messages are not of one channel');
      requireRightToDelete(world, messages, input.as);
      deleteMessages(world, channelId, messages, true);
    }),
    react: define('react', (input) => react(world, input)),
    pin: define('pin', (input) => pin(world, input)),
    /** What a message has said since it was posted, oldest first, also when it is deleted by now. */
    versions: define('versions', (input) => {
      const versions = world.versions.get(input.message);
      if (versions === undefined) throw new SandboxError(`There never was a message ${input.message}`);
      return [...versions];
    }),
    /** A file of a message, as a person who sees that downloads it. */
    file: define('file', (input) => {
      const message = visibleMessage(world, findPerson(world, input.as), input.message);
      const found = message.attachments.find(({ name }) => name === input.name);
      if (found === undefined) throw new SandboxError(`Message ${message.id} has no file ${input.name}`);
      return { name: found.name, base64: found.bytes.toString('base64') };
    }),
  };
}

/** A person writes a message. */
export function say(world: World, input: CheckedInput<'say'>): Message {
  const author = findPerson(world, input.as);
  const channel = findChannel(world, input.in, author);
  requireRightToWrite(world, channel, author);
  const { text, attachments } = written(world, channel, author, input, input.fields !== undefined);
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
    fields: input.fields,
  });
}

/** A person changes a message of theirs. @throws {SandboxError} for one of the bot, or one that is not there. */
function edit(world: World, input: CheckedInput<'edit'>): Message {
  const message = findMessageById(world, input.message);
  if (message.authorId === world.botId) throw new SandboxError("Only the bot can edit the bot's messages");
  requireOpen(world, channelOf(world, message.channelId), userOf(world, message.authorId));
  const text = linkMentions(input.text, world.users.values()).trim();
  requireLength(text);
  editMessage(world, message, { text, mentions: mentionsIn(text, undefined, undefined) });
  return message;
}

/** Puts a person's reaction under a message, or takes it back. */
function react(world: World, input: CheckedInput<'react'>): void {
  const user = findPerson(world, input.as);
  const message = findMessageById(world, input.message);
  const channel = channelOf(world, message.channelId);
  requireView(world, channel, user);
  requireOpen(world, channel, user);
  const emoji = knownEmoji(input.emoji);
  if (emoji === undefined) throw new SandboxError(`${JSON.stringify(input.emoji)} is not an emoji`);
  if (input.present && !message.reactions.has(emoji)) {
    requirePermission(world, channel, user, 'AddReactions');
    if (message.reactions.size >= maxReactionKinds) {
      throw new SandboxError(`A message takes ${maxReactionKinds} different emoji at most`);
    }
  }
  setReaction(world, message, { userId: user.id, emoji, present: input.present });
}

/** A person pins a message, or takes it from the pins. */
function pin(world: World, input: CheckedInput<'pin'>): void {
  const user = findPerson(world, input.as);
  const message = findMessageById(world, input.message);
  const channel = channelOf(world, message.channelId);
  requireView(world, channel, user);
  requirePermission(world, channel, user, 'PinMessages');
  if (input.pinned && pinnedMessages(world, channel.id).length >= maxPins)
    throw new SandboxError(`A channel has ${maxPins} pinned messages at most`);
  setPinned(world, message, user.id, input.pinned);
}

/** Own messages are theirs to delete, others need a moderator; nobody named is let through. */
function requireRightToDelete(world: World, messages: readonly Message[], as: string | undefined): void {
  if (as === undefined) return;
  const user = findPerson(world, as);
  for (const message of messages) {
    const channel = channelOf(world, message.channelId);
    requireView(world, channel, user);
    if (message.authorId !== user.id) requirePermission(world, channel, user, 'ManageMessages');
  }
}

/** Discord's limit for people with Nitro, in UTF-16 units. */
const maxPersonMessageLength = 4_000;

/** What a person types, and the files that they drop. */
type Writing = Pick<CheckedInput<'say'>, 'text' | 'mentionBot' | 'attachments'>;

/** A person's message as it is posted. @throws {SandboxError} where Discord would not take it. */
export function written(
  world: World,
  channel: Channel,
  author: User,
  input: Writing,
  hasFields = false,
): { readonly text: string; readonly attachments: readonly Attachment[] } {
  const mention = input.mentionBot ? `<@${world.botId}> ` : '';
  const text = linkMentions(mention + input.text, world.users.values()).trim();
  if (input.attachments.length > 0) requirePermission(world, channel, author, 'AttachFiles');
  if (text === '' && input.attachments.length === 0 && !hasFields)
    throw new SandboxError('A message needs a text or an attachment');
  requireLength(text);
  return { text, attachments: input.attachments.map((file) => uploaded(world, file)) };
}

/** @throws {SandboxError} for a text that is too long for a person. */
function requireLength(text: string): void {
  if (text.length <= maxPersonMessageLength) return;
  throw new SandboxError(
    `A message has at most ${maxPersonMessageLength} characters, this one has ${text.length}`,
  );
}

/** A file as it lies with Discord from now on. @throws {SandboxError} for one that is too large. */
export function uploaded(world: World, file: Writing['attachments'][number]): Attachment {
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
    seconds: file.seconds,
    pretended: file.pretended,
  };
}
