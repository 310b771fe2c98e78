import { setImmediate, setTimeout as delay } from 'node:timers/promises';

import { GatewayCloseCodes, GatewayDispatchEvents as Event, GatewayOpcodes } from 'discord-api-types/v10';
import {
  Events,
  SimpleIdentifyThrottler,
  SimpleShardingStrategy,
  Status,
  type Client,
  type IIdentifyThrottler,
  type WebSocketOptions,
} from 'discord.js';
import { z } from 'zod';

import type { Logger } from '../core/logger.ts';
import type { Clock } from '../core/time.ts';
import { usableEvent } from './payloads.ts';

/** Whom a shard waits for before it identifies: rejects only where the signal is aborted. */
export type Identifying = IIdentifyThrottler;

/** Lets shards identify as Discord asks: of each `id % maxConcurrency` one in five seconds. */
export function createIdentifyQueue(maxConcurrency: number): Identifying {
  return new SimpleIdentifyThrottler(maxConcurrency);
}

/** Told what nobody can use: an event by name, a `frame` that is none, or a `message` of a page; and the error, where it failed later. */
export type OnMalformed = (type: string, error?: unknown) => void;

/** Lines about malformed payloads are so far apart at least; milliseconds. */
const linesApartMs = 10 * 60_000;

/** Counts what nobody can use, and says so in the log now and then, without a word of it. */
export function createMalformedCount(logger: Logger, clock: Clock) {
  let count = 0;
  let saidAt = -Infinity;
  const note: OnMalformed = (type, error) => {
    count += 1;
    const now = clock().getTime();
    if (now - saidAt < linesApartMs) return;
    saidAt = now;
    // An error's message may repeat what it was about.
    const thrownAt =
      error instanceof Error ? /^[ \t]+at .*/mu.exec(error.stack ?? '')?.[0].trim() : undefined;
    logger.warn('Discord sent what cannot be used', { type, count, thrownAt });
  };
  return {
    note,
    count: (): number => count,
  };
}

/** Milliseconds between the first tries to connect, and at most; they double. */
const firstPauseMs = 1000;
const longestPauseMs = 60_000;

/** As `WebSocketShardStatus` of the library numbers them. */
const shardStatus = { connecting: 1, resuming: 2 } as const;

/** Connects as the library does, but nothing that comes ends the process or holds up what comes after it [L5]; intents that are refused are left out [G3c]. */
export function guardedSharding(options: {
  readonly client: () => Client;
  readonly onMalformed: OnMalformed;
  readonly intents: () => number;
  readonly asksForFewer: () => boolean;
}): NonNullable<WebSocketOptions['buildStrategy']> {
  return (manager) => {
    const strategy = new SimpleShardingStrategy(manager);
    const [spawn, destroy] = [strategy.spawn.bind(strategy), strategy.destroy.bind(strategy)];
    // The library also destroys what there was, which is nothing, before it makes the connections.
    let destroyed = new AbortController();
    const prepare = createPreparation(options.client(), options.onMalformed);
    strategy.spawn = async (shardIds) => {
      destroyed = new AbortController();
      await spawn(shardIds);
      const shards: unknown = Reflect.get(strategy, 'shards');
      if (!(shards instanceof Map)) throw new Error('The library keeps its connections elsewhere now');
      for (const shard of shards.values()) guardShard(Object(shard), prepare, options, destroyed.signal);
    };
    strategy.destroy = (how) => {
      destroyed.abort();
      return destroy(how);
    };
    return strategy;
  };
}

type Method = (...given: unknown[]) => unknown;

/** The library has no place for checks, so methods of its own are replaced on one object; nothing starts when an update has renamed them. */
export function wrap(target: object, name: string, around: (original: Method) => Method): void {
  const method: unknown = Reflect.get(target, name);
  if (typeof method !== 'function') throw new Error(`The library has no method ${name} any more`);
  Reflect.set(
    target,
    name,
    around((...given) => Reflect.apply(method, target, given)),
  );
}

function guardShard(
  shard: object,
  prepare: ReturnType<typeof createPreparation>,
  { onMalformed, intents, asksForFewer }: Parameters<typeof guardedSharding>[0],
  destroyed: AbortSignal,
): void {
  let connection = { hasHello: false, hasReady: false };
  /** Since the last session that was begun or resumed. */
  let tries = 0;

  // The library tries twice a second for ever, also after it was told to end [O7].
  wrap(shard, 'internalConnect', (connect) => async () => {
    const pauseMs = Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs);
    if (tries > 0) await delay(pauseMs, undefined, { signal: destroyed }).catch(() => undefined);
    if (destroyed.aborted) return;
    tries += 1;
    connection = { hasHello: false, hasReady: false };
    await connect();
  });

  wrap(shard, 'unpackMessage', (unpack) => async (...given) => {
    const frame = frameSchema.safeParse(await unpack(...given)).data;
    const isExpected =
      frame !== undefined && isInPlace(frame, Number(Reflect.get(shard, 'status')), connection);
    if (!isExpected) onMalformed('frame');
    if (frame?.op !== GatewayOpcodes.Dispatch) return isExpected ? frame : null;
    const event = isExpected ? prepare(frame.t, frame.d) : undefined;
    // The number of an event counts, or it would be sent again.
    if (event === undefined) return { ...frame, t: null, d: null };
    if (frame.t === Event.Ready) connection.hasReady = true;
    if (frame.t === Event.Ready || frame.t === Event.Resumed) tries = 0;
    return { ...frame, d: event instanceof Promise ? await event : event };
  });

  // What gets past the checks and still throws, at the library or at a listener, is lost like what nobody can use.
  wrap(shard, 'onMessage', (receive) => async (...given) => {
    try {
      await receive(...given);
    } catch (error) {
      onMalformed('frame', error);
    }
  });

  // The library gives up on refused intents; after a bad sequence it begins a new session.
  wrap(shard, 'onClose', (close) => (code) => {
    if (code !== GatewayCloseCodes.DisallowedIntents || !asksForFewer()) return close(code);
    Reflect.set(Object(Reflect.get(Object(Reflect.get(shard, 'strategy')), 'options')), 'intents', intents());
    return close(GatewayCloseCodes.InvalidSeq);
  });
}

