import { onTestFinished, expect, it } from 'vitest';

import { createTemporaryStores } from '../storage/files/temporary-store.ts';
import { mostHeld, watchEventLoop } from '../support/event-loop.ts';
import { openLargeMemory, usualText } from '../support/large-memory.ts';

async function largeMemory(messages: number) {
  const stores = await createTemporaryStores();
  onTestFinished(() => stores.dispose());
  const store = await stores.open();
  const memory = await openLargeMemory(store, messages);
  return { ...memory, store };
}

async function heldBy(work: () => Promise<unknown>): Promise<number> {
  const stop = watchEventLoop();
  await work();
  return (await stop()).longest;
}

it('a search of 20,000 messages lets others have their turn, and finds [L4][C1]', async () => {
  const { search } = await largeMemory(20_000);
  const asked = usualText(12_345);
  const found: string[] = [];
  const held = await heldBy(async () => found.push(...(await search(asked)).map(({ unit }) => unit.text)));
  expect(found[0]).toBe(asked);
  expect(held).toBeLessThan(mostHeld);
});

it('3,000 messages deleted at once let others have their turn, and are gone everywhere [L4][G5]', async () => {
  const { ownIds, remove, store, session, search, sessionLog } = await largeMemory(6000);
  const notes = Array.from({ length: 300 }, (_, index) => `- ${usualText(index * 20)}`).join('\n');
  await store.writeText(`users/${session.userId}/notebook/MEMORY.md`, notes);
  const held = await heldBy(() => remove(ownIds));
  expect(held).toBeLessThan(mostHeld);
  expect(await store.readText(`users/${session.userId}/notebook/MEMORY.md`)).toBeUndefined();
  expect((await sessionLog.since(session, 0)).messages).toEqual([]);
  expect(await search(usualText(0))).toEqual([]);
});
