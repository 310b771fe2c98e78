import { z } from 'zod';

import { catchUpWindowMs } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import { isSnowflake, snowflakeTime } from '../core/snowflake.ts';
import type { DocumentKind, Store } from '../core/store.ts';

const key = 'ignored.json';
const schema = z.object({ version: z.literal(1), messageIds: z.array(z.string()) });
const kind: DocumentKind<z.infer<typeof schema>> = { version: 1, schema };

/** The messages that the process before this one ignored and that could be caught up with. Never rejects: unknown, they are judged anew. */
export async function readIgnored(store: Store, logger: Logger): Promise<readonly string[]> {
  try {
    return (await store.read(key, kind))?.messageIds ?? [];
  } catch (error) {
    logger.warn('what was ignored before the start is not known', { error });
    return [];
  }
}

/** Keeps, when the bot stops, what is young enough to be caught up with. Never rejects. */
export async function writeIgnored(
  store: Store,
  messageIds: readonly string[],
  { now, logger }: { readonly now: Date; readonly logger: Logger },
): Promise<void> {
  const young = messageIds.filter(
    (id) => isSnowflake(id) && now.getTime() - snowflakeTime(id).getTime() <= catchUpWindowMs,
  );
  try {
    await store.update(key, kind, (current) =>
      current === undefined && young.length === 0
        ? undefined
        : { version: 1 as const, messageIds: [...young] },
    );
  } catch (error) {
    logger.warn('what was ignored could not be kept', { error });
  }
}
