import pLimit from 'p-limit';
import { z } from 'zod';

import type { Logger } from '../core/logger.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { sleep } from '../core/time.ts';

/** Whose message a copy is, and which. */
export interface ProxyRecord {
  readonly originalId: string;
  readonly accountId: string;
}

/** Resolves with `undefined` where there is no record, or none in time. Never rejects. */
export type ReadProxyRecord = (copyId: string, signal: AbortSignal) => Promise<ProxyRecord | undefined>;

/** The record may be stored after the copy was posted. */
const againMs = 400;
const atOnce = 2;

const id = z.string().refine(isSnowflake);
const recordSchema = z.object({ id, original: id, sender: id });

/** Asks PluralKit's API at `url` for so many milliseconds [G2a]. */
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
