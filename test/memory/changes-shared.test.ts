import { describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import type { Locks } from '../../src/core/processes.ts';
import { createWrites } from '../../src/core/writes.ts';
import type { MemoryLayer } from '../../src/memory/layer.ts';
import { aliceId, generalId } from '../support/incoming.ts';
import { ledgerFor } from '../support/ledger.ts';
import { SharedData } from '../support/shared-store.ts';
import { startTime } from '../support/sessions.ts';

const at = '2026-01-15T09:00:00.000Z';
const left = 'changes/of-one-that-is-gone.jsonl';

/** A process over a store that others share too; the database may be away when it asks for a lock. */
function openProcess() {
  const data = new SharedData({ now: () => startTime });
  const { store, shared } = data.open();
  const { processes } = shared;
  let isAway = false;
  const locks: Locks = {
    hold: (key, job) =>
      isAway ? Promise.reject(new StoreError('The database is away', key)) : processes.locks.hold(key, job),
    claim: (key) => processes.locks.claim(key),
  };
  const writes = createWrites({
    locks,
    erasedAt: () => Promise.resolve(undefined),
    clock: () => new Date(startTime),
  });
  return {
    common: data.common,
    ledger: ledgerFor(store, writes, [], { processes }),
    locks: data.locks,
    setAway: (value: boolean) => (isAway = value),
    openChanges: async () => {
      const ledgers = await data.common.list('changes');
      return ledgers.filter(({ bytes }) => bytes > 0).length;
    },
  };
}

describe('changes over a store that others share too, while it cannot be reached [X1] [F5]', () => {
  const changes = [
    { kind: 'purged', userId: aliceId, words: 'quokka', commandId: '1' },
    { kind: 'expired', userId: aliceId, channelId: generalId, messageIds: ['1'] },
    { kind: 'erased', userId: aliceId, at },
  ] as const;

  it.each(changes)(
    'that another process left ($kind) stay open, and hold up nothing that comes after',
    async (change) => {
      const { common, ledger, setAway, openChanges } = openProcess();
      await common.append(left, change);
      setAway(true);
      await ledger.finish();
      expect(await openChanges()).toBe(1);
      setAway(false);
      await ledger.finish();
      await ledger.record({ kind: 'deleted', channelId: generalId, messageIds: ['400000000000000001'] });
    },
  );

  it('say what of an erasing is left to be done, which is noted [K11]', async () => {
    const { ledger, setAway, openChanges } = openProcess();
    setAway(true);
    expect([...(await ledger.erase(aliceId, at)).keys()]).toEqual(['log']);
    expect(await openChanges()).toBe(1);
  });

  it('are taken over later where they could not be read, by the next process', async () => {
    const { common, ledger, locks } = openProcess();
    await common.append(left, changes[0]);
    const scan = common.scan.bind(common);
    common.scan = () => {
      throw new StoreError('out of reach', left);
    };
    await ledger.finish();
    expect(locks.has(left)).toBe(false);
    common.scan = scan;
    await ledger.finish();
    expect((await common.list('changes')).filter(({ bytes }) => bytes > 0)).toEqual([]);
  });
});

const purge = (words: string) => ({ kind: 'purged', userId: aliceId, words, commandId: '1' }) as const;

/** Two processes over one database, each with what it has purged; and a ledger that a third one left. */
async function twoProcesses() {
  const data = new SharedData({ now: () => startTime });
  for (const words of ['tea', 'rum']) await data.common.append(left, purge(words));
  const open = () => {
    const process = data.open();
    const purged: string[] = [];
    const layer: MemoryLayer = {
      name: 'durable',
      sections: () => Promise.resolve([]),
      follow: (change, stage) => {
        if (change.kind === 'purged' && stage === 'hide') purged.push(change.words);
        return Promise.resolve();
      },
      async *export() {},
      erase: () => Promise.resolve(),
    };
    const { processes } = process.shared;
    const writes = createWrites({
      locks: processes.locks,
      erasedAt: () => Promise.resolve(undefined),
      clock: () => new Date(startTime),
    });
    return { process, purged, ledger: ledgerFor(process.store, writes, [layer], { processes }) };
  };
  return { data, first: open(), second: open() };
}

describe('changes of a process that is gone, taken over by one whose database fails in between [X2]', () => {
  it.each(['remove', 'rewrite'] as const)(
    'are each carried out once if it refuses to %s',
    async (refused) => {
      const { data, first, second } = await twoProcesses();
      let asked = 0;
      first.process.refuses = (operation) => {
        if (operation === refused) asked += 1;
        return operation === refused;
      };
      await first.ledger.finish();
      expect(asked).toBeGreaterThan(0);
      // Others that look meanwhile leave it to the first.
      await second.ledger.finish();
      first.process.refuses = undefined;
      await first.ledger.finish();
      first.process.kill();
      await second.ledger.finish();
      expect([...first.purged, ...second.purged].toSorted()).toEqual(['rum', 'tea']);
      expect((await data.common.list('changes')).filter(({ bytes }) => bytes > 0)).toEqual([]);
    },
  );
});
