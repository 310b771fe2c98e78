import type { Channel, Message } from 'discord.js';

import type { AnswerMode, BotHandlers, ChatMessage } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { Place } from '../core/place.ts';
import { isOwner } from './access.ts';
import { BotAnswers } from './bot-answers.ts';
import type { ChannelOrder } from './channel-order.ts';
import { enclosuresOf } from './enclosures.ts';
import type { HandOn } from './hand-on.ts';
import type { History } from './history.ts';
import type { IgnoredMessages } from './ignored-messages.ts';
import { decideIntake, type IntakePolicy } from './intake.ts';
import { chatMessageOf, factsOf, isSpoken } from './normalise.ts';
import { botMay } from './permissions.ts';
import { placeOf, type FindChannel } from './place-of.ts';
import type { Retractions } from './retractions.ts';
import { createThreadJoining } from './thread-joining.ts';

/** What the owner has set for a place of a guild, if anything. Must not reject. */
export type AnswerModeOf = (
  place: Pick<Place, 'guildId' | 'channelId' | 'parentId'>,
) => Promise<AnswerMode | undefined>;

export interface MessageIntakeOptions {
  readonly botId: string;
  readonly policy: IntakePolicy;
  readonly order: ChannelOrder;
  readonly findChannel: FindChannel;
  readonly history: Pick<History, 'seen'>;
  readonly retractions: Pick<Retractions, 'wasDeleted'>;
  readonly handlers: Pick<BotHandlers, 'message'>;
  readonly answerMode: AnswerModeOf;
  readonly ignored: Pick<IgnoredMessages, 'note' | 'has'>;
  readonly handOn: HandOn;
  readonly logger: Logger;
}

/**
 * The way of every message from Discord inward, live or fetched after a gap: into history, past the decision, on to the handlers. The
 * returned function never throws, and resolves when the message was handed on or ignored. A channel's messages are handed on in the
 * order they came in; how long each is worked on does not hold up the next.
 */
export function createMessageIntake(options: MessageIntakeOptions): (message: Message) => Promise<void> {
  const { botId, policy, order, history, handOn, logger } = options;
  const joinThread = createThreadJoining(logger);
  const botAnswers = new BotAnswers();

  return async (message) => {
    if (options.retractions.wasDeleted(message.id)) return;
    const chat = chatMessageOf(message, botId);
    if (isSpoken(message)) history.seen(chat);
    // What the bot says itself needs no place in the queue.
    if (chat.author.kind === 'self') return;
    await order.run(message.channelId, async () => {
      try {
        await consider(message, chat);
      } catch (error) {
        logger.error('a message could not be taken in', {
          channelId: chat.channelId,
          messageId: chat.id,
          error,
        });
      }
    });
  };

  async function consider(message: Message, chat: ChatMessage): Promise<void> {
    const channel = await options.findChannel(message.channelId);
    const facts = {
      ...factsOf(message, chat, channelFacts(message, channel, botId), botId),
      answerMode: await answerModeFor(message, channel),
    };
    if (facts.authorKind === 'human' && !facts.isSystem) botAnswers.humanSpoke(chat.channelId);
    if (options.ignored.has(chat.id)) return;
    const decision = decideIntake(facts, policy);
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
      return;
    }
    if (facts.authorKind === 'bot' && !isAdmitted(chat)) return;
    const place = channel === undefined ? unknownPlace(message) : await placeOf(channel, options.findChannel);
    // It may have been deleted while its place was looked up.
    if (place === undefined || options.retractions.wasDeleted(message.id)) return;
    const command = decision.kind === 'command' ? { command: decision.command } : {};
    handOn('a message', () =>
      options.handlers.message({
        ...chat,
        ...enclosuresOf(message),
        ...command,
        place,
        isOwner: isOwner(policy, chat.author.id),
      }),
    );
    if (facts.mentionsBot || facts.repliesToBot) handOn('joining a thread', () => joinThread(channel));
  }

  function isAdmitted({ id, channelId, author }: ChatMessage): boolean {
    const admission = botAnswers.admit({ id, channelId, authorId: author.id });
    if (admission === 'last-straw')
      logger.warn('a bot is not answered any more until a person speaks', { channelId, botId: author.id });
    return admission === 'answer';
  }

  async function answerModeFor({ channelId, guildId }: Message, channel: Channel | undefined) {
    if (guildId === null) return undefined;
    const parentId = channel?.isThread() === true ? channel.parentId : null;
    return options.answerMode({ guildId, channelId, ...(parentId !== null && { parentId }) });
  }
}

function channelFacts(message: Message, channel: Channel | undefined, botId: string) {
  const thread = channel?.isThread() === true ? channel : undefined;
  return {
    isDm: channel?.isDMBased() ?? !message.inGuild(),
    parentId: thread?.parentId ?? undefined,
    isOwnThread: thread?.ownerId === botId,
  };
}

/** Where nothing can be known, nothing is public [V2]. */
function unknownPlace({ channelId, guildId }: Message): Place {
  return { audience: 'private', channelId, homeId: channelId, ...(guildId !== null && { guildId }) };
}
