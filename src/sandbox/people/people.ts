import { Snowflake } from '@sapphire/snowflake';

import type { Gateway } from '../gateway/gateway.ts';
import { uploaded, type Upload } from '../world/attachments.ts';
import type { Attachment, Channel, Message, User } from '../world/entities.ts';
import { linkMentions, mentionsIn } from '../world/mentions.ts';
import { createMessage, deleteMessages, editMessage, findMessage, messagesOf } from '../world/messages.ts';
import { channelOf, SandboxError, userOf, type World } from '../world/world.ts';
import { defaultTimeoutMs, interactionsOf } from './interactions.ts';
import {
  findChannel,
  findMessageById,
  findPerson,
  requireOpen,
  requirePermission,
  requireRightToWrite,
  requireView,
} from './references.ts';
import { channelView, messageView, personView } from './views.ts';

/** What a person writes. */
export interface Writing {
  /** By name or id. */
  readonly as: string;
  /** `#general` or `general`; `dm` for the speaker's DM with the bot; `@alice` for Alice's; a thread's name; or an id. */
  readonly in: string;
  /** `@Name` becomes a mention. */
  readonly text?: string;
  /** Puts a mention of the bot before the text. */
  readonly mentionBot?: boolean;
  readonly attachments?: readonly Upload[];
  /** The id of a message in the same channel. */
  readonly replyTo?: string | undefined;
  /** Whether a reply pings the author that it answers; it does if not said. */
  readonly pingReplied?: boolean;
  /** Fields of Discord's message object, handed out as they stand: `sticker_items`, `poll`, `message_snapshots`, `flags`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

interface WhichMessages {
  readonly in: string;
  /** Only those after this id. */
  readonly after?: string | undefined;
  readonly from?: 'bot' | 'people';
  /** As this person sees them, with what the bot shows to nobody else. */
  readonly as?: string;
}

export type People = ReturnType<typeof createPeople>;
export type SandboxInfo = Awaited<ReturnType<People['info']>>;

/**
 * What people do in the sandbox, and what they see there. People, channels and roles are named as people name them, or by id. Every method
 * rejects with `SandboxError` what Discord's client would not let a person do; its message says what is wrong.
 */
export function createPeople(world: World, gateway: Gateway, addresses: () => SandboxAddresses) {
  return {
    ...interactionsOf(world),
    /** Where the sandbox is and who is in it: guilds, people (bots left out) and channels by name. */
    info: async () => ({
      ...addresses(),
      bot: personView(userOf(world, world.botId)),
      /** Whose bot it is. */
      owner: personView(userOf(world, world.application.ownerId)),
      guilds: Object.fromEntries(Array.from(world.guilds.values(), ({ id, name }) => [name, id])),
      people: Object.fromEntries(
        [...world.users.values()].filter(({ bot }) => !bot).map(({ id, username }) => [username, id]),
      ),
      /** Threads included; of channels with the same name the newest. */
      channels: Object.fromEntries(
        [...world.channels.values()].flatMap((channel) =>
          channel.kind === 'dm' ? [] : [[channel.name, channel.id]],
        ),
      ),
    }),
    /** A channel, thread or DM that somebody sees. */
    place: async ({ as, in: reference }: { readonly as: string; readonly in: string }) => {
      const viewer = findPerson(world, as);
      const channel = findChannel(world, reference, viewer);
      requireView(world, channel, viewer);
      return channelView(world, channel);
    },
    /** All channels, threads and open DMs. */
    channels: async () => Array.from(world.channels.values(), (channel) => channelView(world, channel)),
    /** The commands that the bot has registered, menu entries included. */
    commands: async () => [...world.commands.values()],
    openDm: async ({ person }: { readonly person: string }) =>
      channelView(world, findChannel(world, 'dm', findPerson(world, person))),
    say: async (writing: Writing) => messageView(world, say(world, writing)),
    edit: async (change: { readonly message: string; readonly text: string }) =>
      messageView(world, edit(world, change)),
    /** Deletes a message for its author or somebody who may manage messages; where nobody is named, for anybody who may. */
    delete: async (what: { readonly message: string; readonly as?: string }) => {
      const message = findMessageById(world, what.message);
      if (what.as !== undefined) requireRightToDelete(world, message, findPerson(world, what.as));
      deleteMessages(world, message.channelId, [message], false);
    },
    /** Oldest first. */
    messages: async (which: WhichMessages) =>
      visibleMessages(world, which).map((message) => messageView(world, message)),
    /** Resolves when the connected client has received every event until now. */
    delivered: async (wish: { readonly timeoutMs?: number } = {}) =>
      gateway.delivered(wish.timeoutMs ?? defaultTimeoutMs),
  };
}

