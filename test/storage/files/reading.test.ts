import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
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

  it('does not give out a value that another schema made', async () => {
    const { store } = await openObserved();
    await store.update(document, counterKind, increment);
    const loose = {
      version: 1,
      schema: z.object({ version: z.number(), count: z.number().transform(String) }),
    };
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 1 });
    expect(await store.read(document, loose)).toEqual({ version: 1, count: '1' });
  });
});
