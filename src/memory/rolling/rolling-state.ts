import type { Withdrawal } from '../log/records.ts';
import type { RollingState, SessionState, StoredSummary } from '../log/session-state.ts';

/** Up to where a summary goes: it holds the log up to `cursor`, and accounts for edits and deletions up to `seen`, never less. */
export interface SummaryEnd {
  readonly cursor: number;
  readonly seen: number;
  /** Absent where it holds nothing. */
  readonly summary: StoredSummary | undefined;
}

/** A session that was never summarised is folded from the beginning of its log. */
export function rollingOf(state: SessionState): RollingState {
  return state.rolling ?? { from: 0, cursor: 0, seen: 0, revision: 0, rebuild: false };
}

/** A new summary took the place of what was there. */
export function advanced(
  { from, revision }: RollingState,
  { cursor, seen, summary }: SummaryEnd,
): RollingState {
  const rest = { from, cursor, seen, revision: revision + 1, rebuild: false };
  return summary === undefined ? rest : { ...rest, summary };
}

/** Nothing is remembered, and what was said until log line `now` never will be [R4]. */
export function cleared({ revision }: RollingState, now: number): RollingState {
  return { from: now, cursor: now, seen: now, revision: revision + 1, rebuild: false };
}

/** Something that the summary may hold was withdrawn: it gives way to an earlier one, and the log is folded anew from there. */
export function rewound(rolling: RollingState, to: SummaryEnd): RollingState {
  return { ...advanced(rolling, to), rebuild: true };
}

/** The end of an earlier summary, or of none where there is none to go back to. */
export function endsAt(
  earlier: (StoredSummary & { readonly cursor: number }) | undefined,
  from: number,
  seen: number,
): SummaryEnd {
  if (earlier === undefined) return { cursor: from, seen, summary: undefined };
  const { text, updatedAt, visibility, homeId, cursor } = earlier;
  return { cursor, seen, summary: { text, updatedAt, visibility, homeId } };
}

/** Edits and deletions of what the summary holds that it does not account for yet. */
export function pendingWithdrawals(
  { from, cursor, seen }: RollingState,
  withdrawals: readonly Withdrawal[],
): readonly Withdrawal[] {
  return withdrawals.filter(({ sequence, of }) => sequence > seen && of > from && of <= cursor);
}
