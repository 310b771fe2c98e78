import { setImmediate, setTimeout as delay } from 'node:timers/promises';

import { GatewayCloseCodes, GatewayDispatchEvents as Event, GatewayOpcodes } from 'discord-api-types/v10';
import { Events, SimpleShardingStrategy, Status, type Client, type WebSocketOptions } from 'discord.js';
import { z } from 'zod';

import { growingPause } from '../core/time.ts';
import { usableEvent } from './payloads.ts';

/** `type`: an event's name, or `frame`. `error`: what was thrown later. */
export type OnMalformed = (type: string, error?: unknown) => void;

const firstPauseMs = 1000;
const longestPauseMs = 60_000;

/** As `WebSocketShardStatus` of the library numbers them. */
const shardStatus = { connecting: 1, resuming: 2 } as const;

/** Connects so that no payload ends the process [L5], and without intents that are refused [G3c]. */
export function guardedSharding(options: {
  readonly client: () => Client;
  readonly onMalformed: OnMalformed;
  readonly intents: () => number;
  readonly asksForFewer: () => boolean;
}): NonNullable<WebSocketOptions['buildStrategy']> {
  return (manager) => {
    const strategy = new SimpleShardingStrategy(manager);
    const [spawn, destroy] = [strategy.spawn.bind(strategy), strategy.destroy.bind(strategy)];
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

type Method = (...args: unknown[]) => unknown;

/** Replaces a method of the library on one object; nothing starts when an update has renamed it. */
export function wrap(target: object, name: string, around: (original: Method) => Method): void {
  const method: unknown = Reflect.get(target, name);
  if (typeof method !== 'function') throw new Error(`The library has no method ${name} any more`);
  Reflect.set(
    target,
    name,
    around((...args) => Reflect.apply(method, target, args)),
  );
}

function guardShard(
  shard: object,
  prepare: ReturnType<typeof createPreparation>,
  { onMalformed, intents, asksForFewer }: Parameters<typeof guardedSharding>[0],
  destroyed: AbortSignal,
): void {
  let connection = { hasReady: false };
  let tries = 0;
  let readyAt: number | undefined;
  /** Connections in a row that ended within a minute. */
  let brief = 0;

  // The library tries twice a second, even after it was told to end, and at once where none lasts [O7].
  wrap(shard, 'internalConnect', (connect) => async () => {
    if (readyAt !== undefined) brief = performance.now() - readyAt < longestPauseMs ? brief + 1 : 0;
    readyAt = undefined;
    if (tries > 0)
      await delay(growingPause(tries, firstPauseMs, longestPauseMs), undefined, { signal: destroyed }).catch(
        () => undefined,
      );
    if (destroyed.aborted) return;
    tries += 1;
    connection = { hasReady: false };
    await connect();
  });

  wrap(shard, 'unpackMessage', (unpack) => async (...args) => {
    const frame = frameSchema.safeParse(await unpack(...args)).data;
    const isExpected =
      frame !== undefined && isInPlace(frame, Number(Reflect.get(shard, 'status')), connection);
    if (!isExpected) onMalformed('frame');
    if (frame?.op !== GatewayOpcodes.Dispatch) return isExpected ? frame : null;
    const event = isExpected ? prepare(frame.t, frame.d) : undefined;
    // Its sequence number counts, or it would be sent again.
    if (event === undefined) return { ...frame, t: null, d: null };
    if (frame.t === Event.Ready) connection.hasReady = true;
    if (frame.t === Event.Ready || frame.t === Event.Resumed) {
      tries = brief;
      readyAt = performance.now();
    }
    return { ...frame, d: event instanceof Promise ? await event : event };
  });

  // An event that still throws is dropped like a malformed one.
  wrap(shard, 'onMessage', (receive) => async (...args) => {
    try {
      await receive(...args);
    } catch (error) {
      onMalformed('frame', error);
    }
  });

  // The library gives up on refused intents, but not on a bad sequence.
  wrap(shard, 'onClose', (close) => (code) => {
    if (code !== GatewayCloseCodes.DisallowedIntents || !asksForFewer()) return close(code);
    Reflect.set(Object(Reflect.get(Object(Reflect.get(shard, 'strategy')), 'options')), 'intents', intents());
    return close(GatewayCloseCodes.InvalidSeq);
  });
}

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

/** A new session begins with one READY. */
function isInPlace(
  frame: z.infer<typeof frameSchema>,
  status: number,
  connection: { readonly hasReady: boolean },
): boolean {
  if (frame.op !== GatewayOpcodes.Dispatch) return true;
  const isAwaited = status === shardStatus.connecting && !connection.hasReady;
  if (isAwaited || frame.t === Event.Ready) return isAwaited && frame.t === Event.Ready;
  return frame.t !== Event.Resumed || status === shardStatus.resuming;
}

/** All others wait until the client knows its servers. */
const openingEvents: ReadonlySet<string> = new Set([
  Event.Ready,
  Event.Resumed,
  Event.GuildCreate,
  Event.GuildDelete,
]);

/** Discord is asked for unknown channels first, so that a server's channel is never taken for a DM. */
function createPreparation(client: Client, onMalformed: OnMalformed) {
  const ready = new Promise<void>((resolve) => client.once(Events.ClientReady, () => resolve()));
  const requested = new Map<string, Promise<unknown>>();

  async function whenChannelIsKnown(channelId: string): Promise<void> {
    // The event right before may tell of the channel.
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
    const event = usableEvent(type, data);
    if (event === 'malformed') onMalformed(type);
    if (event === undefined || event === 'malformed') return undefined;
    const isEarly = client.ws.status !== Status.Ready && !openingEvents.has(type);
    const { channel_id: messageChannel, channel_type: channelType } = Object(event);
    const isUnclear = type === Event.MessageCreate && channelType === undefined;
    const channelId: string | undefined = isUnclear ? messageChannel : undefined;
    const isUnknown = channelId !== undefined && !client.channels.cache.has(channelId);
    const isThread = type === Event.ThreadCreate || type === Event.ThreadUpdate;
    const prepared = () => (isThread ? withGuild(client, event) : event);
    if (!isEarly && !isUnknown) return prepared();
    return ready
      .then(() => (channelId === undefined ? undefined : whenChannelIsKnown(channelId)))
      .then(prepared);
  };
}

/** A thread may leave out its server, which is its parent's. */
export function withGuild({ channels }: Client, thread: unknown): object {
  const { guild_id: guildId, parent_id: parentId } = Object(thread);
  const parent = guildId === undefined ? channels.cache.get(parentId) : undefined;
  return parent === undefined || parent.isDMBased()
    ? Object(thread)
    : { ...Object(thread), guild_id: parent.guildId };
}
