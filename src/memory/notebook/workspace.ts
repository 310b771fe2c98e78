import type { Logger } from '../../core/logger.ts';
import type { SectionReader } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { channelContextReader } from './channel-context.ts';
import { createSoul } from './soul.ts';

export interface WorkspaceOptions {
  readonly store: Store;
  readonly logger: Logger;
}

/**
 * What the bot's owner wrote for everybody, as the prompt sees it; read anew each turn through the store, whose cache makes that cheap
 * [S5]. The owner's notebook in the same folder is the notebook's matter.
 */
export interface Workspace {
  /** The bot's identity, first in every prompt [N1]; at most 8,000 characters. Never rejects. */
  readonly soul: () => Promise<string>;
  readonly readers: readonly SectionReader<TurnContext>[];
}

export function createWorkspace({ store, logger }: WorkspaceOptions): Workspace {
  return { soul: createSoul({ store, logger }), readers: [channelContextReader({ store })] };
}
