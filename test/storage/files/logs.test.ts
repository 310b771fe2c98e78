import { appendFile, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { entriesOf, keepBlocks, keptOf, log, noteSchema, notesOf } from '../store-fixtures.ts';
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
      await store.written();
      expect(await readFile(path, 'utf8')).toBe(line(1, 'a') + line(2, 'b') + line(3, 'c'));
    },
  );

  it('keeps a whole record that lacks only its line break', async () => {
    await writeFile(path, line(1, 'a') + line(2, 'b').trimEnd());
    const store = await stores.open();
    expect(await notesOf(store, log)).toEqual(['a', 'b']);
    expect(await store.append(log, { note: 'c' })).toBe(3);
    expect(await notesOf(store, log)).toEqual(['a', 'b', 'c']);
  });

  it('is empty where nothing but the torn line is there', async () => {
    await writeFile(path, '{"sequ');
    const store = await stores.open();
    expect(await store.lastSequence(log)).toBe(0);
    expect(await store.append(log, { note: 'a' })).toBe(1);
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
    expect(await store.lastSequence(log)).toBe(1);
    expect(await store.append(log, { note: 'd' })).toBe(4);
  });
});

describe('a log that a person edits while the bot runs', () => {
  it('goes on in the file that an editor put in its place', async () => {
    const store = await stores.open();
    for (const note of ['a', 'b', 'c']) await store.append(log, { note });
    await store.written();
    await writeFile(`${path}.new`, line(1, 'a') + line(3, 'c'));
    await rename(`${path}.new`, path);
    expect(await store.append(log, { note: 'd' })).toBe(4);
    expect(await notesOf(store, log)).toEqual(['a', 'c', 'd']);
  });

  it('gives no number out again when the newest lines were cut off', async () => {
    const store = await stores.open();
    for (const note of ['a', 'b', 'c']) await store.append(log, { note });
    await store.written();
    await truncate(path, line(1, 'a').length);
    expect(await store.lastSequence(log)).toBe(1);
    expect(await store.append(log, { note: 'd' })).toBe(4);
  });

  it('takes nothing for known of a file of the same size that was put in its place', async () => {
    const store = await stores.open();
    for (const note of ['a', 'b']) await store.append(log, { note });
    await store.written();
    await writeFile(`${path}.new`, line(7, 'g') + line(8, 'h'));
    await rename(`${path}.new`, path);
    expect(await store.lastSequence(log)).toBe(8);
    expect(await store.append(log, { note: 'i' })).toBe(9);
  });

  it('sees lines that were added', async () => {
    const store = await stores.open();
    await store.append(log, { note: 'a' });
    await store.written();
    await appendFile(path, line(2, 'by hand'));
    expect(await notesOf(store, log)).toEqual(['a', 'by hand']);
    expect(await store.append(log, { note: 'c' })).toBe(3);
  });
});

const kept = (number: number) => join(dirname(path), `.messages.jsonl.${number}.index`);

/** A store with a log of five lines, and what is kept of its two whole blocks. */
async function openKept() {
  await writeFile(path, [1, 2, 3, 4, 5].map((number) => line(number, `note ${number}`)).join(''));
  const store = await stores.open({ blockLines: 2 });
  await keepBlocks(store, log);
  expect(await keptOf(store, log)).toEqual(['["note 1","note 2"]', '["note 3","note 4"]', undefined]);
  return store;
}

