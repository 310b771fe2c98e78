import { MessageType } from 'discord-api-types/v10';
import type { Message } from 'discord.js';
import pLimit from 'p-limit';
import { z } from 'zod';

import { lruCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { sleep } from '../core/time.ts';
import { userName } from './normalise.ts';

const keptCopies = 1000;

/** Whose message a copy is, and which. */
export interface ProxyRecord {
  readonly originalId: string;
  readonly accountId: string;
}

/** Resolves with `undefined` where there is no record, or none in time. Never rejects. */
export type ReadProxyRecord = (copyId: string, signal: AbortSignal) => Promise<ProxyRecord | undefined>;

export type Proxies = ReturnType<typeof createProxies>;

/** Tells whose words a proxy has posted again: PluralKit's record alone says so [G2a]. */
export function createProxies(options: {
  readonly appIds: readonly string[];
  readonly readRecord: ReadProxyRecord;
  /** Who wrote a message, if it is known without asking. */
  readonly authorOf: (channelId: string, messageId: string) => string | undefined;
}) {
  const { appIds, readRecord, authorOf } = options;
  /** By copy. */
  const records = lruCache<string, ProxyRecord>(keptCopies);

  function isCopy({ applicationId, webhookId }: Pick<Message, 'applicationId' | 'webhookId'>): boolean {
    // An answer to a slash command has the application's own id.
    return webhookId !== null && webhookId !== applicationId && appIds.includes(applicationId ?? '');
  }

  /** With the copy's id, words, time and name. A reply is shown as a card, so it is read out of that. */
  function asAccount(copy: Message, accountId: string): Message {
    const { author, embeds, mentions, member, guildId } = copy;
    const name = userName(author);
    const changed: Partial<Record<keyof Message, unknown>> = {
      webhookId: null,
      author: derived(author, { id: accountId, bot: false }),
      member: member && derived(member, { nickname: name }),
    };
    const [, channelId, messageId] = replyCard.exec(embeds[0]?.description ?? '') ?? [];
    if (channelId !== undefined && messageId !== undefined) {
      const repliedUser = copy.client.users.cache.get(authorOf(channelId, messageId) ?? '') ?? null;
      changed.type = MessageType.Reply;
      changed.embeds = embeds.slice(1);
      changed.reference = { type: 0, guildId, channelId, messageId };
      changed.mentions = derived(mentions, { repliedUser });
    }
    return derived(copy, changed);
  }

  return {
    isCopy,
    /** The id of who speaks in a copy, as far as it is known; `undefined` where it is none. */
    speakerOf: (message: Message): string | undefined =>
      isCopy(message) ? (records.get(message.id)?.accountId ?? message.author.id) : undefined,
    accountOf: (copyId: string): string | undefined => records.get(copyId)?.accountId,
    originalOf: (copyId: string): string | undefined => records.get(copyId)?.originalId,
    /** The copy as a message of a person, who is not known yet. */
    reading: (copy: Message): Message => asAccount(copy, copy.author.id),
    /** The copy as a message of its account, from now on, and what it is a copy of. May take seconds; never rejects. */
    async resolve(copy: Message, signal: AbortSignal) {
      const record = await readRecord(copy.id, signal);
      if (record === undefined || signal.aborted) return undefined;
      records.set(copy.id, record);
      return { message: asAccount(copy, record.accountId), originalId: record.originalId };
    },
  };
}

/** PluralKit's card for a reply begins with a link to the message. */
const replyCard = /^\*{1,2}\[[^\]\n]*\]\(https:\/\/discord\.com\/channels\/\d+\/(\d+)\/(\d+)\)/u;

/** The same object with some other properties; getters see these. */
function derived<Base extends object>(base: Base, changed: Partial<Record<keyof Base, unknown>>): Base {
  const view: Base = Object.create(base);
  for (const [name, value] of Object.entries(changed)) Object.defineProperty(view, name, { value });
  return view;
}

/** The record may be stored after the copy was posted. */
const againMs = 400;
const atOnce = 2;

const id = z.string().refine(isSnowflake);
const recordSchema = z.object({ id, original: id, sender: id });

/** Asks PluralKit's API at `url` for so many milliseconds. */
export function createPluralKit(url: string, logger: Logger, limitMs = 3000): ReadProxyRecord {
  const requests = pLimit(atOnce);

  async function read(copyId: string, signal: AbortSignal): Promise<ProxyRecord | undefined> {
    while (!signal.aborted) {
      const headers = { 'user-agent': 'Discoclaw (Discord bot)' };
      const response = await fetch(`${url}/messages/${copyId}`, { headers, redirect: 'error', signal });
      if (response.ok) {
        const { original, sender, ...record } = recordSchema.parse(await response.json());
        if (record.id !== copyId) throw new Error('PluralKit answered with the record of another message');
        return { originalId: original, accountId: sender };
      }
      await response.body?.cancel();
      if (response.status !== 404 && response.status !== 429 && response.status < 500) return undefined;
      const seconds = Number(response.headers.get('retry-after') ?? 0);
      await sleep(Math.max(againMs, seconds * 1000 || 0), signal);
    }
    return undefined;
  }

  return (copyId, stopping) => {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(limitMs)]);
    return requests(() => read(copyId, signal)).catch((error: unknown) => {
      logger.info('PluralKit could not say whose message a copy is', { messageId: copyId, error });
      return undefined;
    });
  };
}
