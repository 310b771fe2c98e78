import { limits } from '../../core/limits.ts';
import type { Place, SessionKey } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import { saysWords } from '../../core/text.ts';
import { unconditional, type SessionWork } from '../../core/writes.ts';
import { cursorOfNote, noteName, parseNote, renderNote, type SummaryNote } from '../log/kept-summary.ts';
import { unaskedMessages, wholeTurns, type SequencedMessage, type Withdrawal } from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import {
  sessionFolder,
  stateKey,
  transactState,
  type RollingState,
  type SessionState,
  type SessionStates,
  type StoredSummary,
} from '../log/session-state.ts';
import { hashOf, readWithheld, type NoteLines } from '../withheld.ts';

export interface RollingView {
  /** As it may be told: while its summary holds what is withheld, as of the one before, or of none. */
  readonly rolling: RollingState;
  /** Whole turns after the summary, without those of mode `ask` [K9]. */
  readonly messages: readonly SequencedMessage[];
  /** All whole turns after it. */
  readonly turns: number;
  /** Where they end in the log. */
  readonly end: number;
  /** The newest log line looked at. */
  readonly seen: number;
  /** Where the session was last. */
  readonly place: Place | undefined;
}

/** The stored rolling summary; decides who wins when a job, a reset and a deletion meet [A4]. */
export function createRollingRecord(ports: {
  readonly store: Store;
  readonly states: SessionStates;
  readonly log: Pick<SessionLog, 'since' | 'lastSequence'>;
  readonly timeZone: string;
}) {
  const { store, states, log, timeZone } = ports;
  const notes = createSummaryNotes({ store, timeZone });

  /** The summary once withdrawals are accounted for, also what a crash left undone. */
  async function read(session: SessionKey): Promise<RollingView> {
    const state = await states.read(session);
    const rolling = await withoutWithheld(session, rollingOf(state));
    const fold = await log.since(session, rolling.cursor);
    const [withdrawal] = pendingWithdrawals(rolling, fold.withdrawals);
    if (withdrawal === undefined) {
      const { messages, turns } = wholeTurns(fold.messages);
      const end = messages.at(-1)?.sequence ?? rolling.cursor;
      const { place } = state;
      return { rolling, messages: unaskedMessages(messages), turns, end, seen: fold.last, place };
    }
    const work = { ...session, ...unconditional(session.userId) };
    await states.transact(work, withdrawing(session, [withdrawal.of]), { erase: true });
    return read(session);
  }

  async function withoutWithheld(session: SessionKey, rolling: RollingState): Promise<RollingState> {
    const { hasLine } = await readWithheld(store, session.userId);
    if (rolling.summary === undefined || !hasLine(stateKey(session), rolling.summary.text)) return rolling;
    const earlier = await notes.newest(session, rolling.from);
    const end = endsAt(earlier, rolling.from, rolling.seen);
    return { ...countingWithdrawal(rolling), ...end, rebuild: true };
  }

  /** What holds some lines of the log: the summary, and earlier ones. Part of a job of the user's queue. */
  async function holding(session: SessionKey, sequences: readonly number[]): Promise<NoteLines> {
    const { from, cursor, summary } = rollingOf(await states.read(session));
    const isHeld = sequences.some((of) => of > from && of <= cursor);
    const own = isHeld && summary !== undefined ? [{ key: stateKey(session), text: summary.text }] : [];
    const kept = (await notes.holding(session, sequences)).map(({ key, text }) => ({
      key,
      lines: text.split('\n').map(hashOf),
    }));
    return [...own.map(({ key, text }) => ({ key, lines: [hashOf(text)] })), ...kept];
  }

  /** No summary stays that says these words. Part of a job of the user's queue. */
  async function withdrawSaying(session: SessionKey, words: string): Promise<void> {
    const earlier = (await notes.files(session, 'stored')).filter(({ text }) => saysWords(text, words));
    for (const { key } of earlier) await store.remove(key);
    const seen = await log.lastSequence(session);
    const rewinding = changing((rolling) => {
      if (saysWords(rolling.summary?.text ?? '', words))
        return rewound(rolling, endsAt(undefined, rolling.from, seen));
      return earlier.length === 0 ? rolling : countingWithdrawal(rolling);
    });
    await transactState(store, session, () => Promise.resolve(rewinding), { erase: true });
  }

  function withdrawing(session: SessionKey, sequences: readonly number[]) {
    return async (state: SessionState) => {
      const rolling = rollingOf(state);
      const fold = await log.since(session, rolling.cursor);
      const pending = pendingWithdrawals(rolling, fold.withdrawals).map(({ of }) => of);
      const withdrawn = [...sequences, ...pending];
      for (const { key } of await notes.holding(session, withdrawn)) await store.remove(key);
      // The copy may hold more than the document, so it is erased in any case.
      if (!withdrawn.some((of) => of > rolling.from && of <= rolling.cursor))
        return (current: SessionState) => current;
      const earlier = await notes.newest(session, rolling.from);
      return changing((current) => rewound(current, endsAt(earlier, current.from, fold.last)));
    };
  }

  /** Stores a job's result unless anything changed since `expected`; `undefined` if dropped. */
  async function commit(
    session: SessionWork,
    expected: RollingState,
    to: SummaryEnd,
    folded: readonly SequencedMessage[] = [],
  ): Promise<RollingState | undefined> {
    const next = advanced(expected, to);
    let isStored = false;
    await states.transact(session, async (state) => {
      const current = rollingOf(state);
      if (current.revision !== expected.revision) return undefined;
      const withheld = await readWithheld(store, session.userId);
      const isWithheld = (text: string | undefined): boolean =>
        withheld.hasLine(stateKey(session), text ?? '');
      if (isWithheld(expected.summary?.text) || folded.some(({ message }) => withheld.touches(message.id)))
        return undefined;
      const { withdrawals } = await log.since(session, to.seen);
      if (pendingWithdrawals(next, withdrawals).length > 0) return undefined;
      const { summary, from, cursor } = current;
      if (summary !== undefined && summary.text !== to.summary?.text && !isWithheld(summary.text))
        await notes.keep(session, { ...summary, from, cursor });
      return changing((latest) => {
        isStored = latest.revision === expected.revision;
        return isStored ? next : latest;
      });
    });
    return isStored ? next : undefined;
  }

  async function clearing(session: SessionKey) {
    const now = await log.lastSequence(session);
    // What was said until now is never summarised [R4].
    return changing((current) => ({
      ...rewound(current, endsAt(undefined, now, now)),
      from: now,
      rebuild: false,
    }));
  }

  return {
    read,
    withoutWithheld,
    holding,
    /** Returns to the newest summary without these log lines. Part of a job of the user's queue. */
    withdraw: (session: SessionKey, sequences: readonly number[]) =>
      transactState(store, session, withdrawing(session, sequences), { erase: true }),
    withdrawSaying,
    commit,
    /** Forgets the summary; what was said until now is never summarised [R4]. */
    reset: (session: SessionWork) => states.transact(session, () => clearing(session), { erase: true }),
    /** As part of a job of the user's queue; writes nothing where there was no summary. */
    clear: (session: SessionKey) =>
      transactState(
        store,
        session,
        async ({ rolling }) => (rolling === undefined ? undefined : clearing(session)),
        { erase: true },
      ),
    notes,
  };
}

