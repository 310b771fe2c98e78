import type { Channel, Message } from 'discord.js';
import { MessageType, PermissionFlagsBits } from 'discord-api-types/v10';

import type { RecentChanges } from '../core/changes.ts';
import type { AnswerMode, BotHandlers, ChatMessage, CommandCall, WaitingReactionPort } from '../core/chat.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import { lruCache } from '../core/limits.ts';
import { type Logger, measure } from '../core/logger.ts';
import type { Place } from '../core/place.ts';
import type { Offer, OfferPort } from '../core/tool.ts';
import {
  type Access,
  type IntakePolicy,
  type LockedOut,
  type MessageFacts,
  type Visitor,
  createBotLoopGuard,
  decideIntake,
  isOwner,
  rolesOf,
  worksIn,
} from './access.ts';
import type { ChannelMessages } from './channel-messages.ts';
import { type History, saysSomething } from './history.ts';
import { authorKindOf, chatMessageOf, enclosuresOf, isSpoken, ownIdsIn, textOf } from './normalise.ts';
import { botMay } from './permissions.ts';
import { type Places, placeOf } from './place.ts';
import type { Proxies } from './proxied.ts';
import type { RunInBackground } from './gateway-error.ts';

const keptAsked = 1000;
/** As long as the offer is open; milliseconds. */
const askedForMs = 10 * 60_000;

type GuildPlace = Pick<Place, 'guildId' | 'channelId' | 'parentId'>;

/** Whether a person has said that what a proxy posts for them are their words [G2a]. */
export interface ProxyConsent {
  /** Never rejects. */
  has(userId: string, appId: string): Promise<boolean>;
  /** Rejects with `StoreError`. */
  give(userId: string, appId: string): Promise<void>;
}

export interface IntakeOptions {
  readonly botId: string;
  readonly policy: IntakePolicy;
  readonly people: Access;
  readonly channelQueue: KeyedQueue;
  readonly arrivals: KeyedQueue;
  readonly places: Places;
  readonly history: Pick<History, 'seen' | 'keeps' | 'messageOf' | 'isTalkingWith'>;
  readonly messages: Pick<ChannelMessages, 'one'>;
  readonly proxies: Pick<Proxies, 'isCopy' | 'speakerOf' | 'heard' | 'readings' | 'prove' | 'accept'>;
  readonly proxyConsent: ProxyConsent;
  readonly offers: Pick<OfferPort, 'show'>;
  readonly stopping: AbortSignal;
  readonly recent: Pick<RecentChanges, 'wasDeleted'>;
  readonly handlers: Pick<BotHandlers, 'message' | 'onUserMessage' | 'lockedOut' | 'unanswerable'>;
  /** None of these may reject. */
  readonly answerModes: {
    answerMode(place: GuildPlace): Promise<AnswerMode | undefined>;
    /** From memory; `unknown` where nothing was read just now. */
    recentAnswerMode(place: GuildPlace): AnswerMode | 'unknown' | undefined;
    mayHaveChannelMemory(guildId: string): boolean;
  };
  readonly caughtUp: (channelId: string) => Promise<void>;
  /** Whether the bot has answered a person before and keeps that. Must not reject. */
  readonly wasLetIn: (userId: string) => Promise<boolean>;
  readonly lockedOut: Pick<LockedOut, 'note'>;
  readonly reactions: Pick<WaitingReactionPort, 'refuse'>;
  readonly runInBackground: RunInBackground;
  readonly logger: Logger;
}

