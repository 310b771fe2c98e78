import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';

/** Structured log lines. Never message texts, tokens or keys. */
export interface Logger {
  debug(event: string, data?: Readonly<Record<string, unknown>>): void;
  info(event: string, data?: Readonly<Record<string, unknown>>): void;
  warn(event: string, data?: Readonly<Record<string, unknown>>): void;
  error(event: string, data?: Readonly<Record<string, unknown>>): void;
}

/** What is measured while the bot works; nothing of people, and nothing without a listener [O3]. */
export interface Measured {
  /** A part of a turn, in milliseconds. */
  readonly stage: { readonly stage: TurnStage; readonly ms: number };
  readonly turn: { readonly outcome: string };
  readonly ignored: { readonly reason: string };
  /** Items that made room for others [D3]. */
  readonly evicted: { readonly items: number };
  readonly storeError: { readonly writes: number };
  /** A turn or model call that could not begin at once. */
  readonly waited: { readonly queue: 'turns' | 'model calls' };
  /** A call that failed for good. */
  readonly modelError: { readonly failure: string };
}

/** From the words to the prompt, then to the model's whole answer, then to the last message of it. */
export type TurnStage = 'prompt' | 'answer' | 'delivery';

/** Which bot of the process works: the demonstration has one of its own. */
const bots = new AsyncLocalStorage<object>();

/** What is measured in the work is heard by those alone who listen from there. */
export function measuredApart<T>(work: () => T): T {
  return bots.run({}, work);
}

export function measure<Kind extends keyof Measured>(kind: Kind, value: Measured[Kind]): void {
  channel(`discoclaw.${kind}`).publish(value);
}

/** Measures a part of a turn, even if it fails. */
export async function timed<T>(stage: TurnStage, work: Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    return await work;
  } finally {
    measure('stage', { stage, ms: performance.now() - startedAt });
  }
}

/** The result ends the subscription. What the listener throws is a warning: no measuring ends a process [L5]. */
export function onMeasured<Kind extends keyof Measured>(
  kind: Kind,
  listener: (value: Measured[Kind]) => void,
): () => void {
  const bot = bots.getStore();
  const heard = (value: unknown): void => {
    if (bots.getStore() !== bot) return;
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `measure` publishes
      listener(value as Measured[Kind]);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  };
  const measured = channel(`discoclaw.${kind}`);
  measured.subscribe(heard);
  return () => {
    measured.unsubscribe(heard);
  };
}