function changing(change: (rolling: RollingState) => RollingState): (state: SessionState) => SessionState {
  return (state) => {
    const rolling = rollingOf(state);
    const next = change(rolling);
    return next === rolling ? state : { ...state, rolling: next };
  };
}

/** A summary holds the log up to `cursor` and accounts for edits and deletions up to `seen`, never less. */
interface SummaryEnd {
  readonly cursor: number;
  readonly seen: number;
  /** Absent where it holds nothing. */
  readonly summary: StoredSummary | undefined;
}

/** A session that was never summarised is folded from the beginning of its log. */
export function rollingOf(state: SessionState): RollingState {
  return state.rolling ?? { from: 0, cursor: 0, seen: 0, revision: 0, rebuild: false };
}

function advanced(rolling: RollingState, { cursor, seen, summary }: SummaryEnd): RollingState {
  return { ...rolling, cursor, seen, summary, revision: rolling.revision + 1, rebuild: false };
}

/** Goes back to an earlier summary, from which the log is folded again. */
function rewound(rolling: RollingState, to: SummaryEnd): RollingState {
  return countingWithdrawal({ ...advanced(rolling, to), rebuild: true });
}

function countingWithdrawal(rolling: RollingState): RollingState {
  return { ...rolling, withdrawals: (rolling.withdrawals ?? 0) + 1 };
}

