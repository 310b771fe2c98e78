import { describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import type { Locks } from '../../src/core/processes.ts';
import { createWrites } from '../../src/core/writes.ts';
import {
  changesFolder,
  emptyRecord,
  withheldKey,
  withheldKind,
  type WithheldRecord,
} from '../../src/memory/withheld.ts';
import { aliceId, generalId } from '../support/incoming.ts';
import { ledgerFor } from '../support/ledger.ts';
import { SharedData } from '../support/shared-store.ts';
import { startTime } from '../support/sessions.ts';

const at = '2026-01-15T09:00:00.000Z';
const left = withheldKey(aliceId);

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
    openChanges: async () => (await data.common.list(changesFolder)).length,
    /** What another process left. */
    leave: (change: WithheldRecord['change']) =>
      data.common.update(left, withheldKind, () => ({
        version: 1 as const,
        records: [emptyRecord(aliceId, at, change)],
      })),
  };
}

describe('changes over a store that others share too, while it cannot be reached [X1] [F5]', () => {
  const changes = [
    { kind: 'purged', words: 'quokka', commandId: '1' },
    { kind: 'expired' },
    { kind: 'erased', at },
  ] as const;

  it.each(changes)(
    'that another process left ($kind) stay open, and hold up nothing that comes after',
    async (change) => {
      const { leave, ledger, setAway, openChanges } = openProcess();
      await leave(change);
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

  it('are carried out later where they could not be read', async () => {
    const { common, leave, ledger, openChanges } = openProcess();
    await leave(changes[0]);
    const list = common.list.bind(common);
    common.list = () => Promise.reject(new StoreError('out of reach', left));
    await ledger.finish();
    common.list = list;
    expect(await openChanges()).toBe(1);
    await ledger.finish();
    expect(await openChanges()).toBe(0);
  });
});
