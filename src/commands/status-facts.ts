import type { DayUsage, ModelState, OpenCalls } from '../core/model.ts';
import type { LastWrite } from '../core/store.ts';

/** How the bot is; counts only, nothing of anybody. */
export interface StatusFacts {
  readonly version: string;
  /** Milliseconds since the start. */
  readonly upMs: number;
  readonly now: Date;
  /** Names as configured; absent where only the offline stand-in speaks. */
  readonly models?: { readonly main: string; readonly fast: string };
  readonly modelState: ModelState;
  /** Milliseconds to the gateway and back; absent where it is not known. */
  readonly pingMs?: number | undefined;
  readonly turns: { readonly running: number; readonly waiting: number };
  /** Jobs that run or wait: work after turns, and writes. */
  readonly afterTurn: number;
  readonly writes: number;
  readonly modelCalls: OpenCalls;
  /** The day of the price list that costs go by. */
  readonly pricesOf: string;
  readonly lastWrite?: LastWrite | undefined;
  /** What has to be read from disk; each is absent where it cannot be. */
  readonly usage?: DayUsage | undefined;
  readonly kept?: KeptFacts | undefined;
  readonly quarantined?: number | undefined;
}

/** How much is kept. */
export interface KeptFacts {
  readonly sessions: number;
  readonly users: number;
  readonly files: number;
  readonly bytes: number;
}
