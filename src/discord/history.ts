import type { RecentChanges } from '../core/changes.ts';
import type { ChatMessage, ShownPiece } from '../core/chat.ts';
import { lruCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import { offerHead } from '../core/tool.ts';

const warmChannels = 250;
/** Twice what a history window holds, as some are left out [H1]. */
const coldLimit = 50;

export interface HistoryOptions {
  /** In any order. Rejects as Discord does. */
  readonly fetchNewest: (channelId: string, limit: number) => Promise<readonly ChatMessage[]>;
  /** Commands, their answers and error lines by id [F2]. */
  readonly hiddenIn: (channelId: string) => Promise<(messageId: string) => boolean>;
  /** `hiddenIn` may not know the commands of a cold channel. */
  readonly isCommand: (text: string) => boolean;
  readonly recent: RecentChanges;
  readonly logger: Logger;
}

export type History = ReturnType<typeof createHistory>;

/** A cold channel is fetched once; events keep it current from then on [H2]. */
export function createHistory(options: HistoryOptions) {
  const { fetchNewest, hiddenIn, isCommand, recent, logger } = options;
  const channels = lruCache<string, WarmChannel>(warmChannels);

  function channelOf(channelId: string): WarmChannel {
    const channel = channels.get(channelId) ?? new WarmChannel(recent);
    channels.set(channelId, channel);
    return channel;
  }

  /** A thread's id is that of the message that it was made from. */
  const threadFrom = (messageId: string): WarmChannel | undefined => channels.peek(messageId);

  const saysCommand = ({ author, text }: ChatMessage): boolean => author.kind === 'human' && isCommand(text);

  async function hiddenOrAllIn(channelId: string): Promise<(messageId: string) => boolean> {
    try {
      return await hiddenIn(channelId);
    } catch (error) {
      logger.warn('messages are left out of history, since they may be commands or error lines', {
        channelId,
        error,
      });
      return () => true;
    }
  }

  /** The messages that are part of history [F2]. Never rejects. */
  async function shownOf(
    channelId: string,
    messages: readonly ChatMessage[],
  ): Promise<readonly ChatMessage[]> {
    // After a kill the outbox may not know a command's answer.
    const commands = new Set(messages.filter(saysCommand).map(({ id }) => id));
    const isHidden = await hiddenOrAllIn(channelId);
    return messages.filter(
      (message) =>
        saysSomething(message) &&
        !isOwnLine(message) &&
        !recent.wasDeleted(message.id) &&
        !commands.has(message.id) &&
        !commands.has(message.answers ?? '') &&
        !isOrphan(message, messages) &&
        !isHidden(message.id),
    );
  }

  recent.subscribe((change) => {
    if (change.kind === 'edited') {
      const { channelId, messageId, text } = change;
      channels.get(channelId)?.edit(messageId, text);
      threadFrom(messageId)?.edit(messageId, text);
      return;
    }
    channels.get(change.channelId)?.remove(change.messageIds);
    for (const id of change.messageIds) threadFrom(id)?.remove([id]);
  });

  return {
    async recent(channelId: string, limit: number): Promise<readonly ChatMessage[]> {
      const channel = channelOf(channelId);
      try {
        await channel.warm(() => fetchNewest(channelId, coldLimit));
      } catch (error) {
        logger.warn('history could not be fetched', { channelId, error });
      }
      const shown = await shownOf(channelId, channel.messages());
      return limit > 0 ? shown.slice(-limit) : [];
    },
    shownOf,
    /** The same message again, or a deleted one, changes nothing. */
    seen(message: ChatMessage): void {
      if (recent.wasDeleted(message.id)) return;
      const text = recent.latest(message.id)?.text ?? message.text;
      channelOf(message.channelId).add({ ...message, text });
    },
    /** Not an edit: Discord adds link previews later. */
    showCards: (channelId: string, messageId: string, cards: readonly ShownPiece[]): void =>
      channelOf(channelId).showCards(messageId, cards),
    keeps: (channelId: string): boolean => channels.has(channelId),
    messageOf: (channelId: string, messageId: string): ChatMessage | undefined =>
      channels.peek(channelId)?.messageOf(messageId),
    /** What cannot be known is hidden [F2]. */
    isHidden: async (message: ChatMessage): Promise<boolean> =>
      saysCommand(message) || isOwnLine(message) || (await hiddenOrAllIn(message.channelId))(message.id),
    /** Makes channels cold whose events were missed. */
    forget(isMissed: (channelId: string) => boolean): void {
      for (const channelId of channels.keys()) if (isMissed(channelId)) channels.delete(channelId);
    },
  };
}

export function saysSomething({ text, attachments, shown }: ChatMessage): boolean {
  return text !== '' || attachments.length > 0 || shown !== undefined;
}

/** The bot's answer to a message that would stand among these, and was deleted [G5]: nobody may know what it repeats. */
function isOrphan({ author, answers }: ChatMessage, among: readonly ChatMessage[]): boolean {
  if (author.kind !== 'self' || answers === undefined || among.some(({ id }) => id === answers)) return false;
  return among.some(({ id }) => compareSnowflakes(id, answers) < 0);
}

const ownLine = /^(?:-# |⚠️ |⏹️ )/u;

/** Offers and small lines, which the outbox may not know after a kill. */
function isOwnLine({ author, answers, text }: ChatMessage): boolean {
  if (author.kind !== 'self' || answers !== undefined) return false;
  return text.startsWith(offerHead) || text.split('\n').every((line) => ownLine.test(line));
}

/** Three of history's longest windows [H1]. */
const keptMessages = 60;

class WarmChannel {
  /** Oldest first. */
  #messages = new Map<string, ChatMessage>();
  readonly #removed = lruCache<string, true>(keptMessages);
  readonly #early = lruCache<string, readonly ShownPiece[]>(keptMessages);
  #isWarm = false;
  readonly #recent: Pick<RecentChanges, 'position' | 'latest' | 'wasDeleted'>;
  #loading: Promise<void> | undefined;

  constructor(recent: Pick<RecentChanges, 'position' | 'latest' | 'wasDeleted'>) {
    this.#recent = recent;
  }

  /** Oldest first. */
  messages(): readonly ChatMessage[] {
    return [...this.#messages.values()];
  }

  messageOf(messageId: string): ChatMessage | undefined {
    return this.#messages.get(messageId);
  }

  add(message: ChatMessage): void {
    if (this.#messages.has(message.id)) return;
    this.#messages.set(message.id, message);
    const cards = this.#early.get(message.id);
    if (cards !== undefined) this.showCards(message.id, cards);
    this.#messages = new Map([...this.#messages].toSorted(([a], [b]) => compareSnowflakes(a, b)));
    const [oldest = ''] = this.#messages.keys();
    if (this.#messages.size > keptMessages) this.#messages.delete(oldest);
  }

  /** A removed message that is edited was a command for a while. It is fetched again. */
  edit(messageId: string, text: string): void {
    const message = this.#messages.get(messageId);
    if (message !== undefined) this.#messages.set(messageId, { ...message, text });
    if (this.#removed.delete(messageId)) this.#isWarm = false;
  }

  showCards(messageId: string, cards: readonly ShownPiece[]): void {
    const message = this.#messages.get(messageId);
    if (message === undefined) {
      this.#early.set(messageId, cards);
      return;
    }
    const shown = [...(message.shown ?? []).filter(({ kind }) => kind !== 'card'), ...cards];
    this.#messages.set(messageId, {
      ...message,
      shown: shown.length === 0 ? undefined : shown,
      hasThirdPartyText: cards.length === 0 ? message.hasThirdPartyText : true,
    });
  }

  remove(messageIds: readonly string[]): void {
    for (const id of messageIds) if (this.#messages.delete(id)) this.#removed.set(id, true);
  }

  /** Several callers share one fetch. Rejects as the fetch does, and stays cold then. */
  warm(fetchNewest: () => Promise<readonly ChatMessage[]>): Promise<void> {
    if (this.#isWarm) return Promise.resolve();
    this.#loading ??= this.#load(fetchNewest).finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** Changes during the fetch win over what it brings. */
  async #load(fetchNewest: () => Promise<readonly ChatMessage[]>): Promise<void> {
    const begun = this.#recent.position;
    for (const message of await fetchNewest()) {
      if (this.#recent.wasDeleted(message.id)) continue;
      this.add({ ...message, text: this.#recent.latest(message.id, begun)?.text ?? message.text });
    }
    this.#isWarm = true;
  }
}
