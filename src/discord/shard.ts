import { setTimeout as delay } from 'node:timers/promises';

import { GatewayCloseCodes, GatewayDispatchEvents, GatewayOpcodes } from 'discord-api-types/v10';
import {
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
import { usableEvent, type UsableEvent } from './payloads/payloads.ts';
import { isObject, refused, whole } from './payloads/schema.ts';

/** Whom a shard waits for before it identifies: rejects only where the signal is aborted. */
export type Identifying = IIdentifyThrottler;

/** Lets shards identify as Discord asks: of each `id % maxConcurrency` one in five seconds. */
export function createIdentifyQueue(maxConcurrency: number): Identifying {
  return new SimpleIdentifyThrottler(maxConcurrency);
}

/** Told what came that nobody can use: an event of Discord's by name, a `frame` that is none, or a `message` of a page; and the error, where it only failed later. */
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
    logger.warn('Discord sent what cannot be used', { type, count, ...(thrownAt && { thrownAt }) });
  };
  return {
    note,
    /** Since the start. */
    count: (): number => count,
  };
}

/**
 * How the client connects to the gateway: as the library does, but nothing that comes ends the process or stands in the way of what comes after
 * it [L5]. Where Discord refuses the intents and `asksForFewer`, the connection is made with those that `intents` gives then [G3c].
 */
export function carefulSharding(options: {
  readonly onMalformed: OnMalformed;
  readonly intents: () => number;
  readonly asksForFewer: () => boolean;
}): NonNullable<WebSocketOptions['buildStrategy']> {
  return (manager) => {
    const strategy = new SimpleShardingStrategy(manager);
    // The library also destroys what there was, which is nothing, before it makes the connections.
    let destroyed = new AbortController();
    wrap(strategy, 'destroy', (destroy) => (...given) => {
      destroyed.abort();
      return destroy(...given);
    });
    wrap(strategy, 'spawn', (spawn) => async (shardIds) => {
      destroyed = new AbortController();
      await spawn(shardIds);
      const shards: unknown = Reflect.get(strategy, 'shards');
      if (!(shards instanceof Map)) throw new Error('The library keeps its connections elsewhere now');
      for (const shard of shards.values()) makeCareful(Object(shard), options, destroyed.signal);
    });
    return strategy;
  };
}

/**
 * The library hands each event to its own handlers, at once or later from a queue, where an error would end the process. What gets past the
 * checks and still throws is lost like any other event that nobody can use. A message of a channel that the client does not hold, and that does not say of which
 * kind the channel is, would be dropped: Discord is asked for the channel first, so that no message of a server passes for a direct one.
 */
export function containEvents(client: Client, onMalformed: OnMalformed): void {
  const { ws, channels } = client;
  /** By channel, a request for it: messages that wait for it go on in the order in which they came. */
  const asked = new Map<string, Promise<unknown>>();
  wrap(ws, 'handlePacket', (handlePacket) => {
    const handle = (packet: unknown, shard: unknown): unknown => {
      try {
        return handlePacket(packet, shard);
      } catch (error) {
        onMalformed(typeOf(packet), error);
        return true;
      }
    };
    return (told, shard) => {
      const packet = withGuildOfThread(client, told);
      const channelId = ws.status === Status.Ready ? channelToAskFor(packet) : undefined;
      if (channelId === undefined || channels.cache.has(channelId)) return handle(packet, shard);
      const found =
        asked.get(channelId) ??
        channels
          .fetch(channelId)
          .catch((error: unknown) => onMalformed(typeOf(packet), error))
          .finally(() => asked.delete(channelId));
      asked.set(channelId, found);
      void found.then(() => handle(packet, shard));
      return true;
    };
  });
}

function withGuildOfThread(client: Client, packet: unknown): unknown {
  const thread = z.looseObject({
    t: z.enum([GatewayDispatchEvents.ThreadCreate, GatewayDispatchEvents.ThreadUpdate]),
    d: z.looseObject({}),
  });
  const { data } = thread.safeParse(packet);
  return data === undefined ? packet : { ...data, d: withGuild(client, data.d) };
}

/** A thread may leave out the server that it is in, which is its parent's; without it the library takes no thread. */
export function withGuild({ channels }: Client, thread: unknown): unknown {
  const { guild_id: guildId, parent_id: parentId } = Object(thread);
  const parent = guildId === undefined ? channels.cache.get(parentId) : undefined;
  return parent === undefined || parent.isDMBased()
    ? thread
    : { ...Object(thread), guild_id: parent.guildId };
}

