import type { ChangeLedger } from '../../src/memory/changes.ts';
import { createForgetting, type ForgettingPorts } from '../../src/memory/forgetting.ts';
import { noAnswers } from './layers-alone.ts';

/**
 * The real forgetting and its ledger, which may come into being when it is first needed; by default without a log
 * or notes.
 */
export function forgettingFor({
  openLedger,
  ...ports
}: Pick<ForgettingPorts, 'store' | 'clock'> &
  Partial<ForgettingPorts> & { readonly openLedger: () => ChangeLedger }) {
  let opened: ChangeLedger | undefined;
  const ledger = (): ChangeLedger => (opened ??= openLedger());
  const forgetting = createForgetting({
    log: { affected: () => Promise.resolve([]), held: () => Promise.resolve([]) },
    changes: {
      enter: (...record) => ledger().enter(...record),
      leave: (...record) => ledger().leave(...record),
      recordsOf: (id) => ledger().recordsOf(id),
    },
    notesSaying: () => Promise.resolve([]),
    answers: noAnswers,
    changed: () => {},
    ...ports,
  });
  /** Deletes what can be undone no more. */
  const finish = (userId: string): Promise<void> => ledger().finishFor(userId);
  return { ...forgetting, finish };
}
