import type { Clock } from '../../core/time.ts';
import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { sessionName } from '../../core/place.ts';
import type { Place, SessionKey } from '../../core/place.ts';
import type { SectionReader } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import { sessionOf } from '../../core/turn-context.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { mayUse } from '../../core/visibility.ts';
import type { SessionLog } from '../log/session-log.ts';
import type { SessionStates, StoredSummary } from '../log/session-state.ts';
import { foldBatch } from './fold-batch.ts';
import { createRollingRecord } from './rolling-record.ts';
import type { RollingView } from './rolling-record.ts';
import { createSummaryNotes } from './summary-notes.ts';
import { summarySection, turnsSinceSection } from './summary-sections.ts';
import { inBatches } from './write-summary.ts';
import type { SummaryWriter } from './write-summary.ts';

/**
 * What came of a look at a session: too few turns yet; a new summary; a result dropped because a reset, an edit or a deletion came
 * meanwhile [A4]; a model that gave nothing usable, so that the old summary stays and it is tried again next time.
 */
export type RollingOutcome = 'not-due' | 'updated' | 'dropped' | 'failed';

/** The rolling summary of each session [R1]–[R5]. Everything may reject with `StoreError`. */
export interface RollingSummary {
  readonly reader: SectionReader<TurnContext>;
  /** Folds what the summary does not hold yet, when enough turns have come. Model failures are logged, not thrown. */
  updateIfDue(session: SessionKey, signal?: AbortSignal): Promise<RollingOutcome>;
  /** Clears summary, counter and cursor to now; a job already running brings nothing back [R4]. */
  reset(session: SessionKey): Promise<void>;
  /**
   * The messages with these log sequence numbers were edited or deleted: no summary that may hold one of them stays [G5]. The newest that cannot
   * is taken up again, and the next `updateIfDue` folds the turns after it anew.
   */
  retract(session: SessionKey, sequences: readonly number[]): Promise<void>;
  /** The summary as stored; `undefined` where there is none or it may not be used in the place [V2]. */
  show(session: SessionKey, place: Place, speakerId: string): Promise<string | undefined>;
}

export interface RollingSummaryOptions extends SummaryWriter {
  readonly store: Store;
  readonly states: SessionStates;
  readonly log: Pick<SessionLog, 'since' | 'lastSequence'>;
  /** Turns between two summaries. */
  readonly everyTurns: number;
  /** Off: nothing is read, shown or written; `reset` and `retract` still clear. */
  readonly enabled: boolean;
  readonly clock: Clock;
  /** IANA. */
  readonly timeZone: string;
  readonly logger: Logger;
}

export function createRollingSummary(options: RollingSummaryOptions): RollingSummary {
  const { states, log, store, everyTurns, maxChars, enabled, timeZone, logger } = options;
  const notes = createSummaryNotes({ store, timeZone });
  const record = createRollingRecord({ states, log, notes });

  async function update(session: SessionKey, signal: AbortSignal | undefined): Promise<RollingOutcome> {
    const { rolling, messages, turns, seen, place } = await record.read(session);
    if (turns < (rolling.rebuild ? 1 : everyTurns)) return 'not-due';
    let current = rolling;
    for (const batch of inBatches(messages)) {
      const summary = await foldBatch(options, session, current.summary, batch, place, signal);
      const cursor = batch.at(-1)?.sequence ?? current.cursor;
      const stored = await record.commit(session, current, { cursor, seen, summary });
      if (stored === undefined) return 'dropped';
      current = stored;
    }
    return 'updated';
  }

  return {
    reader: {
      layer: 'rolling summary',
      async read(context) {
        if (!enabled) return [];
        const view = await record.read(sessionOf(context));
        const summary = usableSummary(view, sessionOf(context), context.place, context.speaker.id);
        if (summary === undefined) return [];
        return [summarySection(summary, { maxChars, timeZone }), turnsSinceSection(view.turns)];
      },
    },
    async updateIfDue(session, signal) {
      if (!enabled) return 'not-due';
      try {
        return await update(session, signal);
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        const { failure, message } = error;
        logger.warn('a summary could not be written; the old one stays', {
          session: sessionName(session),
          failure,
          reason: message,
        });
        return 'failed';
      }
    },
    reset: (session) => record.reset(session),
    retract: (session, sequences) => record.retract(session, sequences),
    async show(session, place, speakerId) {
      if (!enabled) return undefined;
      return usableSummary(await record.read(session), session, place, speakerId)?.text;
    },
  };
}

function usableSummary(
  { rolling: { summary } }: RollingView,
  { userId }: SessionKey,
  place: Place,
  speakerId: string,
): StoredSummary | undefined {
  if (summary === undefined) return undefined;
  const { visibility, homeId } = summary;
  return mayUse({ ownerId: userId, visibility, homeId }, place, speakerId) ? summary : undefined;
}
