import type { Channel, Client, GatewayMessageUpdateDispatchData, Message } from 'discord.js';
import { MessageType, PermissionFlagsBits } from 'discord-api-types/v10';

import type { RecentChanges } from '../core/changes.ts';
import type { AnswerMode } from '../core/channels.ts';
import type { BotHandlers, ChatMessage, CommandCall, MessageEdit } from '../core/message.ts';
import type { WaitingReactionPort } from '../core/reply.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import { type Logger, measure } from '../core/logger.ts';
import { withoutCode } from '../core/own-words.ts';
import type { Place } from '../core/place.ts';
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
} from './access.ts';
import { type ChannelMessages, type History, saysSomething } from './history.ts';
import {
  authorKindOf,
  cardsIn,
  chatMessageOf,
  enclosuresOf,
  isSpoken,
  ownIdsIn,
  textIn,
  textOf,
} from './normalise.ts';
import { botMay } from './permissions.ts';
import { type Places, placeOf } from './place.ts';
import type { Proxies } from './proxied.ts';
import type { RunInBackground } from './gateway-error.ts';

type GuildPlace = Pick<Place, 'guildId' | 'channelId' | 'parentId'>;

export interface IntakeOptions {
  readonly botId: string;
  readonly policy: IntakePolicy;
  readonly people: Access;
  readonly channelQueue: KeyedQueue;
  readonly arrivals: KeyedQueue;
  readonly places: Places;
  readonly history: Pick<History, 'seen' | 'keeps' | 'messageOf' | 'isTalkingWith'>;
  readonly messages: Pick<ChannelMessages, 'one'>;
  readonly proxies: Proxies;
  readonly stopping: AbortSignal;
  readonly recent: Pick<RecentChanges, 'wasDeleted'>;
  readonly handlers: Pick<BotHandlers, 'message' | 'lockedOut' | 'unanswerable'>;
  /** None of these may reject. */
  readonly answerModes: {
    answerMode(place: GuildPlace): Promise<AnswerMode | undefined>;
    /** From memory; `unknown` where nothing was read just now. */
    recentAnswerMode(place: GuildPlace): AnswerMode | 'unknown' | undefined;
  };
  readonly changes: Pick<MessageChanges, 'deleted'>;
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

  return {
    /** A live message. Most are not for the bot, so they cost little. */
    receive(message: Message): void {
      const { channelId, author } = message;
      if (author.id === botId) return runInBackground('a message', () => take(message));
      remember(message);
      if (proxies.isCopy(message)) return runInBackground('a copy', () => takeCopy(message));
      const channel = places.known(channelId);
      // What comes with the event is how it is now.
      const visitor = { ...visitorOf(message), roleIds: rolesOf(message.member) };
      const answerMode = answerModes.recentAnswerMode(guildPlaceOf(message, channel));
      const access = people.isConfigured(author.id) || 'unknown';
      const decision = channel && decide(message, channel, answerMode, repliedAuthor(message), access);
      if (decision?.kind === 'ignore') return ignore(message, decision.reason);
      arrive(message, visitor);
    },
    /** A missed message. Never throws; resolves when it was handed on in order, or ignored. */
    async take(message: Message): Promise<void> {
      if (!proxies.isCopy(message)) return take(message);
      // Once there is a record, history has it: its account may have had it erased since [K11].
      runInBackground('a copy', () => takeCopy(message));
    },
  };

  function arrive(message: Message, visitor: Visitor): void {
    const { channelId } = message;
    runInBackground('a message', () =>
      options.arrivals.run(channelId, async () => {
        await options.caughtUp(channelId);
        runInBackground('a message', () => take(message, visitor));
      }),
    );
  }

  function remember(message: Message): void {
    const isKept = message.author.id === botId || history.keeps(message.channelId);
    if (isKept && isSpoken(message)) history.seen(chatMessageOf(message, botId, proxies.speakerOf));
  }

  /** A copy with a record is a new message of its account, and the original is gone, now or in a moment [G2a]. */
  async function takeCopy(copy: Message): Promise<void> {
    const { channelId } = copy;
    const channel = places.known(channelId);
    const answerMode = answerModes.recentAnswerMode(guildPlaceOf(copy, channel));
    const reading = proxies.reading(copy);
    if (decide(reading, channel, answerMode, repliedAuthor(reading), true).kind === 'ignore')
      return ignore(copy, 'not-addressed');
    const found = await proxies.resolve(copy, options.stopping);
    if (found === undefined) return ignore(copy, 'no-record');
    await options.changes.deleted(channelId, [found.originalId]);
    arrive(found.message, visitorOf(found.message));
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
      mentions.users.size + mentions.roles.size > 0 || /@(?:everyone|here)\b/u.test(prose(content));
    return !isForOthers && replied === undefined && history.isTalkingWith(author.id, channelId, id);
  }

  function ignore({ id: messageId, channelId }: Pick<Message, 'id' | 'channelId'>, reason: string): void {
    logger.debug('a message is ignored', { channelId, messageId, reason });
    measure('ignored', { reason });
  }

  async function take(message: Message, visitor = visitorOf(message)): Promise<void> {
    const { id: messageId, channelId } = message;
    if (options.recent.wasDeleted(messageId)) return;
    remember(message);
    if (message.author.id === botId) return;
    await options.channelQueue.run(channelId, () =>
      consider(message, visitor).catch((error: unknown) =>
        logger.error('a message could not be processed', { channelId, messageId, error }),
      ),
    );
  }

