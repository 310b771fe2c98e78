import { MessageType } from 'discord-api-types/v10';

import type { Channel, Interaction, Message, User } from '../world/entities.ts';
import { isEphemeral, isThere } from '../world/ephemerals.ts';
import { canView } from '../world/permissions.ts';
import { guildIdOf, userOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { componentsView } from './component-view.ts';
import type { ComponentsView } from './component-view.ts';
import { pollView } from './poll-view.ts';
import type { PollView } from './poll-view.ts';

export interface PersonView {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
}

export interface ChannelView {
  readonly id: string;
  /** A forum takes posts, which are threads. */
  readonly kind: 'text' | 'forum' | 'thread' | 'dm';
  /** A DM has the person's name. */
  readonly name: string;
  readonly guildId?: string;
  readonly parentId?: string;
  /** Of a thread: put away, and open only to who may manage threads. */
  readonly isArchived?: boolean;
  readonly isLocked?: boolean;
  /** The names of all who can view it, bots included. */
  readonly seenBy: readonly string[];
}

export interface MessageView {
  readonly id: string;
  readonly channelId: string;
  readonly author: PersonView;
  /** As the bot sees it: mentions are `<@id>`. */
  readonly text: string;
  /** Who is pinged, by id. */
  readonly mentions: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly editedAt?: string;
  /** The id of the message answered. */
  readonly replyTo?: string;
  readonly nonce?: string | number;
  readonly isEphemeral: boolean;
  /** Buttons and selects; no rows where there are none. */
  readonly components: ComponentsView;
  readonly isPinned: boolean;
  /** What made the message where nobody wrote it. */
  readonly system?: 'pinned' | 'poll result' | 'thread created' | 'thread started';
  readonly attachments: readonly AttachmentView[];
  readonly poll?: PollView;
  /** Emoji with the names of those who reacted with it. */
  readonly reactions: Readonly<Record<string, readonly string[]>>;
}

export interface AttachmentView {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly contentType?: string;
  /** The alternative text. */
  readonly description?: string;
}

export interface InteractionView {
  readonly id: string;
  /** `failed`: nothing came within three seconds. */
  readonly state: 'waiting' | 'deferred' | 'answered' | 'failed';
  readonly isEphemeral: boolean;
  /**
   * The first answer, or the message of the button that was clicked where the bot changes that instead: as it is now, absent
   * where it was deleted.
   */
  readonly answer?: MessageView;
  readonly followUps: readonly MessageView[];
}

const systemKinds: Partial<Record<MessageType, NonNullable<MessageView['system']>>> = {
  [MessageType.ChannelPinnedMessage]: 'pinned',
  [MessageType.PollResult]: 'poll result',
  [MessageType.ThreadCreated]: 'thread created',
  [MessageType.ThreadStarterMessage]: 'thread started',
};

export function personView(user: User): PersonView {
  return { id: user.id, name: user.username, isBot: user.bot };
}

export function channelView(world: World, channel: Channel): ChannelView {
  const guildId = guildIdOf(channel);
  return {
    id: channel.id,
    kind: channel.kind === 'text' && channel.isForum ? 'forum' : channel.kind,
    name: channel.kind === 'dm' ? userOf(world, channel.personId).username : channel.name,
    ...(guildId === undefined ? {} : { guildId }),
    ...(channel.kind === 'thread'
      ? { parentId: channel.parentId, isArchived: channel.archived, isLocked: channel.locked }
      : {}),
    seenBy: [...world.users.values()]
      .filter((user) => canView(world, channel, user.id))
      .map(({ username }) => username),
  };
}

export function messageView(world: World, message: Message): MessageView {
  return {
    id: message.id,
    channelId: message.channelId,
    author: personView(userOf(world, message.authorId)),
    text: message.text,
    mentions: [...message.mentionedIds],
    at: message.createdAt,
    ...(message.editedAt === null ? {} : { editedAt: message.editedAt }),
    ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo.messageId }),
    ...(message.nonce === undefined ? {} : { nonce: message.nonce }),
    isEphemeral: isEphemeral(message),
    components: componentsView(message.components),
    isPinned: message.pinnedAt !== null,
    ...(systemKinds[message.type] === undefined ? {} : { system: systemKinds[message.type] }),
    attachments: message.attachments.map(({ id, name, bytes, contentType, description }) => ({
      id,
      name,
      bytes: bytes.length,
      ...(contentType === undefined ? {} : { contentType }),
      ...(description === undefined ? {} : { description }),
    })),
    ...(message.poll === undefined ? {} : { poll: pollView(world, message.poll) }),
    reactions: Object.fromEntries(
      Array.from(message.reactions, ([emoji, users]) => [
        emoji,
        Array.from(users, (id) => userOf(world, id).username),
      ]),
    ),
  };
}

export function interactionView(world: World, interaction: Interaction): InteractionView {
  const { id, state, ephemeral, original, followUps } = interaction;
  return {
    id,
    state,
    isEphemeral: ephemeral,
    ...(original === undefined || !isThere(world, original) ? {} : { answer: messageView(world, original) }),
    followUps: followUps
      .filter((message) => isThere(world, message))
      .map((message) => messageView(world, message)),
  };
}
