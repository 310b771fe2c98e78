import type { Message } from 'discord.js';

import { lruCache } from '../core/limits.ts';
import { compareSnowflakes, snowflakeTime } from '../core/snowflake.ts';
import { normalizeText } from '../core/text.ts';
import { sleep, type Clock } from '../core/time.ts';
import type { ChannelMessages } from './channel-messages.ts';
import { userName } from './normalise.ts';
import type { ProxyRecord, ReadProxyRecord } from './pluralkit.ts';
import { isGone } from './replies/refusals.ts';

/** Milliseconds: how old a message may be when it is deleted for its copy, and how long one waits for the other. */
const withinMs = 10_000;
/** More than are written in that time. */
const keptMessages = 500;
const keptCopies = 1000;
/** Tupperbox publishes no records. */
const withoutRecords: ReadonlySet<string> = new Set(['431544605209788416']);

/** A person's message of the last seconds. */
interface Original extends Written {
  readonly message: Message;
  /** As it was then: the library may forget it. */
  readonly member: Message['member'];
  readonly at: number;
  deletedAt?: number;
}

interface Written {
  readonly id: string;
  readonly accountId: string;
  text: string;
  readonly deletedAt?: number;
}

/** `isCertain`: otherwise the account has to say that the proxy's copies are its words. */
export interface Proof {
  readonly message: Message;
  readonly isCertain: boolean;
}

export type Proxies = ReturnType<typeof createProxies>;

/** Tells whose words a proxy has posted again [G2a]. */
export function createProxies(options: {
  readonly appIds: readonly string[];
  readonly readRecord: ReadProxyRecord;
  readonly messages: Pick<ChannelMessages, 'one'>;
  readonly clock: Clock;
}) {
  const { appIds, readRecord, messages } = options;
  const now = () => options.clock().getTime();
  const originals = lruCache<string, Original>(keptMessages, { maxAge: 3 * withinMs });
  /** The accounts of proven copies, by copy. */
  const accounts = lruCache<string, string>(keptCopies);
  const waiting = new Set<() => void>();

  function isCopy({ applicationId, webhookId }: Pick<Message, 'applicationId' | 'webhookId'>): boolean {
    // An answer to a slash command has the application's own id.
    return webhookId !== null && webhookId !== applicationId && appIds.includes(applicationId ?? '');
  }

  /** What it may be a copy of. */
  function candidates({ id, channelId }: Message): readonly Original[] {
    return [...originals.values()].filter(
      (one) =>
        one.message.channelId === channelId &&
        compareSnowflakes(one.id, id) < 0 &&
        now() - (one.deletedAt ?? one.at) <= withinMs,
    );
  }

  async function judged(
    copy: Message,
    known: readonly Original[],
    record: ProxyRecord | undefined,
    signal: AbortSignal,
  ): Promise<Original | undefined> {
    const over = new AbortController();
    const end = AbortSignal.any([signal, over.signal]);
    let isOver = false;
    const patience = sleep(withinMs, end).then(() => (isOver = true));
    try {
      for (;;) {
        const verdict = judge(copy.content, known, record, isOver);
        if (verdict !== 'wait') return verdict;
        await Promise.race([patience, new Promise<void>((resolve) => waiting.add(resolve))]);
      }
    } finally {
      over.abort();
    }
  }

  async function stands(channelId: string, messageId: string): Promise<boolean> {
    try {
      await messages.one(channelId, messageId);
      return true;
    } catch (error) {
      return !isGone(error);
    }
  }

  return {
    isCopy,
    /** The id of who speaks in a copy, as far as it is known; `undefined` where it is none. */
    speakerOf: (message: Message): string | undefined =>
      isCopy(message) ? (accounts.get(message.id) ?? message.author.id) : undefined,
    accountOf: (copyId: string): string | undefined => accounts.get(copyId),
    heard(message: Message): void {
      const { id, author, guildId, webhookId, content, member } = message;
      if (appIds.length === 0 || guildId === null || author.bot || webhookId !== null) return;
      originals.set(id, { id, accountId: author.id, text: content, message, member, at: now() });
    },
    edited(messageId: string, content: string | undefined): void {
      const original = originals.get(messageId);
      if (original !== undefined && content !== undefined) original.text = content;
    },
    deleted(messageIds: readonly string[]): void {
      for (const id of messageIds) {
        const original = originals.get(id);
        if (original !== undefined && now() - original.at <= withinMs) original.deletedAt = now();
        else originals.delete(id);
      }
      for (const resume of waiting) resume();
      waiting.clear();
    },
    /** The copy as messages of those who may have written it. */
    readings(copy: Message): readonly Message[] {
      const possible = candidates(copy).filter(({ text }) => holds(text, copy.content));
      return possible.length === 0
        ? [asAccount(copy, copy.author.id)]
        : possible.map((one) => asAccount(copy, one.accountId, one));
    },
    /** The copy as a message of its account; `undefined` for no copy. Takes some seconds. Never rejects. */
    async prove(copy: Message, signal: AbortSignal): Promise<Proof | undefined> {
      const { id, channelId, applicationId } = copy;
      const known = candidates(copy);
      const record = withoutRecords.has(applicationId ?? '') ? undefined : await readRecord(id, signal);
      if (record !== undefined && !known.some((one) => one.id === record.originalId)) {
        // Nobody was listening, or not for long enough.
        const age = snowflakeTime(id).getTime() - snowflakeTime(record.originalId).getTime();
        if (age < 0 || age > withinMs || (await stands(channelId, record.originalId))) return undefined;
        return { message: asAccount(copy, record.accountId), isCertain: true };
      }
      const original = await judged(copy, known, record, signal);
      if (original === undefined || signal.aborted || originals.get(original.id) !== original)
        return undefined;
      originals.delete(original.id);
      return { message: asAccount(copy, original.accountId, original), isCertain: record !== undefined };
    },
    /** It is the account's from now on. */
    accept: ({ id, author }: Message): void => void accounts.set(id, author.id),
  };
}

