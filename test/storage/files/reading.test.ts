import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { counterKind, document, increment, text } from '../store-fixtures.ts';
import { createObservedFileSystem, type Operation } from './observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

async function openObserved() {
  const operations: Operation[] = [];
  const fileSystem = createObservedFileSystem((operation) => {
    operations.push(operation);
    return 'works';
  });
  const store = await stores.open({ fileSystem });
  const namesDuring = async (work: () => Promise<unknown>) => {
    operations.length = 0;
    await work();
    return new Set(operations.map(({ name }) => name));
  };
  return { store, namesDuring };
}

const looks = new Set(['lstat']);

describe('a warm read', () => {
  it('looks at the file, and reads nothing of it [S5]', async () => {
    const { store, namesDuring } = await openObserved();
    await store.update(document, counterKind, increment);
    await store.writeText(text, 'words');
    for (const read of [() => store.read(document, counterKind), () => store.readText(text)]) {
      expect(await namesDuring(read)).toEqual(looks);
    }
  });
});
