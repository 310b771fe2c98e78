import type { Channel } from 'discord.js';

import type { AnswerMode, CommandCall } from '../core/chat.ts';
import { lruCache } from '../core/limits.ts';

/** Who is answered and where [G1][G2]; ids throughout. */
export interface AccessSettings {
  readonly ownerIds: readonly string[];
  readonly access: 'allowlist' | 'everyone';
  readonly allowedUserIds: readonly string[];
  readonly allowedBotIds: readonly string[];
  /** Where not empty, the only guild channels. */
  readonly channelIds: readonly string[];
  readonly autoReplyChannelIds: readonly string[];
}

/** A thread counts as its parent. */
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

export function worksIn(settings: Pick<AccessSettings, 'channelIds'>, channel: ChannelFacts): boolean {
  return channel.isDm || settings.channelIds.length === 0 || isListed(settings.channelIds, channel);
}

export function worksInChannel(settings: Pick<AccessSettings, 'channelIds'>, channel: Channel): boolean {
  const parentId = channel.isThread() ? (channel.parentId ?? undefined) : undefined;
  return worksIn(settings, { channelId: channel.id, isDm: channel.isDMBased(), parentId });
}

function isListed(ids: readonly string[], { channelId, parentId }: ChannelFacts): boolean {
  return ids.includes(channelId) || (parentId !== undefined && ids.includes(parentId));
}

export interface MessageFacts extends ChannelFacts {
  readonly authorId: string;
  readonly authorKind: 'human' | 'self' | 'bot';
  /** Such as a join, a pin, a webhook's post. */
  readonly isSystem: boolean;
  readonly text: string;
  readonly hasEnclosures: boolean;
  /** Edited before it was fetched after a gap. */
  readonly isEdited: boolean;
  /** By name or by its own role; other roles do not count. */
  readonly mentionsBot: boolean;
  readonly repliesToBot: boolean;
  readonly isOwnThread: boolean;
  readonly managesServer: boolean;
  /** What the owner has set for this place; it wins over everything else. Never in DMs. */
  readonly answerMode?: AnswerMode | 'unknown' | undefined;
  /** Continues the author's conversation with the bot; only looked at in that mode. */
  readonly goesOn: boolean;
}

export interface IntakePolicy extends AccessSettings {
  /** `undefined` for no command [K1]. */
  readonly parseCommand: (text: string) => CommandCall | undefined;
  /** Commands for server managers, even without access. */
  readonly managerCommands: readonly string[];
}

/** [G1][G2] A command is never a turn [F2]; an edit makes none. `undecided` needs the answer mode. */
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
  if (message.answerMode === 'conversation') return message.goesOn;
  if (message.answerMode !== undefined) return message.answerMode === 'everything';
  return message.isDm || message.isOwnThread || isListed(policy.autoReplyChannelIds, message);
}

const dayMs = 24 * 60 * 60_000;
const keptPeople = 10_000;

export type LockedOut = ReturnType<typeof createLockedOut>;

/** Shows people without access that they are not answered [G1], once a day at most. */
export function createLockedOut() {
  const shown = lruCache<string, true>(keptPeople, { maxAge: dayMs });
  let messages = 0;
  return {
    note(userId: string): boolean {
      messages += 1;
      if (shown.has(userId)) return false;
      shown.set(userId, true);
      return true;
    },
    count: (): number => messages,
  };
}

const answersInARow = 5;
const keptChannels = 1000;

/** Breaks loops of bots [G2]. A restart forgets the count. */
export function createBotLoopGuard() {
  /** By channel, author by message id: a repeated event counts once. */
  const answered = lruCache<string, ReadonlyMap<string, string>>(keptChannels);
  return {
    humanSpoke: (channelId: string): void => void answered.delete(channelId),
    /** `limit-reached` is returned once. */
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
