import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyLocks } from '../../src/storage/key-locks.ts';
import { isWithin } from '../../src/storage/keys.ts';
import { runs } from '../support/runs.ts';

const keys = ['a/x', 'a/y', 'ab/x', 'b/x'];
const folders = ['a', 'b', 'a/x'];

describe('createKeyLocks', () => {
  it('never lets two jobs of a key overlap, nor a job with the removal of a folder over it', async () => {
    const asked = fc.array(
      fc.record({
        alone: fc.boolean(),
        target: fc.nat({ max: 3 }),
        turns: fc.nat({ max: 4 }),
        fails: fc.boolean(),
      }),
      { maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(asked, async (jobs) => {
        const locks = createKeyLocks(64);
        const active = new Set<{ readonly name: string; readonly alone: boolean }>();
        let overlaps = 0;
        const outcomes = await Promise.allSettled(
          jobs.map(({ alone, target, turns, fails }) => {
            const name = (alone ? folders[target % folders.length] : keys[target]) ?? '';
            const job = async () => {
              for (const other of active) {
                if (alone ? isWithin(other.name, name) : other.alone && isWithin(name, other.name))
                  overlaps += 1;
                if (!alone && !other.alone && other.name === name) overlaps += 1;
              }
              const entry = { name, alone };
              active.add(entry);
              for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
              active.delete(entry);
              if (fails) throw new Error('planned');
            };
            return alone ? locks.runAlone(name, job) : locks.run(name, job);
          }),
        );
        expect(overlaps).toBe(0);
        expect(outcomes.map(({ status }) => status)).toEqual(
          jobs.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
        );
      }),
      { numRuns: runs(200) },
    );
  });
});
