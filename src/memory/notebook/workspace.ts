import type { Logger } from '../../core/logger.ts';
import type { SectionReader } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { channelContextReader } from './channel-context.ts';
import { dailyLogIndexReader } from './daily-log-index.ts';
import { ownerNotesReader } from './owner-notes.ts';
import { createSoul } from './soul.ts';

export interface WorkspaceOptions {
  readonly store: Store;
  /** IANA time zone of the daily logs' dates [N5]. */
  readonly timeZone: string;
  /** Characters of MEMORY.md as rendered. */
  readonly memoryMaxChars: number;
  /** Characters of the index as rendered. */
  readonly indexMaxChars: number;
  readonly logger: Logger;
}

/** The bot owner's folder as the prompt sees it; read anew each turn through the store, whose cache makes that cheap [S5]. */
export interface Workspace {
  /** The bot's identity, first in every prompt [N1]; at most 8,000 characters. Never rejects. */
  readonly soul: () => Promise<string>;
  readonly readers: readonly SectionReader<TurnContext>[];
}

export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { store, timeZone, logger } = options;
  return {
    soul: createSoul({ store, logger }),
    readers: [
      channelContextReader({ store }),
      ownerNotesReader({ store, maxChars: options.memoryMaxChars }),
      dailyLogIndexReader({ store, timeZone, maxChars: options.indexMaxChars }),
    ],
  };
}
