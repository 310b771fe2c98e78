import {
  GatewayCloseCodes,
  GatewayOpcodes,
  type GatewayIdentifyData,
  type GatewayResumeData,
  type GatewaySendPayload,
} from 'discord-api-types/v10';
import type { WebSocket } from 'ws';

import type { Dispatch, GatewaySession, SessionLink } from './gateway-session.ts';

/** What the gateway decides for its connections. */
export interface ConnectionHost {
  identify(connection: GatewayConnection, request: GatewayIdentifyData): void;
  resume(connection: GatewayConnection, request: GatewayResumeData): void;
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
    socket.on('message', (data) => {
      if (Buffer.isBuffer(data)) this.#receive(data.toString());
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

  #receive(frame: string): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a library for Discord that writes it
    const payload = JSON.parse(frame) as GatewaySendPayload;
    if (payload.op === GatewayOpcodes.Heartbeat) {
      this.#write({ op: GatewayOpcodes.HeartbeatAck, d: null });
      this.#session?.acknowledge(payload.d ?? 0);
    } else if (payload.op === GatewayOpcodes.Identify) this.#host.identify(this, payload.d);
    else if (payload.op === GatewayOpcodes.Resume) this.#host.resume(this, payload.d);
    else if (payload.op !== GatewayOpcodes.PresenceUpdate) this.close(GatewayCloseCodes.UnknownOpcode);
  }

  #release(): void {
    this.#session?.detach(this);
    this.#session = undefined;
  }

  #write(payload: object): void {
    this.sendBytes(JSON.stringify({ s: null, t: null, ...payload }));
  }
}
