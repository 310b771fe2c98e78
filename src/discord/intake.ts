import { MessageType, PermissionFlagsBits, type Channel, type Message } from 'discord.js';

import type { RecentChanges } from '../core/changes.ts';
import type { AnswerMode, BotHandlers, ChatMessage, WaitingReactionPort } from '../core/chat.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import { growingCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Place } from '../core/place.ts';
import {
  BotLoopGuard,
  decideIntake,
  type LockedOut,
  isOwner,
  type IntakePolicy,
  type MessageFacts,
} from './access.ts';
import type { History } from './history.ts';
import { chatMessageOf, enclosuresOf, isSpoken, ownIdsIn } from './normalise.ts';
import { botMay } from './permissions.ts';
import { placeOf, type Places } from './place.ts';
import type { RunInBackground } from './run-in-background.ts';

export interface IntakeOptions {
  readonly botId: string;
  readonly policy: IntakePolicy;
  readonly channelQueue: KeyedQueue;
  readonly places: Places;
  readonly history: Pick<History, 'seen'>;
  /** A message may arrive after its deletion; then it is not answered. */
  readonly recent: Pick<RecentChanges, 'wasDeleted'>;
  readonly handlers: Pick<BotHandlers, 'message' | 'unanswerable'>;
  /** What the owner has set for a place of a guild, if anything. Must not reject. */
  readonly answerMode: (
    place: Pick<Place, 'guildId' | 'channelId' | 'parentId'>,
  ) => Promise<AnswerMode | undefined>;
  readonly ignored: Pick<IgnoredMessages, 'note' | 'has'>;
  readonly lockedOut: Pick<LockedOut, 'note'>;
  readonly reactions: Pick<WaitingReactionPort, 'refuse'>;
  readonly runInBackground: RunInBackground;
  readonly logger: Logger;
}

/**
 * The way of every message from Discord inward, live or fetched after a gap: into history, past the decision, on to the handlers. The
 * returned function never throws, and resolves when the message was handed on or ignored. A channel's messages are handed on in the
 * order they came in; how long each is worked on does not hold up the next.
 */