interface SandboxAddresses {
  /** The server itself; also where attachments are, below `/attachments`. */
  readonly url: string;
  /** What a Discord library takes as its API address. */
  readonly apiUrl: string;
  readonly token: string;
}

/** A person writes a message. @throws {SandboxError} where they could not in Discord. */
function say(world: World, input: Writing): Message {
  const author = findPerson(world, input.as);
  const channel = findChannel(world, input.in, author);
  requireRightToWrite(world, channel, author);
  const { text, attachments } = written(world, channel, author, input);
  const replied = input.replyTo === undefined ? undefined : findMessage(world, channel.id, input.replyTo);
  if (input.replyTo !== undefined && replied === undefined) {
    throw new SandboxError(`There is no message ${input.replyTo} in ${input.in} to reply to`);
  }
  const pinged = input.pingReplied === false ? undefined : replied?.authorId;
  return createMessage(world, {
    channel,
    authorId: author.id,
    text,
    mentions: mentionsIn(text, undefined, pinged),
    replyTo: replied === undefined ? undefined : { channelId: channel.id, messageId: replied.id },
    attachments,
    fields: input.fields,
  });
}

/** A person changes a message of theirs. @throws {SandboxError} for one of the bot, or one that is not there. */
function edit(world: World, input: { readonly message: string; readonly text: string }): Message {
  const message = findMessageById(world, input.message);
  if (message.authorId === world.botId) throw new SandboxError("Only the bot can edit the bot's messages");
  requireOpen(world, channelOf(world, message.channelId), userOf(world, message.authorId));
  const text = linkMentions(input.text, world.users.values()).trim();
  requireLength(text);
  editMessage(world, message, { text, mentions: mentionsIn(text, undefined, undefined) });
  return message;
}

/** Own messages are theirs to delete, others need a moderator. */
function requireRightToDelete(world: World, message: Message, user: User): void {
  const channel = channelOf(world, message.channelId);
  requireView(world, channel, user);
  if (message.authorId !== user.id) requirePermission(world, channel, user, 'ManageMessages');
}

/** A person's message as it is posted. @throws {SandboxError} where Discord would not take it. */
export function written(
  world: World,
  channel: Channel,
  author: User,
  { text: typed = '', mentionBot = false, attachments = [], fields }: Omit<Writing, 'as' | 'in'>,
): { readonly text: string; readonly attachments: readonly Attachment[] } {
  const mention = mentionBot ? `<@${world.botId}> ` : '';
  const text = linkMentions(mention + typed, world.users.values()).trim();
  if (attachments.length > 0) requirePermission(world, channel, author, 'AttachFiles');
  if (text === '' && attachments.length === 0 && fields === undefined)
    throw new SandboxError('A message needs a text or an attachment');
  requireLength(text);
  return { text, attachments: attachments.map((file) => uploaded(world, file)) };
}

/** Discord's limit for people with Nitro, in UTF-16 units. */
const maxPersonMessageLength = 4_000;

/** @throws {SandboxError} for a text that is too long for a person. */
function requireLength(text: string): void {
  if (text.length <= maxPersonMessageLength) return;
  throw new SandboxError(
    `A message has at most ${maxPersonMessageLength} characters, this one has ${text.length}`,
  );
}

/**
 * Messages of a channel, oldest first, by who wrote them; a person sees what the bot shows to them alone too.
 * @throws {SandboxError} for an unknown channel, or one that the person cannot see.
 */
function visibleMessages(world: World, { in: where, after, from, as }: WhichMessages): readonly Message[] {
  const viewer = as === undefined ? undefined : findPerson(world, as);
  const channel = findChannel(world, where, viewer);
  if (viewer !== undefined) requireView(world, channel, viewer);
  const forViewer = [...world.ephemerals.values()].filter(
    ({ channelId, viewerId }) => channelId === channel.id && viewerId === viewer?.id,
  );
  const all = [...messagesOf(world, channel.id), ...forViewer].toSorted((a, b) =>
    Snowflake.compare(a.id, b.id),
  );
  return all.filter(
    (message) =>
      (after === undefined || Snowflake.compare(message.id, after) > 0) &&
      (from === undefined || (message.authorId === world.botId) === (from === 'bot')),
  );
}