  async function consider(message: Message, visitor: Visitor): Promise<void> {
    const { id: messageId, channelId } = message;
    const channel = await places.find(channelId);
    const replied = await fetchedIfUnknown(message);
    const isToBot = mentionsBot(message) || replied === botId;
    const place = guildPlaceOf(message, channel);
    const mode = answerModes.recentAnswerMode(place);
    const access = people.isConfigured(message.author.id) || 'unknown';
    const recent = decide(message, channel, mode, replied, access);
    // A burst of messages reads settings once.
    const decision =
      recent.kind === 'undecided'
        ? decide(message, channel, await answerModes.answerMode(place), replied, await people.of(visitor))
        : recent;
    if (decision.kind === 'ignore') return ignore(message, decision.reason);
    const chat = chatMessageOf(message, botId);
    history.seen(chat);
    const isOutdated =
      decision.kind === 'locked-out' &&
      decision.kept !== undefined &&
      (await options.wasLetIn(chat.author.id));
    if (decision.kind === 'locked-out' && !isOutdated) {
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
        isProxied: proxies.accountOf(messageId) === undefined ? undefined : true,
        originalId: proxies.originalOf(messageId),
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

  function isAdmitted({ channelId, author }: ChatMessage): boolean {
    const admission = botLoopGuard.admit({ channelId, authorId: author.id });
    if (admission === 'limit-reached')
      logger.warn('too many answers to a bot; waiting for a person', { channelId, botId: author.id });
    return admission === 'answer';
  }

  function mentionsBot({ client, guildId, mentions, content }: Message): boolean {
    if (mentions.users.has(botId)) return true;
    // Discord does not say whether unpingable roles count among mentions.
    return (
      (mentions.roles.size > 0 || content.includes('<@&')) &&
      ownIdsIn(client, guildId).some((id) => mentions.roles.has(id) || prose(content).includes(`<@&${id}>`))
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

/** Without code and what stands behind a backslash, where Discord reads no mention. */
function prose(content: string): string {
  return withoutCode(content).replace(/\\[\s\S]/gu, ' ');
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

/** An event about a link's preview may leave out everything else. */
type EditEvent = Pick<GatewayMessageUpdateDispatchData, 'id' | 'channel_id'> &
  Partial<GatewayMessageUpdateDispatchData>;

export interface MissedChanges {
  readonly deleted: readonly string[];
  /** Possibly edited; the log compares texts. */
  readonly edited: readonly Message[];
}

/** Behind earlier events of the channel; resolves when it is queued. Must not reject. */
export type InOrder = (channelId: string, what: string, work: () => Promise<unknown>) => Promise<void>;

export type MessageChanges = ReturnType<typeof createMessageChanges>;

/** Takes in edits and deletions [G5]. Nothing here throws. */
export function createMessageChanges(
  options: Pick<IntakePolicy, 'parseCommand'> & {
    readonly client: Client;
    readonly channelQueue: KeyedQueue;
    readonly inOrder: InOrder;
    readonly history: Pick<History, 'messageOf' | 'showCards'>;
    readonly recent: Pick<RecentChanges, 'note'>;
    readonly proxies: Pick<Proxies, 'accountOf'>;
    readonly handlers: Pick<BotHandlers, 'edited' | 'deleted'>;
  },
) {
  const { client, channelQueue, inOrder, history, recent, proxies, handlers, parseCommand } = options;
  /** An edit into a command removes the message, so that no turn begins with it. */
  function noted(message: Omit<MessageEdit, 'isCommand'>): MessageEdit {
    const { channelId, messageId, text, editedAt } = message;
    const isCommand = parseCommand(text) !== undefined;
    recent.note(
      isCommand
        ? { kind: 'deleted', channelId, messageIds: [messageId] }
        : { kind: 'edited', channelId, messageId, text, editedAt },
    );
    return { ...message, isCommand };
  }

  return {
    /** Takes the raw event, as the client keeps no messages. */
    async edited(data: EditEvent): Promise<void> {
      const { id, channel_id: channelId } = data;
      if (data.embeds !== undefined && data.author?.id !== client.user?.id)
        history.showCards(channelId, id, cardsIn(data));
      if (data.content === undefined) return;
      const { content, guild_id: guildId = null, mentions: mentioned = [] } = data;
      const isByWebhook = data.webhook_id !== undefined && data.author?.id !== client.user?.id;
      const authorId = isByWebhook ? proxies.accountOf(id) : data.author?.id;
      const text = textIn(client, { content, authorId, channelId, guildId, mentioned });
      if (text === history.messageOf(channelId, id)?.text) return;
      if (data.edited_timestamp === null) return;
      const editedAt = data.edited_timestamp && new Date(data.edited_timestamp).toISOString();
      const message = { channelId, messageId: id, authorId, text, editedAt };
      if (authorId !== undefined && authorId === client.user?.id) {
        recent.note({ kind: 'edited', ...message });
        return;
      }
      const edit = noted(message);
      await inOrder(channelId, 'an edit', () => handlers.edited(edit));
    },
    async deleted(channelId: string, messageIds: readonly string[]): Promise<void> {
      recent.note({ kind: 'deleted', channelId, messageIds });
      await inOrder(channelId, 'a deletion', () => handlers.deleted(channelId, messageIds));
    },
    /** Resolves when memory has followed. */
    missed: (channelId: string, { deleted, edited }: MissedChanges): Promise<void> =>
      channelQueue.run(channelId, async () => {
        if (deleted.length > 0) {
          recent.note({ kind: 'deleted', channelId, messageIds: deleted });
          await handlers.deleted(channelId, deleted);
        }
        for (const message of edited) {
          const { id, author, text, editedAt } = chatMessageOf(message, client.user?.id ?? '');
          const authorId = message.webhookId === null ? author.id : proxies.accountOf(id);
          await handlers.edited(noted({ channelId, messageId: id, authorId, text, editedAt }));
        }
      }),
  };
}