/** The channel of a message that does not say of which kind the channel is. */
function channelToAskFor(packet: unknown): string | undefined {
  const message = z.object({
    t: z.literal(GatewayDispatchEvents.MessageCreate),
    d: z.object({ channel_id: z.string(), channel_type: z.undefined().optional() }),
  });
  return message.safeParse(packet).data?.d.channel_id;
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

const sessionBegins: ReadonlySet<string> = new Set([
  GatewayDispatchEvents.Ready,
  GatewayDispatchEvents.Resumed,
]);

/** Milliseconds between the first tries to connect, and at most; they double. */
const firstPauseMs = 1000;
const longestPauseMs = 60_000;

/** As `WebSocketShardStatus` of the library numbers them. */
const status = { connecting: 1, resuming: 2 } as const;

function makeCareful(
  shard: object,
  { onMalformed, intents, asksForFewer }: Parameters<typeof carefulSharding>[0],
  destroyed: AbortSignal,
): void {
  let opening = { hasHello: false, hasReady: false };
  /** Since the last session that was begun or resumed. */
  let tries = 0;
  /** The check of a long frame, which takes a while, and of those that came behind it: none overtakes it. */
  let checking: Promise<unknown> | undefined;

  // The library tries twice a second for ever, also after it was told to end [O7].
  wrap(shard, 'internalConnect', (connect) => async () => {
    const pauseMs = Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs);
    if (tries > 0) await delay(pauseMs, undefined, { signal: destroyed }).catch(() => undefined);
    tries += 1;
    if (!destroyed.aborted) await connect();
  });
  wrap(shard, 'destroy', (destroy) => (options) => {
    opening = { hasHello: false, hasReady: false };
    return destroy(options);
  });
  wrap(shard, 'unpackMessage', (unpack) => async (data, isBinary) => {
    const connection = opening;
    let frame: unknown;
    try {
      frame = await unpack(data, isBinary);
    } catch {
      // It is none.
    }
    const check = () => usableFrame(frame, Number(Reflect.get(shard, 'status')), connection);
    let usable = checking === undefined ? check() : checking.then(check);
    if (usable instanceof Promise) {
      const own = (checking = usable.catch(() => undefined));
      usable = await own;
      if (checking === own) checking = undefined;
    }
    // Of a connection that has ended meanwhile: what comes after it tells again.
    if (connection !== opening) return null;
    if (sessionBegins.has(typeOf(usable))) tries = 0;
    if (usable !== undefined) return usable;
    onMalformed(typeOf(frame));
    return withoutEvent(frame);
  });
  wrap(shard, 'onMessage', (receive) => async (data, isBinary) => {
    try {
      await receive(data, isBinary);
    } catch (error) {
      onMalformed('frame', error);
    }
  });
  wrap(shard, 'send', (send) => (payload) => {
    const identify = z.looseObject({ op: z.literal(GatewayOpcodes.Identify), d: z.looseObject({}) });
    const { data } = identify.safeParse(payload);
    return send(data === undefined ? payload : { ...data, d: { ...data.d, intents: intents() } });
  });
  // The library gives up on refused intents; after a bad sequence it begins a new session.
  wrap(
    shard,
    'onClose',
    (close) => (code) =>
      close(
        code === GatewayCloseCodes.DisallowedIntents && asksForFewer() ? GatewayCloseCodes.InvalidSeq : code,
      ),
  );
}

const opcodes = [
  GatewayOpcodes.Dispatch,
  GatewayOpcodes.Heartbeat,
  GatewayOpcodes.Reconnect,
  GatewayOpcodes.InvalidSession,
  GatewayOpcodes.Hello,
  GatewayOpcodes.HeartbeatAck,
] as const;

interface Frame {
  readonly op: (typeof opcodes)[number];
  readonly t?: unknown;
  readonly s?: unknown;
  readonly d?: unknown;
}

/** What the gateway sends; a sequence number that is none is left out. */
function frameOf(value: unknown): Frame | undefined {
  if (!isObject(value)) return undefined;
  const { t, s, d } = value;
  const op = opcodes.find((each) => each === value['op']);
  return op === undefined ? undefined : { op, t, s: whole(s) === refused ? null : s, d };
}

/** Milliseconds between two heartbeats where Discord's wish cannot be read; what it usually wishes. */
const usualHeartbeat = 41_250;
const helloSchema = z.object({ heartbeat_interval: z.number().min(1000).max(600_000).catch(usualHeartbeat) });

/**
 * A frame as the library may have it; `undefined` for one that nobody can use. Each connection begins with one hello, and a new session with
 * one READY; before that there are no events.
 */
function usableFrame(
  value: unknown,
  shardStatus: number,
  opening: { hasHello: boolean; hasReady: boolean },
): unknown {
  const frame = frameOf(value);
  if (frame === undefined) return undefined;
  switch (frame.op) {
    case GatewayOpcodes.Dispatch: {
      const isReady = frame.t === GatewayDispatchEvents.Ready;
      const isAwaited = shardStatus === status.connecting && !opening.hasReady;
      if (isReady !== isAwaited) return undefined;
      if (frame.t === GatewayDispatchEvents.Resumed && shardStatus !== status.resuming) return undefined;
      const frameWith = (event: UsableEvent): unknown => {
        if (event.kind === 'malformed') return undefined;
        if (isReady) opening.hasReady = true;
        return event.kind === 'usable' ? { ...frame, d: event.data } : withoutEvent(frame);
      };
      const event = usableEvent(frame.t, frame.d);
      return event instanceof Promise ? event.then(frameWith) : frameWith(event);
    }
    case GatewayOpcodes.Hello:
      if (opening.hasHello) return undefined;
      opening.hasHello = true;
      return { ...frame, d: helloSchema.parse(Object(frame.d)) };
    case GatewayOpcodes.InvalidSession:
      return { ...frame, d: frame.d === true };
    case GatewayOpcodes.Heartbeat:
    case GatewayOpcodes.HeartbeatAck:
    case GatewayOpcodes.Reconnect:
      return frame;
  }
}

/** The number of an event counts, or it would be sent again; `null` for a frame that is none. */
function withoutEvent(value: unknown): unknown {
  const frame = frameOf(value);
  return frame?.op === GatewayOpcodes.Dispatch ? { ...frame, t: null, d: null } : null;
}

const eventNames: ReadonlySet<unknown> = new Set(Object.values(GatewayDispatchEvents));

/** Nothing that is not Discord's own goes into a log. */
function typeOf(frame: unknown): string {
  const type: unknown = typeof frame === 'object' && frame !== null && 't' in frame ? frame.t : undefined;
  return typeof type === 'string' && eventNames.has(type) ? type : 'frame';
}
