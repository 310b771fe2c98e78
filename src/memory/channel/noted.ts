import { z } from 'zod';

import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import type { NotesPlace } from './document.ts';

/** By channel with notes, now or once, its guild. */
const notedSchema = z.object({ version: z.literal(1), channels: z.record(z.string(), z.string()) });
export const notedKind: DocumentKind<z.infer<typeof notedSchema>> = { version: 1, schema: notedSchema };

/**
 * Where a person's notes are: `users/<userId>/noted.json`, so that forgetting finds other processes' notes
 * and looks through no other server's. It may name a channel without any. Rejects with `StoreError`.
 */
export function createNotedChannels(store: Pick<Store, 'read' | 'update'>) {
  return {
    async of(this: void, userId: string): Promise<ReadonlyMap<string, string>> {
      const noted = await store.read(notedKey(userId), notedKind);
      return new Map(Object.entries(noted?.channels ?? {}));
    },
    /** To be called before a note is kept. */
    async add(this: void, userId: string, { guildId, channelId }: NotesPlace): Promise<void> {
      if ((await store.read(notedKey(userId), notedKind))?.channels[channelId] === guildId) return;
      await store.update(
        notedKey(userId),
        notedKind,
        (noted) => ({ version: 1 as const, channels: { ...noted?.channels, [channelId]: guildId } }),
        // So that the last good copy lacks none.
        { erase: true },
      );
    },
  };
}

/** @throws {RangeError} when the id is not a Discord id [S6]. */
function notedKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/noted.json`;
}