export function createMessageIntake(options: IntakeOptions): (message: Message) => Promise<void> {
  const { botId, policy, runInBackground, logger } = options;
  const botLoopGuard = new BotLoopGuard();
  const joining = new Set<string>();

  return async (message) => {
    if (options.recent.wasDeleted(message.id)) return;
    const chat = chatMessageOf(message, botId);
    if (isSpoken(message)) options.history.seen(chat);
    // What the bot says itself needs no place in the queue.
    if (chat.author.kind === 'self') return;
    await options.channelQueue.run(message.channelId, async () => {
      try {
        await consider(message, chat);
      } catch (error) {
        logger.error('a message could not be processed', {
          channelId: chat.channelId,
          messageId: chat.id,
          error,
        });
      }
    });
  };

  async function consider(message: Message, chat: ChatMessage): Promise<void> {
    const channel = await options.places.find(message.channelId);
    const facts = await factsOf(message, chat, channel);
    if (facts.authorKind === 'human' && !facts.isSystem) botLoopGuard.humanSpoke(chat.channelId);
    if (options.ignored.has(chat.id)) return;
    const decision = decideIntake(facts, policy);
    if (decision.kind === 'locked-out') {
      options.ignored.note(chat.id);
      if (options.lockedOut.note(chat.author.id)) options.reactions.refuse(chat.channelId, chat.id, '🔒');
      return;
    }
    if (decision.kind === 'ignore') {
      options.ignored.note(chat.id);
      logger.debug('a message is ignored', {
        channelId: chat.channelId,
        messageId: chat.id,
        reason: decision.reason,
      });
      return;
    }
    // A command may change memory without a word; a turn that cannot be answered need not be thought about.
    if (decision.kind === 'turn' && !botMay('send', channel)) {
      logger.warn('a message is not answered where the bot may not speak', {
        channelId: chat.channelId,
        messageId: chat.id,
      });
      if (facts.authorKind === 'human' && (facts.mentionsBot || facts.repliesToBot))
        runInBackground('a message', () => options.handlers.unanswerable(chat));
      return;
    }
    if (facts.authorKind === 'bot' && !isAdmitted(chat)) return;
    const place = channel === undefined ? unknownPlace(message) : await placeOf(channel, options.places);
    // It may have been deleted while its place was looked up.
    if (place === undefined || options.recent.wasDeleted(message.id)) return;
    const command = decision.kind === 'command' ? { command: decision.command } : {};
    runInBackground('a message', () =>
      options.handlers.message({
        ...chat,
        ...enclosuresOf(message),
        ...command,
        place,
        isOwner: isOwner(policy, chat.author.id),
      }),
    );
    if (facts.mentionsBot || facts.repliesToBot)
      runInBackground('joining a thread', () => joinThread(channel));
  }

  function isAdmitted({ id, channelId, author }: ChatMessage): boolean {
    const admission = botLoopGuard.admit({ id, channelId, authorId: author.id });
    if (admission === 'limit-reached')
      logger.warn('a bot is not answered any more until a person speaks', { channelId, botId: author.id });
    return admission === 'answer';
  }

  /** What the decision needs to know [G2]; `chat` is the same message in the core's words, `channel` the complete channel it stands in. */
  async function factsOf(
    message: Message,
    chat: ChatMessage,
    channel: Channel | undefined,
  ): Promise<MessageFacts> {
    const { channelId, guildId, mentions, content } = message;
    const thread = channel?.isThread() === true ? channel : undefined;
    const parentId = thread?.parentId ?? undefined;
    const guildPlace = { channelId, ...(parentId !== undefined && { parentId }) };
    return {
      channelId,
      parentId,
      isDm: channel?.isDMBased() ?? !message.inGuild(),
      isOwnThread: thread?.ownerId === botId,
      managesServer: message.member?.permissions.has(PermissionFlagsBits.ManageGuild) ?? false,
      authorId: message.author.id,
      authorKind: chat.author.kind,
      isSystem: !isSpoken(message) || message.webhookId !== null,
      text: chat.text,
      hasEnclosures: chat.attachments.length > 0 || chat.shown !== undefined,
      isEdited: message.editedTimestamp !== null,
      mentionsBot: ownIdsIn(message.client, guildId).some(
        // Whether a role that nobody may ping counts among the mentions, Discord does not say.
        (id) => mentions.users.has(id) || mentions.roles.has(id) || content.includes(`<@&${id}>`),
      ),
      repliesToBot: message.type === MessageType.Reply && mentions.repliedUser?.id === botId,
      answerMode: guildId === null ? undefined : await options.answerMode({ ...guildPlace, guildId }),
    };
  }

  /**
   * What is said in a thread that the bot has joined reaches it also where it is not a manager, and people see it among the members. Only where
   * it may and is not yet; never rejects.
   */
  async function joinThread(channel: Channel | undefined): Promise<void> {
    if (channel?.isThread() !== true || !channel.joinable || joining.has(channel.id)) return;
    joining.add(channel.id);
    try {
      await channel.join();
    } catch (error) {
      logger.warn('a thread could not be joined', { channelId: channel.id, error });
    } finally {
      joining.delete(channel.id);
    }
  }
}

/** Where nothing can be known, nothing is public, and nobody known to read along [V0]. */
function unknownPlace({ channelId, guildId }: Message): Place {
  return { audience: 'private', channelId, homeId: channelId, ...(guildId !== null && { guildId }) };
}

/** More than come in the time that is caught up with after a gap, in most servers. */
const mostIgnored = 5000;

export type IgnoredMessages = ReturnType<typeof createIgnoredMessages>;

/**
 * Messages that were not for the bot when they came [G2]. After a gap they are fetched again, when other settings may hold: what was ignored
 * stays ignored. `earlier`: what a process before this one ignored.
 */
export function createIgnoredMessages(earlier: readonly string[]) {
  const known = growingCache<string, true>(mostIgnored);
  for (const id of earlier) known.set(id, true);
  return {
    note: (messageId: string): void => void known.set(messageId, true),
    has: (messageId: string): boolean => known.has(messageId),
    /** In no order. */
    ids: (): readonly string[] => [...known.keys()],
  };
}
