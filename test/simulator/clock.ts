import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Transform } from 'node:stream';
import type * as zlibModule from 'node:zlib';

import { install } from '@sinonjs/fake-timers';

import { createRandom, type Random } from './random.ts';

const realImmediate = setImmediate;

type InstalledClock = ReturnType<typeof install>;

/** What a simulated machine has in place of the platform's own; with timers come those of `timers/promises`. */
const faked = [
  'Date',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'performance',
] as const;

/** Something that happens in the world at a moment, whatever becomes of the process. */
interface WorldEvent {
  readonly at: number;
  readonly happen: () => void;
}

/**
 * Time and randomness for everything in this process: dates, timers, `timers/promises`, `performance.now`,
 * `AbortSignal.timeout`. It stands still while anything can run, then jumps to the next timer. Only one may be
 * installed at a time.
 */
export class VirtualClock {
  #installed: InstalledClock;
  readonly #events = new Set<WorldEvent>();
  readonly #startedAt: number;
  readonly #restorePlatform: () => void;

  constructor(seed: number, startsAt: Date) {
    this.#startedAt = startsAt.getTime();
    this.#restorePlatform = fakePlatform(createRandom(seed));
    this.#installed = installAt(this.#startedAt);
  }

  /** Milliseconds since the epoch. */
  get now(): number {
    return this.#installed.now;
  }

  /** Milliseconds since the simulation began. */
  get elapsed(): number {
    return this.now - this.#startedAt;
  }

  /** Timers that wait, those of the world included. */
  get timers(): number {
    return this.#installed.countTimers();
  }

  /** Something happens in the world after so many milliseconds. */
  after(ms: number, happen: () => void): void {
    const event = { at: this.now + Math.max(0, ms), happen };
    this.#events.add(event);
    this.#schedule(event);
  }

  /** Resolves after so many milliseconds of the world's time. */
  delay(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Resolves when all was done that can be done without time passing. */
  async settle(): Promise<void> {
    // A turn of the real event loop empties the queues of ticks and promises.
    await new Promise((resolve) => realImmediate(resolve));
  }

  /** Lets so many milliseconds pass, or less where `isOver` says so before; resolves with whether it did. */
  async run(ms: number, isOver: () => boolean = () => false): Promise<boolean> {
    const until = this.now + ms;
    const alarm: WorldEvent = { at: until, happen: () => {} };
    this.#events.add(alarm);
    this.#schedule(alarm);
    await this.settle();
    while (this.#events.has(alarm) && !isOver()) {
      this.#installed.next();
      await this.settle();
    }
    return this.#events.delete(alarm) || isOver();
  }

  /** Lets time pass until the work is settled, at most so many milliseconds; resolves with whether it was. */
  runUntilSettled(work: Promise<unknown>, ms: number): Promise<boolean> {
    let isSettled = false;
    const note = (): void => {
      isSettled = true;
    };
    work.then(note, note);
    return this.run(ms, () => isSettled);
  }

  /** The process is over: none of its timers is there any more. */
  dropTimers(): void {
    const { now } = this;
    this.#installed.uninstall();
    this.#installed = installAt(now);
    for (const event of this.#events) this.#schedule(event);
  }

  uninstall(): void {
    this.#installed.uninstall();
    this.#restorePlatform();
  }

  #schedule(event: WorldEvent): void {
    this.#installed.setTimeout(() => {
      if (this.#events.delete(event)) event.happen();
    }, event.at - this.now);
  }
}

function installAt(now: number): InstalledClock {
  const installed = install({ now, toFake: [...faked], loopLimit: Infinity });
  // What was imported by name follows.
  syncBuiltinESMExports();
  return installed;
}

const require = createRequire(import.meta.url);

// Its own threads would end when they like; and what is not packed can be read. These stand there for good, since modules take them when they are loaded.
const zlib: typeof zlibModule = require('node:zlib');
const { deflateRaw, createDeflateRaw } = zlib;
let isSimulated = false;
replace(zlib, {
  deflateRaw(data: Uint8Array, ...rest: [...unknown[], done: (error: null, packed: Buffer) => void]) {
    const done = rest.at(-1);
    if (!isSimulated) Reflect.apply(deflateRaw, undefined, [data, ...rest]);
    else if (typeof done === 'function') done(null, unpacked(data));
  },
  createDeflateRaw(...parameters: Parameters<typeof createDeflateRaw>) {
    if (!isSimulated) return createDeflateRaw(...parameters);
    const pieces: Buffer[] = [];
    return new Transform({
      transform(piece: Buffer, _encoding, done) {
        pieces.push(piece);
        done();
      },
      flush(done) {
        done(null, unpacked(Buffer.concat(pieces)));
      },
    });
  },
});
syncBuiltinESMExports();

function unpacked(data: Uint8Array): Buffer {
  return zlib.deflateRawSync(data, { level: 0 });
}

function fakePlatform(random: Random): () => void {
  const bytes = <View extends Uint8Array>(view: View): View => {
    for (let index = 0; index < view.length; index += 1) view[index] = random.int(0, 255);
    return view;
  };
  const randomBytes = (size: number) => bytes(Buffer.alloc(size));
  const randomUUID = () => {
    const hex = randomBytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const restores = [
    replace(require('node:crypto'), {
      randomBytes,
      randomUUID,
      randomInt: (low: number, high?: number) =>
        high === undefined ? random.int(0, low - 1) : random.int(low, high - 1),
    }),
    replace(globalThis.crypto, {
      randomUUID,
      getRandomValues: (view: ArrayBufferView) => {
        bytes(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
        return view;
      },
    }),
    replace(Math, { random: random.next }),
    replace(AbortSignal, {
      timeout(ms: number) {
        const controller = new AbortController();
        const timeUp = () => controller.abort(new DOMException('The operation timed out', 'TimeoutError'));
        setTimeout(timeUp, ms);
        return controller.signal;
      },
    }),
  ];
  isSimulated = true;
  return () => {
    isSimulated = false;
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

/** Puts other values in the place of properties; the returned function puts the former ones back. */
export function replace(target: object, replacements: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(replacements).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  for (const [name, value] of Object.entries(replacements))
    Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true });
  return () => {
    for (const [name, descriptor] of before)
      if (descriptor === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, descriptor);
  };
}
