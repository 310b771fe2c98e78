import { createForgetting, type Forgetting, type ForgettingPorts } from '../../src/memory/forgetting.ts';
import { noAnswers } from './layers-alone.ts';
import { withoutUndo } from './undo.ts';

/** The real forgetting over layers, which may come into being after it; by default without a log, notes or proposals. */
export function forgettingFor(
  ports: Pick<ForgettingPorts, 'store' | 'writes' | 'clock'> & Partial<ForgettingPorts>,
): Forgetting {
  return createForgetting({
    log: { affected: () => Promise.resolve([]), held: () => Promise.resolve([]) },
    undo: withoutUndo.undo,
    notesSaying: () => Promise.resolve([]),
    proposalsOf: () => Promise.resolve([]),
    layers: [],
    answers: noAnswers,
    expireAt: () => Promise.resolve(),
    changed: () => {},
    ...ports,
  });
}