export function createMessageIntake(options: IntakeOptions) {
  const { botId, policy, people, places, answerModes, history, handlers, runInBackground, logger } = options;
  const { proxies } = options;
  const botLoopGuard = createBotLoopGuard();
  /** `<application> <account>`: whom an open line asks. */
  const asked = lruCache<string, true>(keptAsked, { maxAge: askedForMs });

  return {
    /** A live message. Most are not for the bot, so they cost little. */
    receive(message: Message): void {
      const { channelId, author } = message;
      if (author.id === botId) return runInBackground('a message', () => take(message));
      proxies.heard(message);
      remember(message);
      if (proxies.isCopy(message)) return runInBackground('a copy', () => takeCopy(message));
      const channel = places.known(channelId);
      // What comes with the event is how it is now.
      const visitor = { ...visitorOf(message), roleIds: rolesOf(message.member) };
      noteSpoken(message, channel, visitor);
      const answerMode = answerModes.recentAnswerMode(guildPlaceOf(message, channel));
      const access = knownAccess(author.id);
      const decision = channel && decide(message, channel, answerMode, repliedAuthor(message), access);
      if (decision?.kind === 'ignore') return ignore(message, decision.reason);
      arrive(message, visitor);
    },
    /** A missed message. Never throws; resolves when it was handed on in order, or ignored. */
    async take(message: Message): Promise<void> {
      if (!proxies.isCopy(message)) return take(message);
      // Once it is proven, history has it: its account may have had it erased since [K11].
      runInBackground('a copy', () => takeCopy(message));
    },
  };

  /** What needs no reading. */
  function knownAccess(userId: string): MessageFacts['hasAccess'] {
    return people.isConfigured(userId) || 'unknown';
  }

  function arrive(message: Message, visitor: Visitor, isProxied?: true): void {
    const { channelId } = message;
    runInBackground('a message', () =>
      options.arrivals.run(channelId, async () => {
        await options.caughtUp(channelId);
        runInBackground('a message', () => take(message, visitor, isProxied));
      }),
    );
  }

  function remember(message: Message): void {
    const isWanted = message.author.id === botId || history.keeps(message.channelId);
    if (isWanted && isSpoken(message)) history.seen(chatMessageOf(message, botId, proxies.speakerOf));
  }

  /** A proven copy is a new message of its account [G2a]; the original is deleted like any other message. */
  async function takeCopy(copy: Message): Promise<void> {
    const { channelId, applicationId } = copy;
    const channel = places.known(channelId);
    const answerMode = answerModes.recentAnswerMode(guildPlaceOf(copy, channel));
    const isForBot = (message: Message): boolean =>
      decide(message, channel, answerMode, repliedAuthor(message), true).kind !== 'ignore';
    if (!proxies.readings(copy).some(isForBot)) return ignore(copy, 'not-addressed');
    const proof = await proxies.prove(copy, options.stopping);
    if (proof === undefined || options.stopping.aborted) return ignore(copy, 'unproven');
    const { message, isCertain } = proof;
    const visitor = { ...visitorOf(message), roleIds: rolesOf(message.member) };
    const { userId } = visitor;
    function accept(): void {
      proxies.accept(message);
      arrive(message, visitor, true);
    }
    const appId = applicationId ?? '';
    if (isCertain || (await options.proxyConsent.has(userId, appId))) return accept();
    if (!(await people.of(visitor)) || !isForBot(message)) return ignore(copy, 'unproven');
    const key = `${appId} ${userId}`;
    if (asked.has(key)) return;
    asked.set(key, true);
    await options.offers.show([myWords(userId, () => options.proxyConsent.give(userId, appId), accept)], {
      personId: userId,
      channelId,
      messages: [{ id: copy.id, text: textOf(copy) }],
      replyIds: [],
      // History leaves small print out.
      beforeSeen: () => Promise.resolve(),
    });
  }

  /** `undecided` also where it may be a reply to the bot. */
  function decide(
    message: Message,
    channel: Channel | undefined,
    answerMode: MessageFacts['answerMode'],
    replied: string | undefined,
    hasAccess: MessageFacts['hasAccess'],
  ) {
    const { channelId } = message;
    const thread = channel?.isThread() === true ? channel : undefined;
    const text = textOf(message);
    const authorKind = authorKindOf(message, botId);
    const isSystem = !isSpoken(message) || message.webhookId !== null;
    if (authorKind === 'human' && !isSystem) botLoopGuard.humanSpoke(channelId);
    if (replied === 'unknown') return { kind: 'undecided' } as const;
    const isCommand = policy.parseCommand(text) !== undefined;
    return decideIntake(
      {
        channelId,
        parentId: thread?.parentId ?? undefined,
        isDm: channel?.isDMBased() ?? !message.inGuild(),
        isOwnThread: thread?.ownerId === botId,
        managesServer: isCommand && message.member?.permissions.has(PermissionFlagsBits.ManageGuild) === true,
        authorId: message.author.id,
        hasAccess,
        authorKind,
        isSystem,
        text,
        hasEnclosures: text === '' && saysSomething(chatMessageOf(message, botId)),
        isEdited: message.editedTimestamp !== null,
        mentionsBot: mentionsBot(message),
        repliesToBot: replied === botId,
        answerMode,
        goesOn: answerMode === 'conversation' && goesOn(message, replied),
      },
      policy,
    );
  }

  /** Whether it is for nobody else, and the bot was talking with its author [G2]. */
  function goesOn(message: Message, replied: string | undefined): boolean {
    const { id, channelId, author, mentions, content } = message;
    const isForOthers =
      mentions.users.size + mentions.roles.size > 0 || /@(?:everyone|here)\b/u.test(content);
    return !isForOthers && replied === undefined && history.isTalkingWith(author.id, channelId, id);
  }

  /** Talk that is not for the bot still goes into channel notes [B1]. */
  function noteSpoken(message: Message, channel: Channel | undefined, visitor: Visitor): void {
    const { id: messageId, channelId, guildId, author } = message;
    if (guildId === null || !answerModes.mayHaveChannelMemory(guildId)) return;
    if (author.bot || message.webhookId !== null || !isSpoken(message)) return;
    const { parentId } = guildPlaceOf(message, channel);
    if (!worksIn(policy, { channelId, isDm: false, parentId })) return;
    if (policy.parseCommand(textOf(message)) !== undefined) return;
    runInBackground('a message', async () => {
      if (await people.of(visitor))
        handlers.onUserMessage({ guildId, channelId, messageId, authorId: author.id });
    });
  }

  function ignore({ id: messageId, channelId }: Pick<Message, 'id' | 'channelId'>, reason: string): void {
    logger.debug('a message is ignored', { channelId, messageId, reason });
    measure('ignored', { reason });
  }

  async function take(message: Message, visitor = visitorOf(message), isProxied?: true): Promise<void> {
    const { id: messageId, channelId } = message;
    if (options.recent.wasDeleted(messageId)) return;
    remember(message);
    if (message.author.id === botId) return;
    await options.channelQueue.run(channelId, () =>
      consider(message, visitor, isProxied).catch((error: unknown) =>
        logger.error('a message could not be processed', { channelId, messageId, error }),
      ),
    );
  }

  async function consider(message: Message, visitor: Visitor, isProxied?: true): Promise<void> {
    const { id: messageId, channelId } = message;
    const channel = await places.find(channelId);
    const replied = await fetchedIfUnknown(message);
    const isToBot = mentionsBot(message) || replied === botId;
    const place = guildPlaceOf(message, channel);
    const mode = answerModes.recentAnswerMode(place);
    const recent = decide(message, channel, mode, replied, knownAccess(message.author.id));
    // A burst of messages reads settings once.
    const decision =
      recent.kind === 'undecided'
        ? decide(message, channel, await answerModes.answerMode(place), replied, await people.of(visitor))
        : recent;
    if (decision.kind === 'ignore') return ignore(message, decision.reason);
    const chat = chatMessageOf(message, botId);
    history.seen(chat);
    const isFormer =
      decision.kind === 'locked-out' &&
      decision.kept !== undefined &&
      (await options.wasLetIn(chat.author.id));
    if (decision.kind === 'locked-out' && !isFormer) {
      if (!options.lockedOut.note(chat.author.id)) return;
      options.reactions.refuse(channelId, messageId, '🔒');
      const { id: userId, name } = chat.author;
      const channelName =
        channel !== undefined && 'name' in channel ? (channel.name ?? undefined) : undefined;
      const asker = { userId, name, channelName, guildName: message.guild?.name };
      runInBackground('a message', () => handlers.lockedOut(asker));
      return;
    }
    // Commands work even where the bot may not speak.
    if (decision.kind === 'turn' && !botMay('send', channel)) {
      logger.warn('a message is not answered where the bot may not speak', { channelId, messageId });
      if (chat.author.kind === 'human' && isToBot)
        runInBackground('a message', () => handlers.unanswerable(chat));
      return;
    }
    if (chat.author.kind === 'bot' && !isAdmitted(chat)) return;
    const present = channel === undefined ? unknownPlace(message) : await placeOf(channel, places);
    if (present === undefined || options.recent.wasDeleted(messageId)) return;
    runInBackground('a message', () =>
      handlers.message({
        ...chat,
        ...enclosuresOf(message),
        command: commandIn(decision),
        place: present,
        isOwner: isOwner(policy, chat.author.id),
        isProxied,
      }),
    );
    if (isToBot) runInBackground('joining a thread', () => joinThread(channel));
  }

  /** Discord usually includes who wrote what a message replies to. */
  function repliedAuthor({ type, channelId, mentions, reference }: Message): string | undefined {
    if (type !== MessageType.Reply || reference?.messageId === undefined) return undefined;
    const known = mentions.repliedUser ?? history.messageOf(channelId, reference.messageId)?.author;
    return known?.id ?? 'unknown';
  }

  async function fetchedIfUnknown(message: Message): Promise<string | undefined> {
    const known = repliedAuthor(message);
    const messageId = message.reference?.messageId;
    if (known !== 'unknown' || messageId === undefined) return known;
    try {
      return (await options.messages.one(message.channelId, messageId))?.author.id;
    } catch (error) {
      logger.debug('a message that is replied to could not be fetched', { messageId, error });
      return undefined;
    }
  }

  function isAdmitted({ id, channelId, author }: ChatMessage): boolean {
    const admission = botLoopGuard.admit({ id, channelId, authorId: author.id });
    if (admission === 'limit-reached')
      logger.warn('too many answers to a bot; waiting for a person', { channelId, botId: author.id });
    return admission === 'answer';
  }

  function mentionsBot({ client, guildId, mentions, content }: Message): boolean {
    if (mentions.users.has(botId)) return true;
    // Discord does not say whether unpingable roles count among mentions.
    return (
      (mentions.roles.size > 0 || content.includes('<@&')) &&
      ownIdsIn(client, guildId).some((id) => mentions.roles.has(id) || content.includes(`<@&${id}>`))
    );
  }

  /** Without joining, only a manager hears a thread. Never rejects. */
  async function joinThread(channel: Channel | undefined): Promise<void> {
    if (channel?.isThread() !== true || !channel.joinable) return;
    await channel
      .join()
      .catch((error: unknown) =>
        logger.warn('a thread could not be joined', { channelId: channel.id, error }),
      );
  }
}

