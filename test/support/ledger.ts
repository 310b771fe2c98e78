import { noAnswers } from './layers-alone.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import type { Writes } from '../../src/core/writes.ts';
import type { Logger } from '../../src/core/logger.ts';
import { createOneProcess, type Processes } from '../../src/core/processes.ts';
import type { Store } from '../../src/core/store.ts';
import type { Clock } from '../../src/core/time.ts';
import { createChangeLedger } from '../../src/memory/changes.ts';
import type { MemoryLayer } from '../../src/memory/layer.ts';
import { silent } from './sessions.ts';

/** The real ledger over layers that stand alone, without a log: what people have forgotten reaches them. */
export function ledgerFor(
  store: Store,
  writes: Writes,
  layers: readonly MemoryLayer[],
  {
    processes = createOneProcess(),
    logger = silent,
    clock = () => new Date(),
  }: { readonly processes?: Processes; readonly logger?: Logger; readonly clock?: Clock } = {},
) {
  return createChangeLedger({
    store,
    recent: new RecentChanges(),
    writes,
    log: {
      sessionsOf: () => Promise.resolve([]),
      affected: () => Promise.resolve([]),
      message: () => Promise.resolve(undefined),
      everyOfPerson: () => Promise.resolve([]),
      sessionsOfPerson: () => Promise.resolve([]),
      mentions: () => Promise.resolve([]),
      held: () => Promise.resolve([]),
    },
    layers,
    answers: noAnswers,
    mayStore: () => Promise.resolve(true),
    placeOf: () => Promise.resolve(undefined),
    changed: () => {},
    endWork: () => {},
    noteErased: () => Promise.resolve(),
    processes,
    clock,
    expireAt: () => Promise.resolve(),
    logger,
  });
}
