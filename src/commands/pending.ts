import { randomBytes } from 'node:crypto';

import { lruCache } from '../core/limits.ts';

/** How long something waits for its person's word; milliseconds. */
const waitsForMs = 10 * 60_000;
/** What waits at the same time, of all people. */
const mostWaiting = 50;

/** What was shown to a person and is not done yet. */
export type Pending<Value extends {}> = ReturnType<typeof createPending<Value>>;

/** What waits for a person's word, in memory alone. */
export function createPending<Value extends {}>() {
  const waiting = lruCache<string, { readonly userId: string; readonly value: Value }>(mostWaiting, {
    maxAge: waitsForMs,
  });
  return {
    /** The token by which it is done. */
    add(userId: string, value: Value): string {
      const token = randomBytes(6).toString('hex');
      waiting.set(token, { userId, value });
      return token;
    },
    /** Once, and for its person alone. */
    take(userId: string, token: string): Value | undefined {
      const found = waiting.get(token);
      if (found?.userId !== userId) return undefined;
      waiting.delete(token);
      return found.value;
    },
    /** Nothing waits for a person any more. */
    drop(userId: string): void {
      for (const [token, each] of waiting.entries()) if (each.userId === userId) waiting.delete(token);
    },
  };
}
