import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

import {
  GatewayCloseCodes,
  GatewayDispatchEvents,
  GatewayIntentBits,
  type GatewayIdentifyData,
  type GatewayResumeData,
} from 'discord-api-types/v10';
import { WebSocketServer } from 'ws';

import { applicationFlags, guildCreatePayload, userPayload } from '../payloads/guild-payload.ts';
import type { PrivilegedIntents } from '../world/entities.ts';
import { guildIdOf, SandboxError, userOf, type World, type WorldEvent } from '../world/world.ts';
import { dispatchesFor, subscribes } from './event-dispatches.ts';
import { GatewayConnection, type ConnectionHost } from './gateway-connection.ts';
import { GatewaySession, type Shard } from './gateway-session.ts';

interface GatewayOptions {
  readonly world: World;
  readonly token: string;
  /** Known once the server listens. */
  readonly urls: () => { readonly gateway: string; readonly cdn: string };
  /** Changes the data of an event. */
  readonly sends: (data: unknown) => unknown;
  readonly refuses: RefuseConnection;
}

/** What a connection is refused by: an HTTP status where it is made, a close code where it identifies or resumes. */
export type RefuseConnection = (step: 'connect' | 'authenticate') => number | undefined;

/** What is sent whether Discord would or not: an event, numbered like any other, or a frame of text or bytes. */
export type RawFrame = { readonly t: string; readonly d: unknown } | string | Uint8Array;

