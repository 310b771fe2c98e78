import { createOneProcess } from '../../src/core/processes.ts';
import { createWrites, type Writes } from '../../src/core/writes.ts';

/** The write queue of one process; by default of people who never have everything erased. */
export function plainWrites(erasedAt?: (userId: string) => Promise<string | undefined>): Writes {
  return createWrites({
    locks: createOneProcess().locks,
    erasedAt: erasedAt ?? (() => Promise.resolve(undefined)),
    clock: () => new Date(),
  });
}
