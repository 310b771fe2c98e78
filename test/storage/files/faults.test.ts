import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import type { FileStore } from '../../../src/storage/files/store.ts';
import { counterKind, document, increment, log, noteSchema, notesOf, text } from '../store-fixtures.ts';
import {
  createObservedFileSystem,
  diskError,
  quickFileSystem,
  type Fate,
  type Operation,
} from './observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

/** A store whose disk does as `fate` says, once `break` was called. */
async function openBreakable(fate: (operation: Operation, index: number) => Fate) {
  let isBroken = false;
  let index = -1;
  const fileSystem = createObservedFileSystem((operation) => {
    if (!isBroken) return 'works';
    index += 1;
    return fate(operation, index);
  });
  const store = await stores.open({ fileSystem });
  return {
    store,
    break() {
      isBroken = true;
    },
    mend() {
      isBroken = false;
    },
    get operations() {
      return index + 1;
    },
  };
}

/** What a store holds of the documents, texts and logs that the changes below touch. */
interface Content {
  readonly document: { readonly version: 1; readonly count: number } | undefined;
  readonly text: string | undefined;
  readonly notes: readonly string[];
}

async function contentOf(store: FileStore): Promise<Content> {
  return {
    document: await store.read(document, counterKind),
    text: await store.readText(text),
    notes: await notesOf(store, log),
  };
}

interface Change {
  readonly apply: (store: FileStore) => Promise<unknown>;
  /** The content that there is then. */
  readonly result: (before: Content) => Content;
}

const longText = 'second text, longer than the first';
const longNote = 'second note, longer than the first';
const counted = (before: Content): Content => ({ ...before, document: increment(before.document) });
const rewritten = (before: Content): Content => ({ ...before, notes: before.notes.map(() => 'another') });

const changes: Readonly<Record<string, Change>> = {
  'a document': {
    apply: (store) => store.update(document, counterKind, increment),
    result: counted,
  },
  'a document whose former content is erased': {
    apply: (store) => store.update(document, counterKind, increment, { erase: true }),
    result: counted,
  },
  'a text': {
    apply: (store) => store.writeText(text, longText),
    result: (before) => ({ ...before, text: longText }),
  },
  'an append': {
    apply: (store) => store.append(log, { note: longNote }),
    result: (before) => ({ ...before, notes: [...before.notes, longNote] }),
  },
  'a rewrite': {
    apply: (store) => store.rewrite(log, noteSchema, () => ({ note: 'another' })),
    result: rewritten,
  },
  'a removal': {
    apply: (store) => store.remove(document),
    result: (before) => ({ ...before, document: undefined }),
  },
  'the removal of a folder': {
    apply: (store) => store.removeAll('users'),
    result: (before) => ({ ...before, document: undefined, text: undefined }),
  },
};

async function prepare(store: FileStore): Promise<void> {
  await store.update(document, counterKind, increment);
  await store.update(document, counterKind, increment);
  await store.writeText(text, 'first');
  await store.append(log, { note: 'first' });
}

/**
 * Makes the disk fail at its first, second … operation of a change, until the change needs fewer than that. A change that resolves must be there
 * as a whole; one that rejects, as a whole or not at all.
 */
async function failEverywhere(
  { apply, result }: Change,
  fateOf: (operation: Operation) => Fate,
): Promise<number> {
  for (let failing = 0; ; failing += 1) {
    const disk = await openBreakable((operation, index) => (index === failing ? fateOf(operation) : 'works'));
    await disk.store.removeAll('users');
    await disk.store.removeAll('sessions');
    await prepare(disk.store);
    const before = await contentOf(disk.store);
    disk.break();
    const outcome = await apply(disk.store).then(
      () => 'done' as const,
      (error: unknown) => error,
    );
    disk.mend();
    expect(outcome).toSatisfy((end) => end === 'done' || end instanceof StoreError);
    const found = await contentOf(disk.store);
    // What is in its place, and could not be synced, is rejected and stays.
    expect(found).toBeOneOf(outcome === 'done' ? [result(before)] : [before, result(before)]);
    await disk.store.close();
    const reopened = await stores.open({ fileSystem: quickFileSystem });
    expect(await contentOf(reopened)).toEqual(found);
    // The same change works once the disk does.
    await apply(reopened);
    expect(await contentOf(reopened)).toEqual(result(found));
    await reopened.close();
    if (disk.operations <= failing) return failing;
  }
}

describe('a disk that fails at one operation of a change', () => {
  const all = Object.entries(changes).map(([name, change]) => ({ name, change }));
  it.each(all)('leaves the old state or the whole new one of $name', async ({ change }) => {
    expect(await failEverywhere(change, () => diskError('EIO'))).toBeGreaterThan(2);
  });

  it.each(all)(
    'never replaces the old state of $name by half of the new one after a short write [S2]',
    async ({ change }) => {
      expect(await failEverywhere(change, () => 'short')).toBeGreaterThan(2);
    },
  );
});
