import { GatewayCloseCodes, GatewayOpcodes } from 'discord-api-types/v10';
import type { WebSocket } from 'ws';
import { z } from 'zod';

import type { Presence } from '../world/entities.ts';
import type { Dispatch, GatewaySession, SessionLink } from './gateway-session.ts';

const frameSchema = z.object({ op: z.number(), d: z.unknown() });
const opcodeSchema = z.enum(GatewayOpcodes);
const presenceSchema = z.object({
  status: z.enum(['online', 'idle', 'dnd', 'invisible', 'offline']),
  activities: z.array(
    z.object({
      name: z.string().min(1).max(128),
      type: z.int(),
      state: z.string().max(128).nullish(),
    }),
  ),
});
const identifySchema = z.object({
  token: z.string(),
  intents: z.number(),
  presence: presenceSchema.nullish(),
  /** Which part of the bot it is; looked at by the host, since a wrong one has a close code of its own. */
  shard: z.unknown().optional(),
});
const resumeSchema = z.object({ token: z.string(), session_id: z.string(), seq: z.number() });
export type IdentifyRequest = z.infer<typeof identifySchema>;
export type ResumeRequest = z.infer<typeof resumeSchema>;

/** What the gateway decides for its connections. */
export interface ConnectionHost {
  identify(connection: GatewayConnection, request: IdentifyRequest): void;
  resume(connection: GatewayConnection, request: ResumeRequest): void;
  presence(presence: Presence): void;
  /** `session`: what the connection still had when the client closed it. */
  closed(connection: GatewayConnection, code: number, session: GatewaySession | undefined): void;
}

/** Milliseconds between the client's heartbeats, as Discord asks for. */
const heartbeatInterval = 41_250;

/** One WebSocket: speaks the protocol's opcodes and leaves the decisions to its host. */
export class GatewayConnection implements SessionLink {
  readonly #socket: WebSocket;
  readonly #host: ConnectionHost;
  #session: GatewaySession | undefined;

  constructor(socket: WebSocket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    socket.on('message', (data, isBinary) => {
      this.#receive(!isBinary && Buffer.isBuffer(data) ? parseJson(data) : undefined);
    });
    socket.on('close', (code) => {
      const session = this.#session;
      this.#release();
      host.closed(this, code, session);
    });
    // A broken socket is closed right after; the close is what counts.
    socket.on('error', () => undefined);
    this.#write({ op: GatewayOpcodes.Hello, d: { heartbeat_interval: heartbeatInterval } });
  }

  get session(): GatewaySession | undefined {
    return this.#session;
  }

  /** From now on the session's events go over this connection. */
  adopt(session: GatewaySession): void {
    this.#session = session;
    session.attach(this);
  }

  send(dispatch: Dispatch): void {
    this.#write(dispatch);
  }

  /** A frame as it is: text, or bytes as a binary one. */
  sendBytes(frame: string | Uint8Array): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(frame);
  }

  requestHeartbeat(): void {
    this.#write({ op: GatewayOpcodes.Heartbeat, d: null });
  }

  /** Op 7: the client is to come back and resume. */
  requestReconnect(): void {
    this.#write({ op: GatewayOpcodes.Reconnect, d: null });
  }

  /** Op 9: the session is over, and the client must identify again. */
  invalidate(): void {
    this.#release();
    this.#write({ op: GatewayOpcodes.InvalidSession, d: false });
  }

  /** Events that happen from now on wait for a resume, whatever the client still says on this connection. */
  close(code: number): void {
    this.#release();
    this.#socket.close(code);
  }

  /** Breaks the connection without a word, as a lost network does. */
  cut(): void {
    this.#release();
    this.#socket.terminate();
  }

  #receive(value: unknown): void {
    const frame = frameSchema.safeParse(value);
    if (!frame.success) {
      this.close(GatewayCloseCodes.DecodeError);
      return;
    }
    const { d } = frame.data;
    const { data: op } = opcodeSchema.safeParse(frame.data.op);
    if (op === GatewayOpcodes.Heartbeat) this.#heartbeat(d);
    else if (op === GatewayOpcodes.Identify || op === GatewayOpcodes.Resume) this.#authenticate(op, d);
    else if (this.#session === undefined) {
      this.close(GatewayCloseCodes.NotAuthenticated);
    } else if (op === GatewayOpcodes.PresenceUpdate) {
      const presence = presenceSchema.safeParse(d);
      if (presence.success) this.#host.presence(presence.data);
      else this.close(GatewayCloseCodes.DecodeError);
    } else {
      this.close(GatewayCloseCodes.UnknownOpcode);
    }
  }

  #heartbeat(sequence: unknown): void {
    this.#write({ op: GatewayOpcodes.HeartbeatAck, d: null });
    this.#session?.acknowledge(typeof sequence === 'number' ? sequence : 0);
  }

  #authenticate(op: GatewayOpcodes.Identify | GatewayOpcodes.Resume, data: unknown): void {
    if (this.#session !== undefined) {
      this.close(GatewayCloseCodes.AlreadyAuthenticated);
      return;
    }
    const request = op === GatewayOpcodes.Identify ? identifySchema.safeParse(data) : undefined;
    const resume = op === GatewayOpcodes.Resume ? resumeSchema.safeParse(data) : undefined;
    if (request?.success) this.#host.identify(this, request.data);
    else if (resume?.success) this.#host.resume(this, resume.data);
    else this.close(GatewayCloseCodes.DecodeError);
  }

  #release(): void {
    this.#session?.detach(this);
    this.#session = undefined;
  }

  #write(payload: object): void {
    if (this.#socket.readyState === this.#socket.OPEN)
      this.#socket.send(JSON.stringify({ s: null, t: null, ...payload }));
  }
}

function parseJson(data: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}