describe('what is kept of the blocks of a log', () => {
  it('is that of other lines no more where a person changed one, and is made anew', async () => {
    const store = await openKept();
    await writeFile(path, (await readFile(path, 'utf8')).replace('note 3', 'NOTE 3'));
    expect(await keptOf(store, log)).toEqual(['["note 1","note 2"]', undefined, undefined]);
    await keepBlocks(store, log);
    expect((await keptOf(store, log))[1]).toBe('["NOTE 3","note 4"]');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"}}\n', '"}}'));
    expect((await keptOf(store, log))[0]).toBeUndefined();
  });

  it('stays where only lines of other blocks are rewritten', async () => {
    const store = await openKept();
    await store.rewrite(log, noteSchema, ({ sequence, record }) => (sequence === 4 ? undefined : record));
    expect(await keptOf(store, log)).toEqual(['["note 1","note 2"]', undefined, undefined]);
  });

  it('counts as absent where it is torn', async () => {
    const store = await openKept();
    const before = await readFile(kept(0));
    for (const torn of [before.subarray(0, -1), before.subarray(0, 6), Buffer.alloc(before.length)]) {
      await writeFile(kept(0), torn);
      expect((await keptOf(store, log))[0]).toBeUndefined();
    }
    await writeFile(kept(0), before);
    expect((await keptOf(store, log))[0]).toBeDefined();
  });

  it('is nothing where the disk refuses it, or the store is open for reading only', async () => {
    await (await openKept()).close();
    await Promise.all([0, 1].map((number) => rm(kept(number))));
    const fileSystem = createObservedFileSystem(({ name, path: at }) =>
      name === 'write' && at.endsWith('.index') ? diskError('ENOSPC') : 'works',
    );
    for (const options of [{ readOnly: true }, { fileSystem }]) {
      const store = await stores.open({ ...options, blockLines: 2 });
      await keepBlocks(store, log);
      expect(await keptOf(store, log)).toEqual([undefined, undefined, undefined]);
    }
  });
});

describe('the cost of a log', () => {
  it('of reading on from a cursor does not grow with the log', async () => {
    const notes = Array.from({ length: 20_000 }, (_, index) =>
      line(index + 1, `note ${index} ${'x'.repeat(80)}`),
    );
    await writeFile(path, notes.join(''));
    const reads: Operation[] = [];
    const fileSystem = createObservedFileSystem((operation) => {
      if (operation.name === 'read' && operation.path === path) reads.push(operation);
      return 'works';
    });
    const store = await stores.open({ fileSystem });
    expect(await entriesOf(store, log, { after: 19_990 })).toHaveLength(10);
    expect(await store.append(log, { note: 'x' })).toBe(20_001);
    expect(reads.length).toBeLessThanOrEqual(3);
  });

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

  it('of lazy records is no write of their own where one comes that cannot wait, and one where none does', async () => {
    const writes: string[] = [];
    const fileSystem = createObservedFileSystem(({ name, path: written }) => {
      if (name === 'write' && written.includes('.journal-')) writes.push(written);
      return 'works';
    });
    const store = await stores.open({ fileSystem });
    await store.append(log, { note: 'first' });
    writes.length = 0;
    // However busy the machine is, no time passes between these.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await store.append(log, { note: 'lazy' }, { isLazy: true });
    await setImmediate();
    await store.append(log, { note: 'awaited' });
    expect(writes).toHaveLength(1);
    vi.advanceTimersByTime(20);
    await store.append(log, { note: 'lazy' }, { isLazy: true });
    await store.append(log, { note: 'lazy too' }, { isLazy: true });
    vi.advanceTimersByTime(20);
    await vi.waitFor(() => expect(writes).toHaveLength(2));
    expect(await notesOf(store, log)).toEqual(['first', 'lazy', 'awaited', 'lazy', 'lazy too']);
  });

  it('of a rewrite that changes nothing is no write', async () => {
    const store = await stores.open();
    await store.append(log, { note: 'a' });
    await store.written();
    const before = await readFile(path, 'utf8');
    await store.rewrite(log, noteSchema, ({ record }) => ({ ...record }));
    expect(await readFile(path, 'utf8')).toBe(before);
  });
});

describe('what has no JSON', () => {
  it('is refused before anything is written, and spoils no other record', async () => {
    const store = await stores.open();
    const circular: { self?: object } = {};
    circular.self = circular;
    const [good, bad] = await Promise.allSettled([
      store.append(log, { note: 'a' }),
      store.append(log, circular),
    ]);
    expect(good).toMatchObject({ status: 'fulfilled', value: 1 });
    expect(bad).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
    await expect(store.append(log, new Date(0))).rejects.toThrow(TypeError);
    expect(await notesOf(store, log)).toEqual(['a']);
  });
});
