import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

import { GatewayCloseCodes, GatewayDispatchEvents, GatewayIntentBits } from 'discord-api-types/v10';
import { WebSocketServer } from 'ws';

import { SandboxError } from '../control/sandbox-control.ts';
import { createGatewayFaults } from '../rest/faults.ts';
import { guildCreatePayload } from '../payloads/guild-payload.ts';
import { applicationFlags, userPayload } from '../payloads/user-payload.ts';
import type { Presence, PrivilegedIntents } from '../world/entities.ts';
import { offline, setPresence, userOf, type World, type WorldEvent } from '../world/world.ts';
import { dispatchesFor, subscribes } from './event-dispatches.ts';
import {
  GatewayConnection,
  type ConnectionHost,
  type IdentifyRequest,
  type ResumeRequest,
} from './gateway-connection.ts';
import { GatewaySession } from './gateway-session.ts';
import { guildIdOfEvent, hears, shardSchema, type SessionStarts } from './sharding.ts';

interface GatewayOptions {
  readonly world: World;
  readonly token: string;
  /** A shard with more guilds is refused. */
  readonly guildsPerShard: number;
  readonly starts: SessionStarts;
  /** Known once the server listens. */
  readonly urls: () => { readonly gateway: string; readonly cdn: string };
  /** Changes the data of an event. */
  readonly sends: (data: unknown) => unknown;
}

/** How a connection is made to end. `reconnect` is op 7, `invalidate` op 9, `cut` a lost network. */
type DropKind = 'close' | 'cut' | 'reconnect' | 'invalidate';

/** What is sent whether Discord would or not: an event, numbered like any other, or a frame of text or bytes. */
export type RawFrame = { readonly t: string; readonly d: unknown } | string | Uint8Array;

/** What the next client is sent that identifies: before READY, and after it but before its guilds. */
export interface EarlyFrames {
  readonly beforeReady?: readonly RawFrame[];
  readonly beforeGuilds?: readonly RawFrame[];
}

