import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { NewerVersionError, StoreError } from '../../src/core/errors.ts';
import { watchStore } from '../../src/observability/watched.ts';
import { describeStoreContract } from '../storage/store-contract.ts';
import { MemoryStore } from '../support/memory-store.ts';

describeStoreContract('a watched store', async () => {
  const inner = new MemoryStore();
  const { store } = watchStore(inner, () => new Date(0));
  return Promise.resolve({
    store: () => store,
    reopen: () => Promise.resolve(),
    everything: () => inner.everything(),
    dispose: () => Promise.resolve(),
  });
});

it('knows how the newest write went, whatever is read meanwhile', async () => {
  const inner = new MemoryStore();
  let now = 0;
  const { store, lastWrite } = watchStore(inner, () => new Date(now));
  expect(lastWrite()).toBeUndefined();
  now = 1;
  await store.append('logs/a', { word: 'a' });
  expect(lastWrite()).toEqual({ at: new Date(1), isOk: true });
  now = 2;
  inner.append = () => Promise.reject(new StoreError('full', 'logs/a'));
  await expect(store.append('logs/a', {})).rejects.toThrow('full');
  await store.list('logs');
  expect(lastWrite()).toEqual({ at: new Date(2), isOk: false });
  now = 3;
  await store.writeText('notes/a', 'text');
  inner.update = () => Promise.reject(new NewerVersionError('a', 2, 1));
  await expect(store.remove('notes/a')).resolves.toBeUndefined();
  expect(lastWrite()).toEqual({ at: new Date(3), isOk: true });
});

it('passes all arguments on', async () => {
  const inner = new MemoryStore();
  const { store } = watchStore(inner, () => new Date(0));
  let given: unknown;
  inner.update = (...all) => Promise.resolve(void (given = all.at(-1)));
  const how = { erase: true };
  await store.update('a', { version: 1, schema: z.object({ version: z.literal(1) }) }, () => undefined, how);
  expect(given).toBe(how);
});

describe('a document of a newer version', () => {
  it('is not blamed on the disk', async () => {
    const inner = new MemoryStore();
    inner.writeText = () => Promise.reject(new NewerVersionError('a', 2, 1));
    const { store, lastWrite } = watchStore(inner, () => new Date(0));
    await expect(store.writeText('a', 'text')).rejects.toThrow(NewerVersionError);
    expect(lastWrite()).toBeUndefined();
  });
});
