import { limits, lruCache } from '../../core/limits.ts';
import type { SessionKey } from '../../core/place.ts';
import { isSnowflake, snowflakeTime } from '../../core/snowflake.ts';

const keptChannels = 250;

interface Channel {
  /** Who has a message from this moment on, in milliseconds, is known. */
  readonly from: number;
  /** By person. */
  readonly ids: Map<string, Set<string>>;
  readonly ready: Promise<void>;
}

/** The messages of a channel's logs, at least those from a moment on, in milliseconds. Rejects with `StoreError`. */
type ReadChannel = (
  channelId: string,
  from: number,
) => AsyncIterable<{ readonly userId: string; readonly ids: readonly string[] }>;

/**
 * Who has a message in their log, so that a deletion opens their conversation alone [L4]: a channel's logs are read at
 * its first deletion, from the message on. A channel belongs to one process [X3], so nobody else adds to it.
 */
export function createMessageHolders(read: ReadChannel) {
  const channels = lruCache<string, Channel>(keptChannels);
  let count = 0;

  function add({ ids: known }: Channel, userId: string, ids: readonly string[]): void {
    const own = known.get(userId) ?? new Set();
    for (const id of ids) own.add(id);
    known.set(userId, own);
    // They can be read again [L3].
    if ((count += ids.length) > limits.knownMessages) {
      channels.clear();
      count = 0;
    }
  }

  function readFrom(channelId: string, from: number, ids: Channel['ids'] = new Map()): Channel {
    const readAll = async (): Promise<void> => {
      for await (const found of read(channelId, from)) add(channel, found.userId, found.ids);
    };
    const ready = Promise.resolve().then(readAll);
    const channel: Channel = { from, ids, ready };
    ready.catch(() => channels.delete(channelId));
    channels.set(channelId, channel);
    return channel;
  }

  return {
    /** A message is on disk. */
    note({ channelId, userId }: SessionKey, ids: readonly string[]): void {
      const channel = channels.peek(channelId);
      if (channel !== undefined) add(channel, userId, ids);
    },
    /** Rejects with `StoreError`. */
    async of(channelId: string, ids: readonly string[]): Promise<readonly SessionKey[]> {
      const oldest = Math.min(...ids.map((id) => (isSnowflake(id) ? snowflakeTime(id).getTime() : 0)));
      let channel = channels.get(channelId) ?? readFrom(channelId, oldest);
      // All of it then, so that what is older still is not read a third time.
      if (oldest < channel.from) channel = readFrom(channelId, 0, channel.ids);
      await channel.ready;
      const holders = Array.from(channel.ids).filter(([, known]) => ids.some((id) => known.has(id)));
      return holders.map(([userId]) => ({ channelId, userId }));
    },
    /** An erased person is known no longer [K11]. */
    evict(userId: string): void {
      for (const { ids } of channels.values()) ids.delete(userId);
    },
  };
}