/** The gateway: sessions outlive their connections, so that a client can resume. */
export class Gateway implements ConnectionHost {
  readonly #options: GatewayOptions;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #connections = new Set<GatewayConnection>();
  readonly #sessions = new Map<string, GatewaySession>();
  /** What goes wrong with the next connections. */
  readonly faults = createGatewayFaults();
  #early: EarlyFrames = {};
  readonly #unsubscribe: () => void;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#unsubscribe = options.world.subscribe((event) => this.dispatch(event));
  }

  /** Takes WebSocket upgrades of `/gateway` from a server; others, and those that may not, are refused. */
  listenOn(server: Server, may: (headers: IncomingHttpHeaders) => boolean): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
      if (!/^\/gateway\/?$/.test(url.pathname)) refuse('404 Not Found');
      else if (!may(request.headers)) refuse('403 Forbidden');
      else if (this.faults.take('connect') !== undefined) refuse('503 Service Unavailable');
      else
        this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
          const connection = new GatewayConnection(webSocket, this);
          this.#connections.add(connection);
          if (url.searchParams.get('v') !== '10') connection.close(GatewayCloseCodes.InvalidAPIVersion);
        });
    });
  }

  get sessions(): readonly GatewaySession[] {
    return [...this.#sessions.values()];
  }

  /** Sends an event to every session whose shard has its guild; also how an event is sent a second time. */
  dispatch(event: WorldEvent): void {
    const { world, urls } = this.#options;
    const guildId = guildIdOfEvent(world, event);
    for (const session of this.#sessions.values()) {
      if (!hears(session.shard, guildId)) continue;
      const audience = { intents: session.intents, cdnUrl: urls().cdn };
      for (const { type, data } of dispatchesFor(world, event, audience)) session.dispatch(type, data);
    }
  }

  /** Sends something to every connected client as it is. */
  sendRaw(frame: RawFrame): void {
    for (const connection of this.#connections) sendRaw(connection, frame);
  }

  /** Sends something to the next client that identifies, sooner than Discord would. */
  sendEarly(frames: EarlyFrames): void {
    this.#early = frames;
  }

  /**
   * Resolves when every client has received everything dispatched until now.
   * @throws {Error} when there is no session, or not within `timeoutMs`.
   */
  async delivered(timeoutMs: number): Promise<void> {
    if (this.#sessions.size === 0) throw new SandboxError('No client is connected to the gateway');
    // Such a timer holds no process.
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      await Promise.all(this.sessions.map((session) => session.delivered(signal)));
    } catch (error) {
      const away = this.sessions.some(({ isConnected }) => !isConnected);
      const state = away ? 'disconnected' : 'connected, but silent';
      throw new SandboxError(`The client has not received everything after ${timeoutMs} ms: it is ${state}`, {
        cause: error,
      });
    }
  }

  /**
   * Ends all connections, or those of one shard. Where not `resumable`, a resume is answered by op 9; `repeat` makes it send
   * so many received events again. Returns how many connections there were.
   */
  drop(
    kind: DropKind,
    options: {
      readonly resumable: boolean;
      readonly repeat: number;
      readonly shard?: number | undefined;
      readonly code?: number | undefined;
    },
  ): number {
    const connected = [...this.#connections].filter(
      ({ session }) =>
        session !== undefined && (options.shard === undefined || session.shard.id === options.shard),
    );
    for (const connection of connected) {
      connection.session?.repeatAtResume(options.repeat);
      if (!options.resumable || kind === 'invalidate') this.#sessions.delete(connection.session?.id ?? '');
      if (kind === 'reconnect') connection.requestReconnect();
      else if (kind === 'invalidate') connection.invalidate();
      else if (kind === 'cut') connection.cut();
      else connection.close(options.code ?? GatewayCloseCodes.UnknownError);
    }
    return connected.length;
  }

  identify(connection: GatewayConnection, request: IdentifyRequest): void {
    if (this.#isRefused(connection, request.token)) return;
    const { world, urls, starts, guildsPerShard } = this.#options;
    const shard = shardSchema.safeParse(request.shard).data;
    const guilds = [...world.guilds.values()].filter(
      ({ id, members }) => members.has(world.botId) && shard !== undefined && hears(shard, id),
    );
    const refusal =
      intentsRefusal(request.intents, world.application.privileged) ??
      (guilds.length > guildsPerShard ? GatewayCloseCodes.ShardingRequired : undefined);
    if (refusal !== undefined || shard === undefined) {
      connection.close(refusal ?? GatewayCloseCodes.InvalidShard);
      return;
    }
    const start = starts.take(shard);
    if (start === 'used-up') {
      // Discord then ends all sessions and resets the token.
      connection.close(GatewayCloseCodes.AuthenticationFailed);
      return;
    }
    if (start === 'too-soon') {
      connection.invalidate();
      return;
    }
    // A shard that identifies again replaces its old session, and another number of shards all of them.
    for (const old of this.sessions) {
      const isReplaced = old.shard.id === shard.id || old.shard.count !== shard.count;
      if (isReplaced && !old.isConnected) this.#sessions.delete(old.id);
    }
    const sessionId = randomBytes(16).toString('hex');
    const session = new GatewaySession(sessionId, request.intents, shard, this.#options.sends);
    this.#sessions.set(session.id, session);
    connection.adopt(session);
    setPresence(world, request.presence ?? { status: 'online', activities: [] });
    const { beforeReady = [], beforeGuilds = [] } = this.#early;
    this.#early = {};
    for (const frame of beforeReady) sendRaw(connection, frame);
    const flags = applicationFlags(world);
    session.dispatch(GatewayDispatchEvents.Ready, {
      v: 10,
      user: userPayload(userOf(world, world.botId)),
      guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
      session_id: session.id,
      resume_gateway_url: urls().gateway,
      shard: [shard.id, shard.count],
      application: { id: world.application.id, flags, flags_new: String(flags) },
    });
    for (const frame of beforeGuilds) sendRaw(connection, frame);
    if (!subscribes(session.intents, GatewayIntentBits.Guilds)) return;
    const withAllMembers = subscribes(session.intents, GatewayIntentBits.GuildMembers);
    const channels = [...world.channels.values()].filter(({ kind }) => kind !== 'dm');
    for (const guild of guilds) {
      const payload = guildCreatePayload(world, guild, withAllMembers, channels);
      session.dispatch(GatewayDispatchEvents.GuildCreate, payload);
    }
  }

  /** Closes the connection for a fault that is set, or a wrong token. */
  #isRefused(connection: GatewayConnection, token: string): boolean {
    const fault = this.faults.take('authenticate');
    const isKnown = token.replace(/^Bot /, '') === this.#options.token;
    if (fault?.kind === 'closed') connection.close(fault.code);
    else if (!isKnown) connection.close(GatewayCloseCodes.AuthenticationFailed);
    return fault?.kind === 'closed' || !isKnown;
  }

  resume(connection: GatewayConnection, request: ResumeRequest): void {
    if (this.#isRefused(connection, request.token)) return;
    const session = this.#sessions.get(request.session_id);
    if (session === undefined || !session.canResumeFrom(request.seq)) {
      this.#sessions.delete(request.session_id);
      connection.invalidate();
      return;
    }
    for (const dispatch of session.takeReplay(request.seq)) connection.send(dispatch);
    connection.adopt(session);
    session.dispatch(GatewayDispatchEvents.Resumed, {});
  }

  presence(presence: Presence): void {
    setPresence(this.#options.world, presence);
  }

  /** A client that closes with 1000 or 1001 ends its session; any other code leaves it to be resumed. */
  closed(connection: GatewayConnection, code: number, session: GatewaySession | undefined): void {
    this.#connections.delete(connection);
    if (session === undefined || (code !== 1000 && code !== 1001)) return;
    this.#sessions.delete(session.id);
    if (this.#sessions.size === 0) setPresence(this.#options.world, offline);
  }

  close(): void {
    this.#unsubscribe();
    for (const connection of this.#connections) connection.cut();
    this.#sessions.clear();
    this.#sockets.close();
  }
}

function sendRaw(connection: GatewayConnection, frame: RawFrame): void {
  if (typeof frame === 'string' || frame instanceof Uint8Array) connection.sendBytes(frame);
  else connection.session?.dispatch(frame.t, frame.d);
}

const knownIntents = Object.values(GatewayIntentBits).reduce<number>(
  (all, bit) => (typeof bit === 'number' ? all | bit : all),
  0,
);

/** The close code for unknown bits, or for privileged intents that are off for the bot. */
function intentsRefusal(intents: number, privileged: PrivilegedIntents): GatewayCloseCodes | undefined {
  if (!Number.isInteger(intents) || intents < 0 || (intents & ~knownIntents) !== 0)
    return GatewayCloseCodes.InvalidIntents;
  const refused =
    (privileged.messageContent ? 0 : GatewayIntentBits.MessageContent) |
    (privileged.guildMembers ? 0 : GatewayIntentBits.GuildMembers) |
    (privileged.presences ? 0 : GatewayIntentBits.GuildPresences);
  return (intents & refused) === 0 ? undefined : GatewayCloseCodes.DisallowedIntents;
}
