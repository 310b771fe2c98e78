import type { Logger } from '../core/logger.ts';
import type { Place, SessionKey } from '../core/place.ts';
import type { DurableMemory } from '../memory/durable/durable-memory.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import type { Recall } from '../memory/recall/recall.ts';
import type { RollingSummary } from '../memory/rolling/rolling-summary.ts';

/** What the memory commands see and change. */
export interface MemoryCommandPorts {
  readonly durable: Pick<
    DurableMemory,
    'list' | 'formerOf' | 'remember' | 'forget' | 'setVisibility' | 'usage'
  >;
  readonly rolling: Pick<RollingSummary, 'show' | 'reset'>;
  readonly recall: Recall;
  readonly shortTerm: Pick<MemoryLayer, 'sections'>;
  readonly settings: {
    readonly durableEnabled: boolean;
    /** Characters of one durable item at most. */
    readonly itemMaxChars: number;
    readonly recallEnabled: boolean;
    readonly summaryEnabled: boolean;
    /** Characters of a summary in a prompt. */
    readonly summaryMaxChars: number;
    /** Switched off, nothing new is kept; what is still there from before can be forgotten all the same. */
    readonly shortTermEnabled: boolean;
    /** Characters of recent exchanges in a prompt. */
    readonly shortTermMaxChars: number;
  };
  /** Whether the bot's owner has switched memory off in a place. Must not reject. */
  readonly isMemoryOff: (place: Place) => Promise<boolean>;
  /** What the session's log has of a message, whole; `undefined` where it is none of this session. */
  readonly logged: (session: SessionKey, messageId: string) => Promise<string | undefined>;
  /** Whether the message is a command, an answer to one, or an error line [F2]. */
  readonly isHidden: (channelId: string, messageId: string) => Promise<boolean>;
  readonly logger: Logger;
}
