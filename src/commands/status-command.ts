import type { Logger } from '../core/logger.ts';
import { referenceTo, withReference } from '../core/errors.ts';
import type { Command } from './command-set.ts';
import type { StatusFacts } from './status-facts.ts';
import { statusText } from './status-text.ts';

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
    async handle({ id, speaker }) {
      if (!speaker.isOwner) return 'Only my owner can see my status.';
      try {
        return statusText(await readStatus());
      } catch (error) {
        const reference = referenceTo(id);
        logger.error('the status could not be read', { reference, error });
        return withReference('Something went wrong on my side. Please try again.', reference);
      }
    },
  };
}
