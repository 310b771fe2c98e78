import type { Store } from '../../src/core/store.ts';
import type { Clock } from '../../src/core/time.ts';
import type { DurableMemoryOptions } from '../../src/memory/durable/durable-memory.ts';
import { createProposals, type ProposalsOptions } from '../../src/memory/durable/proposals.ts';
import { createUndoLog } from '../../src/memory/undo.ts';
import { silent } from './sessions.ts';

/** Where nothing can be undone. */
export const withoutUndo: Pick<DurableMemoryOptions, 'undo'> = {
  undo: {
    noting: async ({ part }, make) => {
      const result = await make();
      return part === undefined ? { result } : { result, undoId: '00000000' };
    },
    list: () => Promise.resolve([]),
    find: () => Promise.resolve(undefined),
    all: () => Promise.resolve([]),
    begin: () => Promise.resolve(),
    replace: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  },
};

/** The real log of what can be undone, where nothing becomes final by itself. */
export function undoOver(store: Store, clock: Clock) {
  const undo = createUndoLog({
    store,
    resume: () => Promise.resolve(),
    clock,
    expireAt: () => Promise.resolve(),
    logger: silent,
  });
  return { undo };
}

/** The real proposals, of which none lapses by itself; what they come from is said still. */
export function proposalsOver(
  store: Store,
  ports: Pick<ProposalsOptions, 'writes' | 'durable' | 'clock'> & Partial<ProposalsOptions>,
) {
  return createProposals({
    store,
    modeOf: () => Promise.resolve('ask'),
    textOf: () => Promise.resolve('still'),
    maxItems: 200,
    expireAt: () => Promise.resolve(),
    logger: silent,
    ...ports,
  });
}