/** What the gateway sends; a sequence number that is none is left out. */
const frameSchema = z.discriminatedUnion('op', [
  z.object({
    op: z.literal(GatewayOpcodes.Dispatch),
    t: z.enum(Event).nullable().catch(null),
    s: z.int().min(0).nullable().catch(null),
    d: z.unknown(),
  }),
  z.object({
    op: z.literal(GatewayOpcodes.Hello),
    d: z.object({ heartbeat_interval: z.number().min(1000).max(600_000) }),
  }),
  z.object({ op: z.literal(GatewayOpcodes.InvalidSession), d: z.boolean().catch(false) }),
  z.object({
    op: z.literal([GatewayOpcodes.Heartbeat, GatewayOpcodes.HeartbeatAck, GatewayOpcodes.Reconnect]),
  }),
]);

/** Each connection begins with one hello, and a new session with one READY; before that there are no events. */
function isInPlace(
  frame: z.infer<typeof frameSchema>,
  status: number,
  connection: { hasHello: boolean; hasReady: boolean },
): boolean {
  if (frame.op === GatewayOpcodes.Hello) {
    const isFirst = !connection.hasHello;
    connection.hasHello = true;
    return isFirst;
  }
  if (frame.op !== GatewayOpcodes.Dispatch) return true;
  const isAwaited = status === shardStatus.connecting && !connection.hasReady;
  if (isAwaited || frame.t === Event.Ready) return isAwaited && frame.t === Event.Ready;
  return frame.t !== Event.Resumed || status === shardStatus.resuming;
}

/** Handed on at once; all others wait until the client knows its servers. */
const openingEvents: ReadonlySet<string> = new Set([
  Event.Ready,
  Event.Resumed,
  Event.GuildCreate,
  Event.GuildDelete,
]);

/** Gives an event when the library may have it; `undefined` where it is of no use. Discord is asked for unknown channels first: a server's are no DMs. */
function createPreparation(client: Client, onMalformed: OnMalformed) {
  const ready = new Promise<void>((resolve) => client.once(Events.ClientReady, () => resolve()));
  /** By channel, a request for it: messages that wait for it go on in the order in which they came. */
  const requested = new Map<string, Promise<unknown>>();

  async function whenChannelIsKnown(channelId: string): Promise<void> {
    // What came right before it may tell of the channel.
    await setImmediate();
    if (client.channels.cache.has(channelId)) return;
    const request =
      requested.get(channelId) ??
      client.channels
        .fetch(channelId)
        .catch((error: unknown) => onMalformed(Event.MessageCreate, error))
        .finally(() => requested.delete(channelId));
    requested.set(channelId, request);
    await request;
  }

  return (type: Event | null, data: unknown): object | undefined | Promise<object> => {
    if (type === null) return undefined;
    const { event, isMalformed } = usableEvent(type, data);
    if (isMalformed) onMalformed(type);
    if (event === undefined) return undefined;
    const isEarly = client.ws.status !== Status.Ready && !openingEvents.has(type);
    const channelId = type === Event.MessageCreate ? channelToAskFor(event) : undefined;
    const isUnknown = channelId !== undefined && !client.channels.cache.has(channelId);
    const isThread = type === Event.ThreadCreate || type === Event.ThreadUpdate;
    const prepared = () => (isThread ? withGuild(client, event) : event);
    if (!isEarly && !isUnknown) return prepared();
    return ready
      .then(() => (channelId === undefined ? undefined : whenChannelIsKnown(channelId)))
      .then(prepared);
  };
}

/** The channel of a message that does not say of which kind the channel is. */
function channelToAskFor(message: object): string | undefined {
  const { channel_id: channelId, channel_type: type } = Object(message);
  return type === undefined ? channelId : undefined;
}

/** A thread may leave out the server that it is in, which is its parent's; without it the library takes no thread. */
export function withGuild({ channels }: Client, thread: unknown): object {
  const { guild_id: guildId, parent_id: parentId } = Object(thread);
  const parent = guildId === undefined ? channels.cache.get(parentId) : undefined;
  return parent === undefined || parent.isDMBased()
    ? Object(thread)
    : { ...Object(thread), guild_id: parent.guildId };
}
