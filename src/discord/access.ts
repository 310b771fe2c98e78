import {
  RESTJSONErrorCodes,
  type APIInteractionGuildMember,
  type Channel,
  type Client,
  type GuildMember,
} from 'discord.js';

import type { AnswerMode } from '../core/channels.ts';
import type { MenuForms } from '../core/commands.ts';
import type { CommandCall } from '../core/message.ts';
import { lruCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { hasErrorCode } from './refusals.ts';
import { titleOf } from './permissions.ts';

/** Who is answered and where [G1][G2]; ids throughout. */
export interface AccessSettings {
  readonly ownerIds: readonly string[];
  readonly access: 'allowlist' | 'everyone';
  readonly allowedUserIds: readonly string[];
  /** They let people in on their servers, and in DMs. */
  readonly allowedRoleIds: readonly string[];
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

/** Owners are those that the configuration names, or else the application's. */
export function withOwners<Settings extends Pick<AccessSettings, 'ownerIds'>>(
  settings: Settings,
  application: Pick<AccessSettings, 'ownerIds'>,
): Settings {
  return settings.ownerIds.length > 0 ? settings : { ...settings, ownerIds: application.ownerIds };
}

export function isOwner(settings: AccessSettings, userId: string): boolean {
  return settings.ownerIds.includes(userId);
}

/** Somebody who writes or gives a command; the server is absent in a DM. */
export interface Visitor {
  readonly userId: string;
  readonly guildId?: string | undefined;
  /** As told with what they just did; absent where that was not told, or may be old. */
  readonly roleIds?: readonly string[] | undefined;
}

export function rolesOf(member: GuildMember | APIInteractionGuildMember | null): Visitor['roleIds'] {
  if (member === null) return undefined;
  return Array.isArray(member.roles) ? member.roles : [...member.roles.cache.keys()];
}

/** Whom the configuration lets in, as `<@id>` and roles as `<@&id>`. */
export function letInByConfig({
  allowedUserIds,
  allowedRoleIds,
}: Pick<AccessSettings, 'allowedUserIds' | 'allowedRoleIds'>): readonly string[] {
  return [...allowedUserIds.map((id) => `<@${id}>`), ...allowedRoleIds.map((id) => `<@&${id}>`)];
}

export type Access = ReturnType<typeof createAccess>;

/** Who is let in [G1]: by name, or by a role that they have in a server. Without an intent Discord tells no changes of roles. */
export function createAccess(
  settings: AccessSettings,
  ports: {
    readonly client: Client;
    /** Whom commands let in now, in the same form. May reject. */
    readonly readAdded: () => Promise<readonly string[]>;
    readonly logger: Logger;
  },
) {
  const { client, readAdded, logger } = ports;
  /** By server and person, what Discord answered in the last minute; empty for a person who is not there. */
  const answers = lruCache<string, readonly string[]>(keptPeople, { maxAge: minuteMs });

  /** Where it cannot be read, the configuration alone lets people in. */
  async function everybody(): Promise<ReadonlySet<string>> {
    const added = await readAdded().catch((error: unknown) => {
      logger.error('who was let in by commands cannot be read', { error });
      return [];
    });
    return new Set([...letInByConfig(settings), ...added]);
  }

  /** Rejects where Discord cannot be asked. */
  async function rolesIn(guildId: string, userId: string, mayBeOld: boolean): Promise<readonly string[]> {
    const key = `${guildId}:${userId}`;
    const known = mayBeOld ? answers.get(key) : undefined;
    if (known !== undefined) return known;
    const members = client.guilds.cache.get(guildId)?.members;
    const member = await members?.fetch({ user: userId, force: true }).catch((error: unknown) => {
      if (hasErrorCode(error, RESTJSONErrorCodes.UnknownMember)) return undefined;
      throw error;
    });
    const roles = member === undefined ? [] : [guildId, ...member.roles.cache.keys()];
    answers.set(key, roles);
    return roles;
  }

  /** Rejects where Discord cannot be asked. */
  async function isLetIn({ userId, guildId, roleIds }: Visitor): Promise<boolean> {
    const letIn = await everybody();
    if (letIn.has(`<@${userId}>`)) return true;
    for (const id of guildId === undefined ? client.guilds.cache.keys() : [guildId]) {
      const mayHave =
        client.guilds.cache.get(id)?.roles.cache.some((_, roleId) => letIn.has(`<@&${roleId}>`)) === true;
      if (roleIds === undefined && !mayHave) continue;
      const has = roleIds === undefined ? await rolesIn(id, userId, guildId === undefined) : [id, ...roleIds];
      if (has.some((each) => letIn.has(`<@&${each}>`))) return true;
    }
    return false;
  }

  /** All that needs no reading. */
  const isConfigured = (userId: string): boolean =>
    settings.access === 'everyone' || isOwner(settings, userId) || settings.allowedUserIds.includes(userId);

  return {
    isConfigured,
    ownerIds: settings.ownerIds,
    /** Never rejects: whose roles cannot be asked for has no access. */
    async of(visitor: Visitor): Promise<boolean> {
      if (isConfigured(visitor.userId)) return true;
      try {
        return await isLetIn(visitor);
      } catch (error) {
        const { userId, guildId } = visitor;
        logger.warn("a person's roles could not be asked for", { userId, guildId, error });
        return false;
      }
    },
    /** Who is let in besides the owners: mentions of people, and roles with their servers. Never rejects. */
    async all(): Promise<readonly string[]> {
      return [...(await everybody())].map((each) => titleOf(client, each));
    },
  };
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
  readonly hasAccess: boolean | 'unknown';
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
  readonly menuForms?: MenuForms | undefined;
  /** Commands for server managers, even without access. */
  readonly managerCommands: readonly string[];
  /** Names and subcommands, as `memory show`, for people who lost access. */
  readonly keptCommands: readonly string[];
}

/** [G1][G2] A command is never a turn [F2]; an edit makes none. `undecided` needs the answer mode, or access. */
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
  // Most messages are for others: whose they are need not be known.
  if (!isBot && !isManaging && message.hasAccess === 'unknown')
    return command === undefined && isAddressed(message, policy) === false
      ? ignored('not-addressed')
      : ({ kind: 'undecided' } as const);
  if (!isBot && !isManaging && message.hasAccess !== true) {
    const isToBot = message.isDm || message.mentionsBot || message.repliesToBot || command !== undefined;
    if (!isToBot) return ignored('no-access');
    return { kind: 'locked-out', kept: command && isKept(command, policy) ? command : undefined } as const;
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

export function isKept(
  { name, subcommand }: Pick<CommandCall, 'name' | 'subcommand'>,
  { keptCommands }: Pick<IntakePolicy, 'keptCommands'>,
): boolean {
  return keptCommands.includes(`${name} ${subcommand}`);
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
const minuteMs = 60_000;
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
  /** By channel, whom the bot answered since a person spoke there. */
  const answered = lruCache<string, readonly string[]>(keptChannels);
  return {
    humanSpoke: (channelId: string): void => void answered.delete(channelId),
    /** `limit-reached` is returned once. */
    admit({ channelId, authorId }: { readonly channelId: string; readonly authorId: string }) {
      const before = answered.get(channelId) ?? [];
      const count = before.filter((each) => each === authorId).length;
      if (count > answersInARow) return 'silence';
      answered.set(channelId, [...before, authorId]);
      return count === answersInARow ? 'limit-reached' : 'answer';
    },
  };
}
