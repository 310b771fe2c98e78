import { eventText, saidMessage, streamedMessage, type ModelAnswer } from '../support/model-answer.ts';
import type { MessagesBody } from '../support/model-server.ts';
import type { VirtualClock } from './clock.ts';
import type { ProcessLife } from './disk.ts';
import type { Random } from './random.ts';

/** How the model's vendor behaves for now. */
export interface VendorMood {
  /** Milliseconds until the first piece, at least and at most. */
  readonly firstMs: readonly [number, number];
  readonly betweenMs: readonly [number, number];
  /** How many of a hundred calls end in each of these ways; the rest is answered. */
  readonly percent: Readonly<Partial<Record<VendorFault, number>>>;
}

const vendorFaults = ['drips', 'refuses', 'overloaded', 'stalls', 'cuts', 'nonsense', 'too-long'] as const;

type VendorFault = (typeof vendorFaults)[number];

export const calmVendor: VendorMood = { firstMs: [300, 1500], betweenMs: [20, 60], percent: {} };

/** Milliseconds between two signs of life of an answer that drips. */
const dripMs = 10_000;

const never = (): Promise<never> => new Promise(() => {});

/** Decides what is answered to a request that goes well. */
export type Script = (body: MessagesBody, random: Random) => ModelAnswer;

/** The vendor's server, behind the SDK's `fetch`. */
export class Vendor {
  mood: VendorMood = calmVendor;
  calls = 0;
  readonly #clock: VirtualClock;
  readonly #random: () => Random;
  readonly #script: Script;

  constructor(clock: VirtualClock, random: () => Random, script: Script) {
    this.#clock = clock;
    this.#random = random;
    this.#script = script;
  }

  /** `fetch` as a process uses it, as long as that lives. */
  fetch({ isAlive }: ProcessLife): typeof fetch {
    return async (_input, init) => {
      if (!isAlive()) return never();
      const signal = init?.signal ?? undefined;
      const random = this.#random();
      const body: MessagesBody = JSON.parse(textOf(init?.body));
      this.calls += 1;
      const index = this.calls;
      const fault = this.#fault(random);
      const between = (range: readonly [number, number]): number =>
        range[0] + random.next() * (range[1] - range[0]);
      const { firstMs, betweenMs } = this.mood;
      const answer = this.#script(body, random);
      await this.#pause(between(firstMs), signal, isAlive);
      if (fault === 'refuses') return errorResponse(400, 'invalid_request_error');
      if (fault === 'overloaded') return errorResponse(529, 'overloaded_error');
      const said =
        fault === 'nonsense'
          ? saidMessage({ text: '<!doctype html>' }, index)
          : saidMessage(answer, index, [body.system, body.output_config]);
      if (said === undefined) return errorResponse(500, 'api_error');
      const events = streamedMessage(fault === 'too-long' ? { ...said, stop: 'max_tokens' } : said);
      const pieces =
        fault === 'drips' ? dripping(events.map(eventText)) : inChunks(events.map(eventText), random);
      const end = fault === 'stalls' || fault === 'cuts' ? random.int(0, pieces.length - 1) : pieces.length;
      const pauses = pieces.map(() => (fault === 'drips' ? dripMs : between(betweenMs)));
      const pause = (ms: number): Promise<void> => this.#pause(ms, signal, isAlive);
      let at = 0;
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (at === end) {
            if (fault === 'stalls') await pause(3_600_000);
            else if (fault === 'cuts') controller.error(new TypeError('terminated'));
            else controller.close();
            return;
          }
          await pause(pauses[at] ?? 0);
          controller.enqueue(Buffer.from(pieces[at] ?? ''));
          at += 1;
        },
      });
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
    };
  }

  #fault(random: Random): VendorFault | undefined {
    let left = random.next() * 100;
    for (const fault of vendorFaults) {
      left -= this.mood.percent[fault] ?? 0;
      if (left < 0) return fault;
    }
    return undefined;
  }

  /** Rejects when the call is given up. */
  async #pause(ms: number, signal: AbortSignal | undefined, isAlive: () => boolean): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(signal?.reason);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#clock.after(ms, () => {
        signal?.removeEventListener('abort', giveUp);
        if (isAlive()) resolve();
      });
    });
  }
}

/** An answer that never seems to end: the server says again and again that it is still there. */
function dripping(events: readonly string[]): readonly string[] {
  const pings = Array.from({ length: 200 }, () => eventText({ type: 'ping' }));
  return [...events.slice(0, 2), ...pings, ...events.slice(2)];
}

/** As networks do: several events come at once. */
function inChunks(events: readonly string[], random: Random): readonly string[] {
  const chunks: string[] = [];
  for (const event of events)
    if (chunks.length === 0 || random.chance(0.15)) chunks.push(event);
    else chunks.push(`${chunks.pop() ?? ''}${event}`);
  return chunks;
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  throw new TypeError('The vendor takes texts and bytes');
}

function errorResponse(status: number, type: string): Response {
  return Response.json({ type: 'error', error: { type, message: 'scripted' } }, { status });
}
