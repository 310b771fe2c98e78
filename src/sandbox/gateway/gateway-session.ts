import { GatewayOpcodes } from 'discord-api-types/v10';

/** A client's part of the bot: shard `id` of `count`. */
export interface Shard {
  readonly id: number;
  readonly count: number;
}

/** A numbered event as it goes over the wire. */
export interface Dispatch {
  readonly op: GatewayOpcodes.Dispatch;
  readonly t: string;
  readonly s: number;
  readonly d: unknown;
}

/** The connection that a session has at the moment. */
export interface SessionLink {
  send(dispatch: Dispatch): void;
  /** Asks the client for a heartbeat, whose answer carries the last sequence number that it has seen. */
  requestHeartbeat(): void;
}

/** Discord keeps a session's recent events for a resume; a gap that reaches further back ends the session. */
const replayLimit = 2_000;

/** How long to wait before asking again a client that has not seen everything yet, in milliseconds. */
const askAgainAfter = 10;

/**
 * One identified client: numbers its events from 1, keeps them for a replay, and sends them over the connection that it
 * has at the moment, if any.
 */
export class GatewaySession {
  readonly id: string;
  readonly intents: number;
  readonly shard: Shard;
  readonly #sends: (data: unknown) => unknown;
  readonly #sent: Dispatch[] = [];
  readonly #waiting = new Map<() => void, number>();
  #sequence = 0;
  #repeatAtResume = 0;
  #link: SessionLink | undefined;

  constructor(id: string, intents: number, shard: Shard, sends: (data: unknown) => unknown) {
    this.#sends = sends;
    this.id = id;
    this.intents = intents;
    this.shard = shard;
  }

  get sequence(): number {
    return this.#sequence;
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  attach(link: SessionLink): void {
    this.#link = link;
    if (this.#waiting.size > 0) link.requestHeartbeat();
  }

  /** Only the attached link can be detached: a connection that closes late does not cut off its successor. */
  detach(link: SessionLink): void {
    if (this.#link === link) this.#link = undefined;
  }

  dispatch(type: string, data: unknown): void {
    const sent = this.#sends(structuredClone(data));
    this.#sequence += 1;
    const dispatch: Dispatch = { op: GatewayOpcodes.Dispatch, t: type, s: this.#sequence, d: sent };
    this.#sent.push(dispatch);
    if (this.#sent.length > replayLimit) this.#sent.shift();
    this.#link?.send(dispatch);
  }

  /** The next resume also repeats this many events that the client has already had. */
  repeatAtResume(count: number): void {
    this.#repeatAtResume = count;
  }

  /** Whether everything after `sequence` is still there to be replayed. */
  canResumeFrom(sequence: number): boolean {
    const oldest = this.#sent[0]?.s ?? this.#sequence + 1;
    return sequence <= this.#sequence && sequence >= oldest - 1;
  }

  /** The events after `sequence`, preceded by what is to be repeated; never READY, which would begin a new session. */
  takeReplay(sequence: number): readonly Dispatch[] {
    const after = sequence - this.#repeatAtResume;
    this.#repeatAtResume = 0;
    return this.#sent.filter(({ s, t }) => s > after && t !== 'READY');
  }

  /** The client says that it has seen everything up to `sequence`. */
  acknowledge(sequence: number): void {
    for (const [resolve, target] of this.#waiting) {
      if (target > sequence) continue;
      this.#waiting.delete(resolve);
      resolve();
    }
    if (this.#waiting.size > 0) setTimeout(() => this.#link?.requestHeartbeat(), askAgainAfter).unref();
  }

  /** Resolves when the client has seen everything sent until now, also over a reconnect. @throws the signal's reason. */
  async delivered(signal: AbortSignal): Promise<void> {
    const target = this.#sequence;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.set(resolve, target);
      signal.addEventListener('abort', () => {
        this.#waiting.delete(resolve);
        reject(signal.reason instanceof Error ? signal.reason : new Error('Gave up waiting'));
      });
      this.#link?.requestHeartbeat();
    });
  }
}
