import type { Place, SessionKey } from '../../core/place.ts';
import { wholeTurns } from '../log/records.ts';
import type { SequencedMessage } from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import type { RollingState, SessionState, SessionStates } from '../log/session-state.ts';
import { advanced, cleared, endsAt, pendingWithdrawals, rewound, rollingOf } from './rolling-state.ts';
import type { SummaryEnd } from './rolling-state.ts';
import type { SummaryNotes } from './summary-notes.ts';

/** A session's summary and what it does not hold yet. */
export interface RollingView {
  readonly rolling: RollingState;
  /** The whole turns after the summary. */
  readonly messages: readonly SequencedMessage[];
  readonly turns: number;
  /** The newest log line looked at. */
  readonly seen: number;
  /** Where the session was last. */
  readonly place: Place | undefined;
}

/** The stored side of the rolling summary: who wins when a job, a reset and a deletion meet is decided here [A4]. */
export interface RollingRecord {
  /** The summary, once everything withdrawn from it is accounted for, also what a crash left undone. */
  read(session: SessionKey): Promise<RollingView>;
  /** Stores a job's result unless anything has changed since `expected` was read; `undefined` when it was dropped. */
  commit(session: SessionKey, expected: RollingState, to: SummaryEnd): Promise<RollingState | undefined>;
  reset(session: SessionKey): Promise<void>;
  retract(session: SessionKey, sequences: readonly number[]): Promise<void>;
}

export function createRollingRecord({
  states,
  log,
  notes,
}: {
  states: SessionStates;
  log: Pick<SessionLog, 'since' | 'lastSequence'>;
  notes: SummaryNotes;
}): RollingRecord {
  async function read(session: SessionKey): Promise<RollingView> {
    const state = await states.read(session);
    const rolling = rollingOf(state);
    const fold = await log.since(session, rolling.cursor);
    const [withdrawal] = pendingWithdrawals(rolling, fold.withdrawals);
    if (withdrawal === undefined)
      return { rolling, ...wholeTurns(fold.messages), seen: fold.last, place: state.place };
    await retract(session, [withdrawal.of]);
    return read(session);
  }

  async function retract(session: SessionKey, sequences: readonly number[]): Promise<void> {
    const rewind = async (state: SessionState) => {
      const rolling = rollingOf(state);
      const fold = await log.since(session, rolling.cursor);
      const pending = pendingWithdrawals(rolling, fold.withdrawals).map(({ of }) => of);
      const withdrawn = [...sequences, ...pending];
      await notes.removeHolding(session, withdrawn);
      // A copy of the document may hold more than the document itself, so those are erased in any case.
      if (!withdrawn.some((of) => of > rolling.from && of <= rolling.cursor))
        return (current: SessionState) => current;
      const earlier = await notes.newest(session, rolling.from);
      return changing((current) => rewound(current, endsAt(earlier, current.from, fold.last)));
    };
    await states.transact(session, rewind, { erase: true });
  }

  return {
    read,
    retract,
    async commit(session, expected, to) {
      const next = advanced(expected, to);
      let isStored = false;
      await states.transact(session, async (state) => {
        const current = rollingOf(state);
        if (current.revision !== expected.revision) return undefined;
        const { withdrawals } = await log.since(session, to.seen);
        if (pendingWithdrawals(next, withdrawals).length > 0) return undefined;
        const { summary, from, cursor } = current;
        if (summary !== undefined && summary.text !== to.summary?.text)
          await notes.keep(session, { ...summary, from, cursor });
        return changing((latest) => {
          isStored = latest.revision === expected.revision;
          return isStored ? next : latest;
        });
      });
      return isStored ? next : undefined;
    },
    async reset(session) {
      const clear = async () => {
        const now = await log.lastSequence(session);
        return changing((current) => cleared(current, now));
      };
      await states.transact(session, clear, { erase: true });
    },
  };
}

function changing(change: (rolling: RollingState) => RollingState): (state: SessionState) => SessionState {
  return (state) => {
    const rolling = rollingOf(state);
    const next = change(rolling);
    return next === rolling ? state : { ...state, rolling: next };
  };
}
