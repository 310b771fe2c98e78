import type { Logger } from '../core/logger.ts';
import type { Place, SessionKey } from '../core/place.ts';
import type { SectionReader } from '../core/section.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { DurableMemory } from '../memory/durable/durable-memory.ts';
import type { Recall } from '../memory/recall/recall.ts';

/** The rolling summary, as far as commands need it. */
export interface SummaryMemory {
  /** The summary's text, where there is one that may be shown to the speaker in the place [V2]. */
  show(session: SessionKey, place: Place, speakerId: string): Promise<string | undefined>;
  reset(session: SessionKey): Promise<void>;
}

/** Recent exchanges across channels, as far as commands need them. */
export interface RecentExchanges {
  readonly reader: SectionReader<TurnContext>;
  /** Drops the user's lines that contain the text, whatever the case. */
  forget(userId: string, text: string): Promise<unknown>;
}

export interface CommandSettings {
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
}

export interface CommandOptions {
  readonly durable: Pick<
    DurableMemory,
    'list' | 'formerOf' | 'remember' | 'forget' | 'setVisibility' | 'usage'
  >;
  readonly rolling: SummaryMemory;
  readonly recall: Pick<Recall, 'search'>;
  readonly shortTerm: RecentExchanges;
  readonly settings: CommandSettings;
  /** Whether the bot's owner has switched memory off in a place. Must not reject. */
  readonly isMemoryOff: (place: Place) => Promise<boolean>;
  /** IANA time zone of the dates in answers. */
  readonly timeZone: string;
  readonly logger: Logger;
}