/** The end of an earlier summary, or of none. */
function endsAt(earlier: SummaryNote | undefined, from: number, seen: number): SummaryEnd {
  if (earlier === undefined) return { cursor: from, seen, summary: undefined };
  const { from: _, cursor, ...summary } = earlier;
  return { cursor, seen, summary };
}

/** Edits and deletions of summarised lines not yet accounted for. */
function pendingWithdrawals(
  { from, cursor, seen }: RollingState,
  withdrawals: readonly Withdrawal[],
): readonly Withdrawal[] {
  return withdrawals.filter(({ sequence, of }) => sequence > seen && of > from && of <= cursor);
}

/** Replaced summaries, in the session's `detail/` folder [R3]. */
export function createSummaryNotes({ store, timeZone }: { store: Store; timeZone: string }) {
  async function list(session: SessionKey): Promise<readonly { key: string; cursor: number }[]> {
    const files = await store.list(folderOf(session));
    return files.flatMap(({ path }) => {
      const cursor = cursorOfNote(path);
      return cursor === undefined ? [] : [{ key: `${folderOf(session)}/${path}`, cursor }];
    });
  }

  /** Those that may hold one of the log lines, as stored. */
  async function holding(session: SessionKey, sequences: readonly number[]) {
    const found: { readonly key: string; readonly text: string }[] = [];
    for (const { key, cursor } of await list(session)) {
      if (sequences.every((sequence) => cursor < sequence)) continue;
      const text = (await store.readText(key)) ?? '';
      const from = parseNote(text)?.from ?? 0;
      if (sequences.some((sequence) => from < sequence && sequence <= cursor)) found.push({ key, text });
    }
    return found;
  }

  return {
    /** The oldest goes where there are too many [L3]. */
    async keep(session: SessionKey, note: SummaryNote): Promise<void> {
      await store.writeText(`${folderOf(session)}/${noteName(note, timeZone)}`, renderNote(note, timeZone));
      const notes = (await list(session)).toSorted((a, b) => a.cursor - b.cursor);
      for (const { key } of notes.slice(0, -limits.replacedSummaries)) await store.remove(key);
    },

    holding,

    /** Of those that begin after log line `from` and may be told. */
    async newest(session: SessionKey, from: number): Promise<SummaryNote | undefined> {
      const notes = (await list(session)).filter(({ cursor }) => cursor > from);
      const withheld = await readWithheld(store, session.userId);
      for (const { key, cursor } of notes.toSorted((a, b) => b.cursor - a.cursor)) {
        const text = withheld.note(key, (await store.readText(key)) ?? '');
        const note = text === undefined ? undefined : parseNote(text);
        if (note?.from === from && note.cursor === cursor) return note;
      }
      return undefined;
    },

    /** As stored, or as they may be told. */
    async files(
      session: SessionKey,
      as: 'stored' | 'told',
    ): Promise<readonly { readonly key: string; readonly text: string }[]> {
      const withheld = as === 'told' ? await readWithheld(store, session.userId) : undefined;
      const found = (await list(session)).map(async ({ key }) => {
        const stored = await store.readText(key);
        const text = stored && withheld ? withheld.note(key, stored) : stored;
        return text === undefined ? [] : [{ key, text }];
      });
      return (await Promise.all(found)).flat();
    },
  };
}

function folderOf(session: SessionKey): string {
  return `${sessionFolder(session)}/detail`;
}
