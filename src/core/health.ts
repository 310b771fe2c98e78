import type { ModelFailure } from './errors.ts';
import type { ModelUsage } from './model.ts';

/** Whether the model that answers people can be reached, as far as the newest calls tell. */
export type ModelState =
  | { readonly kind: 'reachable' }
  | { readonly kind: 'unreachable'; readonly since: Date; readonly failure: ModelFailure };

/** Model calls that run, and that wait for a free place. */
export interface OpenCalls {
  readonly running: number;
  readonly waiting: number;
}

/** What the models used on one local day. */
export interface DayUsage extends ModelUsage {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly calls: number;
  /** US dollars at list prices, of those models whose price is known. */
  readonly cost: number;
  /** The models that were used and whose price is not known. */
  readonly unpriced: readonly string[];
}

/** How the newest write to the store went; absent before the first. */
export interface LastWrite {
  readonly at: Date;
  readonly isOk: boolean;
}