/** The gateway: sessions outlive their connections, so that a client can resume. */
export class Gateway implements ConnectionHost {
  readonly connections = new Set<GatewayConnection>();
  /** By id. */
  readonly sessions = new Map<string, GatewaySession>();
  readonly #options: GatewayOptions;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #unsubscribe: () => void;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#unsubscribe = options.world.subscribe((event) => this.dispatch(event));
  }

  /** Takes WebSocket upgrades of `/gateway` from a server. */
  listenOn(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const isKnown = /^\/gateway\/?$/.test(url.pathname);
      const status = isKnown ? this.#options.refuses('connect') : 404;
      if (status !== undefined) socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`);
      else
        this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
          const connection = new GatewayConnection(webSocket, this);
          this.connections.add(connection);
          if (url.searchParams.get('v') !== '10') connection.close(GatewayCloseCodes.InvalidAPIVersion);
        });
    });
  }

  /** Sends an event to every session whose shard has its guild; also how an event is sent a second time. */
  dispatch(event: WorldEvent): void {
    const { world, urls } = this.#options;
    const guildId = guildIdOfEvent(world, event);
    for (const session of this.sessions.values()) {
      if (!hears(session.shard, guildId)) continue;
      const audience = { intents: session.intents, cdnUrl: urls().cdn };
      for (const { type, data } of dispatchesFor(world, event, audience)) session.dispatch(type, data);
    }
  }

  /** Sends something to every connected client as it is. */
  sendRaw(frame: RawFrame): void {
    for (const connection of this.connections)
      if (typeof frame === 'string' || frame instanceof Uint8Array) connection.sendBytes(frame);
      else connection.session?.dispatch(frame.t, frame.d);
  }

  /**
   * Resolves when every client has received everything dispatched until now.
   * @throws {SandboxError} when there is no session, or not within `timeoutMs`.
   */
  async delivered(timeoutMs: number): Promise<void> {
    const sessions = [...this.sessions.values()];
    if (sessions.length === 0) throw new SandboxError('No client is connected to the gateway');
    // Such a timer holds no process.
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      await Promise.all(sessions.map((session) => session.delivered(signal)));
    } catch (error) {
      const state = sessions.some(({ isConnected }) => !isConnected)
        ? 'disconnected'
        : 'connected, but silent';
      throw new SandboxError(`The client has not received everything after ${timeoutMs} ms: it is ${state}`, {
        cause: error,
      });
    }
  }

  identify(connection: GatewayConnection, request: GatewayIdentifyData): void {
    if (this.#isRefused(connection, request.token)) return;
    const { world, urls } = this.#options;
    // A client that names no shard has all there is.
    const [part, count] = request.shard ?? [0, 1];
    const shard = { id: part, count };
    if ((request.intents & disallowedIntents(world.application.privileged)) !== 0) {
      connection.close(GatewayCloseCodes.DisallowedIntents);
      return;
    }
    // A shard that identifies again replaces its old session, and another number of shards all of them.
    for (const old of this.sessions.values()) {
      const isReplaced = old.shard.id === shard.id || old.shard.count !== shard.count;
      if (isReplaced && !old.isConnected) this.sessions.delete(old.id);
    }
    const sessionId = randomBytes(16).toString('hex');
    const session = new GatewaySession(sessionId, request.intents, shard, this.#options.sends);
    this.sessions.set(session.id, session);
    connection.adopt(session);
    const flags = applicationFlags(world);
    const guilds = [...world.guilds.values()].filter(
      ({ id, members }) => members.has(world.botId) && hears(shard, id),
    );
    session.dispatch(GatewayDispatchEvents.Ready, {
      v: 10,
      user: userPayload(userOf(world, world.botId)),
      guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
      session_id: session.id,
      resume_gateway_url: urls().gateway,
      shard: [shard.id, shard.count],
      application: { id: world.application.id, flags },
    });
    if (!subscribes(session.intents, GatewayIntentBits.Guilds)) return;
    const withAllMembers = subscribes(session.intents, GatewayIntentBits.GuildMembers);
    for (const guild of guilds)
      session.dispatch(GatewayDispatchEvents.GuildCreate, guildCreatePayload(world, guild, withAllMembers));
  }

  #isRefused(connection: GatewayConnection, token: string): boolean {
    const isKnown = token.replace(/^Bot /, '') === this.#options.token;
    const code =
      this.#options.refuses('authenticate') ?? (isKnown ? undefined : GatewayCloseCodes.AuthenticationFailed);
    if (code !== undefined) connection.close(code);
    return code !== undefined;
  }

  resume(connection: GatewayConnection, request: GatewayResumeData): void {
    if (this.#isRefused(connection, request.token)) return;
    const session = this.sessions.get(request.session_id);
    if (session === undefined || !session.canResumeFrom(request.seq)) {
      this.sessions.delete(request.session_id);
      connection.invalidate();
      return;
    }
    for (const dispatch of session.takeReplay(request.seq)) connection.send(dispatch);
    connection.adopt(session);
    session.dispatch(GatewayDispatchEvents.Resumed, {});
  }

  /** A client that closes with 1000 or 1001 ends its session; any other code leaves it to be resumed. */
  closed(connection: GatewayConnection, code: number, session: GatewaySession | undefined): void {
    this.connections.delete(connection);
    if (session === undefined || (code !== 1000 && code !== 1001)) return;
    this.sessions.delete(session.id);
  }

  close(): void {
    this.#unsubscribe();
    for (const connection of this.connections) connection.cut();
    this.sessions.clear();
    this.#sockets.close();
  }
}

/** Whether a shard gets a guild's events; without a guild, those of DMs, which only the first shard gets. */
function hears({ id, count }: Shard, guildId: string | undefined): boolean {
  return id === (guildId === undefined ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(count)));
}

/** The guild that an event belongs to; `undefined` for those of DMs. */
function guildIdOfEvent(world: World, event: WorldEvent): string | undefined {
  if ('guildId' in event) return event.guildId;
  if ('guild' in event) return event.guild.id;
  if ('thread' in event) return event.thread.guildId;
  if ('channel' in event) return guildIdOf(event.channel);
  const { channelId } =
    'message' in event ? event.message : 'interaction' in event ? event.interaction : event;
  const channel = world.channels.get(channelId);
  return channel && guildIdOf(channel);
}

/** The privileged intents that are off for the bot. */
function disallowedIntents(privileged: PrivilegedIntents): number {
  return (
    (privileged.messageContent ? 0 : GatewayIntentBits.MessageContent) |
    (privileged.guildMembers ? 0 : GatewayIntentBits.GuildMembers) |
    (privileged.presences ? 0 : GatewayIntentBits.GuildPresences)
  );
}