/**
 * Which message a copy with this text is of [G2a]: the one that the record names; without a record, that of the only
 * account whose deleted message has these words. `wait`: that may still change.
 */
export function judge<Known extends Written>(
  text: string,
  known: readonly Known[],
  record: ProxyRecord | undefined,
  isOver: boolean,
): Known | 'wait' | undefined {
  const fitting = known.filter((one) =>
    record === undefined
      ? text.trim() !== '' && holds(one.text, text)
      : one.id === record.originalId && one.accountId === record.accountId && holds(one.text, text),
  );
  const deleted = fitting.filter(({ deletedAt }) => deletedAt !== undefined);
  const newest = deleted.at(-1);
  const isOther = ({ accountId }: Written): boolean => accountId !== newest?.accountId;
  if (deleted.some(isOther)) return undefined;
  const isOpen = fitting.some((one) => one.deletedAt === undefined && isOther(one));
  return isOpen && !isOver ? 'wait' : newest;
}

/** A proxy posts a message without its tags. */
function holds(original: string, copy: string): boolean {
  return normalizeText(original).includes(normalizeText(copy));
}

/** With the copy's id, words, time and name. What proxies leave out is the original's: the reply, forwards, files. */
function asAccount(copy: Message, accountId: string, original?: Original): Message {
  const { author, attachments, reference, mentions } = copy;
  const member = original?.member ?? null;
  const changed: Partial<Record<keyof Message, unknown>> = {
    webhookId: null,
    author: derived(author, { id: accountId, bot: false }),
    member: member && derived(member, { nickname: userName(author) }),
  };
  if (original !== undefined && attachments.size === 0) changed.attachments = original.message.attachments;
  if (original !== undefined && reference === null && original.message.reference !== null) {
    const { type, embeds, messageSnapshots, mentions: own, reference: repliedTo } = original.message;
    // PluralKit shows a reply as a card.
    Object.assign(changed, { type, embeds, messageSnapshots, reference: repliedTo });
    changed.mentions = derived(mentions, { repliedUser: own.repliedUser });
  }
  return derived(copy, changed);
}

/** The same object with some other properties; getters see these. */
function derived<Base extends object>(base: Base, changed: Partial<Record<keyof Base, unknown>>): Base {
  const view: Base = Object.create(base);
  for (const [name, value] of Object.entries(changed)) Object.defineProperty(view, name, { value });
  return view;
}