/** Asks an account, under a copy, whether it is theirs [G2a]. */
function myWords(userId: string, give: () => Promise<void>, accept: () => void): Offer {
  return {
    what: `<@${userId}>: press “My words” once, and I take what this proxy posts for you as yours.`,
    label: 'My words',
    async carryOut() {
      await give();
      accept();
      const undo = { label: 'Take that back', line: 'memory proxies-off' };
      return {
        text: 'What this proxy posts for you counts as your words. `!memory proxies-off` takes that back.',
        buttons: [undo],
      };
    },
  };
}

function guildPlaceOf({ channelId, guildId }: Message, channel: Channel | undefined): GuildPlace {
  const parentId = channel?.isThread() === true ? channel.parentId : null;
  return { channelId, parentId: parentId ?? undefined, guildId: guildId ?? undefined };
}

function commandIn(decision: ReturnType<typeof decideIntake>): CommandCall | undefined {
  if (decision.kind === 'command') return decision.command;
  return decision.kind === 'locked-out' ? decision.kept : undefined;
}

function visitorOf({ author, guildId }: Message): Visitor {
  return { userId: author.id, guildId: guildId ?? undefined };
}

/** Where nothing is known, nothing is public [V0]. */
function unknownPlace({ channelId, guildId }: Message): Place {
  return { audience: 'private', channelId, homeId: channelId, guildId: guildId ?? undefined };
}
