import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  createErasures,
  erasuresKey,
  erasuresKind,
  withList,
  type ErasureList,
} from '../../../src/memory/settings/erasures.ts';
import { aliceId, bobId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';

const [early, late] = ['2026-01-15T10:00:00.000Z', '2026-01-16T10:00:00.000Z'];

async function listsOf(store: MemoryStore): Promise<readonly ErasureList[]> {
  return (await store.read(erasuresKey, erasuresKind))?.lists ?? [];
}

const adopt = (store: MemoryStore, lists: readonly ErasureList[]) =>
  store.update(erasuresKey, erasuresKind, (present) => ({
    version: 1 as const,
    lists: lists.reduce(withList, present?.lists ?? []),
  }));

describe('what is known of who had everything erased [K11]', () => {
  it('never names the person, and is found by their id', async () => {
    const moment = fc.date({ min: new Date(early), max: new Date(late), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(fc.bigInt(10n ** 16n, 10n ** 19n), moment, async (id, at) => {
        const store = new MemoryStore();
        const erasures = createErasures(store);
        await erasures.note(String(id), at.toISOString());
        expect(JSON.stringify(await listsOf(store))).not.toContain(String(id));
        expect(await erasures.at(String(id))).toBe(at.toISOString());
        expect(await erasures.at(String(id + 1n))).toBeUndefined();
      }),
    );
  });

  it('is the newest moment, also of what another data folder knows [O4]', async () => {
    const [here, same, other] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
    await createErasures(here).note(aliceId, late);
    await createErasures(here).note(aliceId, early);
    expect(await createErasures(here).at(aliceId)).toBe(late);
    // The same installation as it was before, and another one.
    await adopt(
      same,
      (await listsOf(here)).map(({ key }) => ({ key, erased: {} })),
    );
    await createErasures(same).note(aliceId, early);
    await createErasures(other).note(bobId, early);
    for (const store of [here, other]) await adopt(same, await listsOf(store));
    expect(await createErasures(same).at(aliceId)).toBe(late);
    expect(await createErasures(same).at(bobId)).toBe(early);
    expect(await listsOf(same)).toHaveLength(2);
  });
});
