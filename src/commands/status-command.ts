import type { DayUsage, LastWrite, ModelState, OpenCalls } from '../core/health.ts';
import type { Logger } from '../core/logger.ts';
import type { Command } from './command-set.ts';
import { statusText } from './status-text.ts';

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

export interface StatusCommandOptions {
  readonly readStatus: () => Promise<StatusFacts>;
  readonly logger: Logger;
}

const definition = {
  type: 1,
  name: 'status',
  description: 'How I am: model, queues, cost of today, store (for my owner)',
  /** In guilds and in DMs with the bot. */
  contexts: [0, 1],
  integration_types: [0],
};

/** `!status` and `/status`, for the bot's owner. */
export function createStatusCommand({ readStatus, logger }: StatusCommandOptions): Command {
  return {
    slash: { name: 'status', definition, words: () => '' },
    async handle({ speaker }) {
      if (!speaker.isOwner) return 'Only my owner can see my status.';
      try {
        return statusText(await readStatus());
      } catch (error) {
        logger.error('the status could not be read', { error });
        return 'Something went wrong on my side. Please try again.';
      }
    },
  };
}
