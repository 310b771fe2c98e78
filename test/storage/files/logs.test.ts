import { appendFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { entriesOf, log, noteSchema, notesOf } from '../store-fixtures.ts';
import { createObservedFileSystem, diskError, type Operation } from './observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
let path: string;
beforeEach(async () => {
  stores = await createTemporaryStores();
  path = join(stores.dataDir, log);
  await mkdir(dirname(path), { recursive: true });
});
afterEach(() => stores.dispose());

/** Short, or longer than what is read at once. */
const lengths = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 40 }) },
  fc.integer({ min: 65_000, max: 300_000 }),
);
const line = (sequence: number, note: string) => `${JSON.stringify({ sequence, record: { note } })}\n`;

describe('a log with a torn last line', () => {
  const torn = ['{"sequence":3,"rec', '\0\0\0\0', '{"sequence":3,"record":{"note":"é'.slice(0, -1), '{'];
  it.each(torn)(
    'loses that line and nothing else, and takes the next record whole [S4]: %j',
    async (tail) => {
      await writeFile(path, line(1, 'a') + line(2, 'b') + tail);
      const store = await stores.open();
      expect(await notesOf(store, log)).toEqual(['a', 'b']);
      expect(await store.append(log, { note: 'c' })).toBe(3);
      expect(await readFile(path, 'utf8')).toBe(line(1, 'a') + line(2, 'b') + line(3, 'c'));
    },
  );

  it('loses it when it is read, since no deletion finds the words in it [S7]', async () => {
    await writeFile(path, `${line(1, 'a')}{"sequence":2,"record":{"note":"canary`);
    const store = await stores.open();
    expect(await notesOf(store, log)).toEqual(['a']);
    expect(await readFile(path, 'utf8')).toBe(line(1, 'a'));
    expect(await store.append(log, { note: 'b' })).toBe(2);
  });

  it('loses what an append of its own could not finish, nor take off again, before the next', async () => {
    let isFull = false;
    const fileSystem = createObservedFileSystem(({ name }: Operation) =>
      isFull && ['datasync', 'truncate'].includes(name) ? diskError('ENOSPC') : 'works',
    );
    const store = await stores.open({ fileSystem });
    await store.append(log, { note: 'a' });
    isFull = true;
    await expect(store.append(log, { note: 'canary' })).rejects.toThrow(StoreError);
    expect(await readFile(path, 'utf8')).toContain('canary');
    expect(await notesOf(store, log)).toEqual(['a']);
    isFull = false;
    expect(await store.append(log, { note: 'b' })).toBe(2);
    expect(await readFile(path, 'utf8')).toBe(line(1, 'a') + line(2, 'b'));
  });
});

describe('a log with damaged lines', () => {
  const damaged = `${line(1, 'a')}not json\n{"sequence":"2"}\n\n{"sequence":3,"record":7}\n${line(4, 'd')}`;

  it('skips them and tells how many there were, once', async () => {
    await writeFile(path, damaged);
    const store = await stores.open();
    expect(await notesOf(store, log)).toEqual(['a', 'd']);
    const warnings = stores.logged.filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([{ data: { log, skipped: 3 } }]);
  });

  it('keeps them in a rewrite', async () => {
    await writeFile(path, damaged);
    const store = await stores.open();
    await store.rewrite(log, noteSchema, ({ sequence }) => (sequence === 1 ? undefined : { note: 'D' }));
    expect(await readFile(path, 'utf8')).toBe(
      `not json\n{"sequence":"2"}\n{"sequence":3,"record":7}\n${line(4, 'D')}`,
    );
  });

  it('counts them as numbers given out when they are the newest', async () => {
    await writeFile(path, `${line(1, 'a')}garbage\ngarbage\n`);
    const store = await stores.open();
    expect(await store.logState(log)).toMatchObject({ last: 1 });
    expect(await store.append(log, { note: 'd' })).toBe(4);
  });
});

describe('a log that a person edits while the bot runs', () => {
  it('gives no number out again when the newest lines were cut off', async () => {
    const store = await stores.open();
    for (const note of ['a', 'b', 'c']) await store.append(log, { note });
    await truncate(path, line(1, 'a').length);
    expect(await store.logState(log)).toMatchObject({ last: 1 });
    expect(await store.append(log, { note: 'd' })).toBe(4);
  });

  it('sees lines that were added', async () => {
    const store = await stores.open();
    await store.append(log, { note: 'a' });
    await appendFile(path, line(2, 'by hand'));
    expect(await notesOf(store, log)).toEqual(['a', 'by hand']);
    expect(await store.append(log, { note: 'c' })).toBe(3);
  });
});

describe('a cursor in a log', () => {
  it('is read on from, whatever the lengths of the lines', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(lengths, { minLength: 1, maxLength: 12 }), fc.nat(), async (sizes, at) => {
        const notes = sizes.map((size, index) => String.fromCodePoint(97 + index).repeat(size));
        await writeFile(path, notes.map((note, index) => line(index + 1, note)).join(''));
        const reader = await stores.open({ readOnly: true });
        const after = at % (notes.length + 1);
        const found = await entriesOf(reader, log, { after });
        expect(found.map(({ record }) => record.note)).toEqual(notes.slice(after));
        expect(await reader.logState(log)).toMatchObject({ last: notes.length });
      }),
      { numRuns: 40 },
    );
  });
});

describe('the cost of a log', () => {
  it('of many records at once is few syncs: those that wait share one [S2]', async () => {
    let syncs = 0;
    const fileSystem = createObservedFileSystem(({ name }) => {
      if (name === 'datasync') syncs += 1;
      return 'works';
    });
    const store = await stores.open({ fileSystem });
    await Promise.all(Array.from({ length: 100 }, (_, index) => store.append(log, { note: `${index}` })));
    expect(await entriesOf(store, log)).toHaveLength(100);
    expect(syncs).toBeLessThanOrEqual(3);
  });
});
