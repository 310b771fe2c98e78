import type { Channel } from 'discord.js';

import type { AnswerMode, CommandCall } from '../core/chat.ts';
import { growingCache } from '../core/limits.ts';

/** Who is answered and where [G1][G2]; ids throughout. */
export interface AccessSettings {
  /** The application's owner, or those whom the configuration names instead. */
  readonly ownerIds: readonly string[];
  readonly access: 'allowlist' | 'everyone';
  readonly allowedUserIds: readonly string[];
  readonly allowedBotIds: readonly string[];
  /** Where not empty, the only guild channels to work in; it grants nothing. */
  readonly channelIds: readonly string[];
  readonly autoReplyChannelIds: readonly string[];
}

/** A channel as the settings see it: a thread counts as its parent. */
export interface ChannelFacts {
  readonly channelId: string;
  readonly isDm: boolean;
  readonly parentId?: string | undefined;
}

export function isOwner(settings: AccessSettings, userId: string): boolean {
  return settings.ownerIds.includes(userId);
}

export function hasAccess(settings: AccessSettings, userId: string): boolean {
  return (
    settings.access === 'everyone' || isOwner(settings, userId) || settings.allowedUserIds.includes(userId)
  );
}

/** Whether the bot works in a channel; DMs are never restricted. */
export function worksIn(settings: Pick<AccessSettings, 'channelIds'>, channel: ChannelFacts): boolean {
  return channel.isDm || settings.channelIds.length === 0 || isListed(settings.channelIds, channel);
}

export function worksInChannel(settings: Pick<AccessSettings, 'channelIds'>, channel: Channel): boolean {
  const parentId = channel.isThread() ? (channel.parentId ?? undefined) : undefined;
  return worksIn(settings, { channelId: channel.id, isDm: channel.isDMBased(), parentId });
}

/** Whether a list of channels holds this one or, for a thread, its parent. */
function isListed(ids: readonly string[], { channelId, parentId }: ChannelFacts): boolean {
  return ids.includes(channelId) || (parentId !== undefined && ids.includes(parentId));
}

export interface MessageFacts extends ChannelFacts {
  readonly authorId: string;
  readonly authorKind: 'human' | 'self' | 'bot';
  /** Written by nobody: a join, a pin, a webhook's post. */
  readonly isSystem: boolean;
  /** The text as it is handed on: without the bot's mention before it. */
  readonly text: string;
  /** A file, a poll, a sticker or the like. */
  readonly hasEnclosures: boolean;
  /** Fetched after a gap, in which or before which it was edited. */
  readonly isEdited: boolean;
  /** Pinged by name or by its own role; @everyone, @here and other roles do not count. */
  readonly mentionsBot: boolean;
  readonly repliesToBot: boolean;
  /** In a thread that the bot made. */
  readonly isOwnThread: boolean;
  /** The author has Manage Server there, as the message tells. */
  readonly managesServer: boolean;
  /** What the owner has set for this place, if anything; never in DMs. It wins over threads of the bot's own and configured channels. */
  readonly answerMode?: AnswerMode | 'unknown' | undefined;
}

export interface IntakePolicy extends AccessSettings {
  /** `undefined` where the text is no command [K1]. */
  readonly parseCommand: (text: string) => CommandCall | undefined;
  /** Names of the commands that are open to who may manage a server, also without access. */
  readonly managerCommands: readonly string[];
}

/** What becomes of a message [G1][G2]; a command is never a turn [F2], and an edit makes none. `undecided` needs the answer mode. */
export function decideIntake(message: MessageFacts, policy: IntakePolicy) {
  const { authorKind, authorId } = message;
  if (authorKind === 'self') return ignored('self');
  if (message.isSystem) return ignored('system');
  const isBot = authorKind === 'bot';
  if (isBot && !policy.allowedBotIds.includes(authorId)) return ignored('bot');
  const command = policy.parseCommand(message.text);
  const isManaging =
    command !== undefined && message.managesServer && policy.managerCommands.includes(command.name);
  if (!worksIn(policy, message)) return ignored('other-channel');
  if (!isBot && !isManaging && !hasAccess(policy, authorId)) {
    const isToBot = message.isDm || message.mentionsBot || message.repliesToBot || command !== undefined;
    return isToBot ? ({ kind: 'locked-out' } as const) : ignored('no-access');
  }
  if (message.text === '' && !message.hasEnclosures) return ignored('empty');
  if (command !== undefined) {
    if (isBot) return ignored('bot');
    return message.isEdited ? ignored('edited') : ({ kind: 'command', command } as const);
  }
  const isTurn = isAddressed(message, policy);
  if (isTurn === undefined) return { kind: 'undecided' } as const;
  return isTurn ? ({ kind: 'turn' } as const) : ignored('not-addressed');
}

function ignored(reason: string) {
  return { kind: 'ignore', reason } as const;
}

function isAddressed(message: MessageFacts, policy: IntakePolicy): boolean | undefined {
  if (message.mentionsBot || message.repliesToBot) return true;
  if (message.authorKind === 'bot') return false;
  if (message.answerMode === 'unknown') return undefined;
  if (message.answerMode !== undefined) return message.answerMode === 'everything';
  return message.isDm || message.isOwnThread || isListed(policy.autoReplyChannelIds, message);
}

const dayMs = 24 * 60 * 60_000;
/** People without access who are kept in mind; one who falls out is shown it again. */
const keptPeople = 10_000;

export type LockedOut = ReturnType<typeof createLockedOut>;

/** Shows people without access that they are not answered [G1]: by a reaction, once a day at most as long as the process lives. */
export function createLockedOut() {
  const shown = growingCache<string, true>(keptPeople, { maxAge: dayMs });
  let messages = 0;
  return {
    /** Somebody without access has written to the bot; whether they are to see that. */
    note(userId: string): boolean {
      messages += 1;
      if (shown.has(userId)) return false;
      shown.set(userId, true);
      return true;
    },
    count: (): number => messages,
  };
}

/** Answers to one bot in a channel at most, until a person says something there. */
const answersInARow = 5;
/** Channels that are kept in mind; the count of one that falls out starts at zero. */
const keptChannels = 1000;

/** Breaks loops of bots: nobody but another bot talks with this one for long [G2]. A restart forgets the count. */
export function createBotLoopGuard() {
  /** By channel, messages of bots that were let through, and those that reached the limit: a repeated event counts once. */
  const answered = growingCache<string, ReadonlyMap<string, string>>(keptChannels);
  return {
    /** A person said something: from now on bots are answered there again. */
    humanSpoke: (channelId: string): void => void answered.delete(channelId),
    /** Whether a bot's message is answered. `limit-reached`: from now on it is not any more, which is said once. */
    admit(message: { readonly id: string; readonly channelId: string; readonly authorId: string }) {
      const { id, channelId, authorId } = message;
      const before = answered.get(channelId) ?? new Map<string, string>();
      const count = [...before.values()].filter((each) => each === authorId).length;
      if (count > answersInARow) return 'silence';
      if (before.has(id)) return 'answer';
      answered.set(channelId, new Map([...before, [id, authorId]]));
      return count === answersInARow ? 'limit-reached' : 'answer';
    },
  };
}
