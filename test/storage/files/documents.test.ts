import { utimesSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

import { NewerVersionError } from '../../../src/core/errors.ts';
import type { SetAside } from '../../../src/core/store.ts';
import type { FileStore } from '../../../src/storage/files/store.ts';
import { alice, counterKind, document, increment, text } from '../store-fixtures.ts';
import { createObservedFileSystem, diskError } from './observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
let store: FileStore;
let path: string;
beforeEach(async () => {
  stores = await createTemporaryStores();
  store = await stores.open();
  path = join(stores.dataDir, document);
});
afterEach(() => stores.dispose());

/** Puts content into a file as a person or a broken disk would, some time ago. */
async function damage(content: string, file = path): Promise<void> {
  await edit(content, file);
  const aMinuteAgo = Date.now() / 1000 - 60;
  await utimes(file, aMinuteAgo, aMinuteAgo);
}

/** The same, at this moment. */
async function edit(content: string, file = path): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

async function quarantined(): Promise<string[]> {
  const found = await readdir(join(stores.dataDir, 'quarantine'), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

const damages = [
  '',
  '{"version": 1, "cou',
  'not json',
  '[]',
  'null',
  '{"version":"1","count":2}',
  '{"count":2}',
];

describe('an unreadable document', () => {
  it.each(damages)('goes to quarantine and its last good copy is used [S4]: %j', async (content) => {
    await store.update(document, counterKind, increment);
    await store.update(document, counterKind, increment);
    await damage(content);
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 2 });
    expect(await quarantined()).toEqual(['durable.json.20260115T120000000Z']);
    const kept = join(stores.dataDir, 'quarantine', `${document}.20260115T120000000Z`);
    expect(await readFile(kept, 'utf8')).toBe(content);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 1, count: 2 });
    expect(await store.update(document, counterKind, increment)).toEqual({ version: 1, count: 3 });
  });

  it('goes to quarantine with a damaged copy, and a new document begins', async () => {
    await damage('broken');
    await damage('broken too', `${path}.bak`);
    expect(await store.read(document, counterKind)).toBeUndefined();
    expect(await quarantined()).toHaveLength(2);
    expect(await readdir(dirname(path))).toEqual([]);
    expect(await store.update(document, counterKind, increment)).toEqual({ version: 1, count: 1 });
  });

  it('is found by an update too, and repaired first', async () => {
    await store.update(document, counterKind, increment);
    await store.update(document, counterKind, increment);
    await damage('broken');
    expect(await store.update(document, counterKind, increment)).toEqual({ version: 1, count: 3 });
    expect(await quarantined()).toHaveLength(1);
  });

  it('is logged without a word of its content', async () => {
    await damage('{"secret": "Anna has the flu"');
    await store.read(document, counterKind);
    const errors = stores.logged.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors)).not.toMatch(/Anna|secret/);
    expect(errors[0]?.data).toMatchObject({ key: document, reason: 'not JSON' });
  });

  it('keeps every quarantined copy, also of the same moment', async () => {
    for (const content of ['one', 'two', 'three']) {
      await damage(content);
      await store.read(document, counterKind);
    }
    expect(await quarantined()).toHaveLength(3);
  });

  it('keeps the newest hundred copies, none of them for more than 90 days [L3]', async () => {
    let now = new Date('2026-01-15T12:00:00Z');
    const next = await stores.open({ clock: () => now, dataDir: join(stores.dataDir, 'next') });
    const file = join(stores.dataDir, 'next', document);
    const dayMs = 24 * 60 * 60 * 1000;
    for (let day = 0; day < 3; day += 1) {
      now = new Date(now.getTime() + dayMs);
      await damage('broken', file);
      await next.read(document, counterKind);
    }
    expect(await next.quarantined()).toBe(3);
    now = new Date(now.getTime() + 89 * dayMs);
    // The first of them is by then too old.
    await damage('broken', file);
    await next.read(document, counterKind);
    expect(await next.quarantined()).toBe(3);
    for (let copy = 1; copy < 120; copy += 1) {
      const stamp = now.toISOString().replaceAll(/[-:.]/gu, '');
      await writeFile(join(stores.dataDir, 'next/quarantine', `${document}.${stamp}-${copy + 2}`), 'broken');
    }
    await damage('broken', file);
    await next.read(document, counterKind);
    expect(await next.quarantined()).toBe(100);
  });

  it('is repaired once when many read it at the same time', async () => {
    await store.update(document, counterKind, increment);
    await store.update(document, counterKind, increment);
    await damage('broken');
    const values = await Promise.all(Array.from({ length: 5 }, () => store.read(document, counterKind)));
    expect(values).toEqual(Array.from({ length: 5 }, () => ({ version: 1, count: 2 })));
    expect(await quarantined()).toHaveLength(1);
  });

  it('is left alone while a person is saving it', async () => {
    await store.update(document, counterKind, increment);
    await store.close();
    // However slow the machine is: whenever the store looks, half of it was saved just now.
    const fileSystem = createObservedFileSystem(({ name, path: target }) => {
      if (name === 'lstat' && target === path) utimesSync(path, new Date(), new Date());
      return 'works';
    });
    const watched = await stores.open({ fileSystem });
    await edit('{"version": 1, "cou');
    const reading = watched.read(document, counterKind);
    await edit('{"version": 1, "count": 7}');
    expect(await reading).toEqual({ version: 1, count: 7 });
    expect(await readdir(stores.dataDir)).not.toContain('quarantine');
  });

  it('has a good copy of all that was stored [S4]', async () => {
    await store.update(document, counterKind, increment);
    await damage('{"version": 1, "count": 1,}');
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 1 });
    // Several within one second.
    for (const _ of [2, 3, 4]) await store.update(document, counterKind, increment);
    await damage('{"version": 1, "count": 4,}');
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 4 });
  });

  it('is set aside when it has stood unchanged for two seconds, and a change in that time waits [S5]', async () => {
    await store.update(document, counterKind, increment);
    // An editor that empties the file, writes half of it, and then all.
    await edit('');
    const change = store.update(document, counterKind, increment);
    const reading = store.read(document, counterKind);
    await setTimeout(600);
    await edit('{"version": 1, "cou');
    await setTimeout(600);
    await edit('{"version": 1, "count": 7}');
    expect(await change).toEqual({ version: 1, count: 8 });
    expect((await reading)?.count).toBeGreaterThan(6);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 1, count: 8 });
    expect(await readdir(stores.dataDir)).not.toContain('quarantine');
  });

  it('that keeps changing is read from its copy, and changes are refused [S5]', async () => {
    await store.update(document, counterKind, increment);
    await store.close();
    const fileSystem = createObservedFileSystem(({ name, path: target }) => {
      if (name === 'lstat' && target === path) utimesSync(path, new Date(), new Date());
      return 'works';
    });
    const watched = await stores.open({ fileSystem });
    await edit('{"version": 1, "cou');
    let passedMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (passedMs += 1000));
    expect(await watched.read(document, counterKind)).toEqual({ version: 1, count: 1 });
    await expect(watched.update(document, counterKind, increment)).rejects.toThrow('is being edited');
    clock.mockRestore();
    expect(await readFile(path, 'utf8')).toBe('{"version": 1, "cou');
  });

  it('tells what was set aside, when, and from when the copy is that is used [S5]', async () => {
    const told: SetAside[] = [];
    const telling = await stores.open({
      dataDir: join(stores.dataDir, 'telling'),
      onSetAside: (file) => void told.push(file),
    });
    const file = join(stores.dataDir, 'telling', document);
    await telling.update(document, counterKind, increment);
    await utimes(`${file}.bak`, 1_700_000_000, 1_700_000_000);
    await damage('broken', file);
    await telling.read(document, counterKind);
    await damage('broken', `${file}.bak`);
    await damage('broken', file);
    await telling.read(document, counterKind);
    const at = '2026-01-15T12:00:00.000Z';
    expect(told).toEqual([
      { key: document, at, copyFrom: '2023-11-14T22:13:20.000Z' },
      { key: document, at },
    ]);
  });

  it('is not set aside where it may not be read, or is a folder', async () => {
    await store.update(document, counterKind, increment);
    await store.close();
    let isForbidden = true;
    const fileSystem = createObservedFileSystem(({ name, path: target }) =>
      name === 'open' && target === path && isForbidden ? diskError('EACCES') : 'works',
    );
    const forbidden = await stores.open({ fileSystem });
    await expect(forbidden.read(document, counterKind)).rejects.toThrow('EACCES');
    await expect(forbidden.update(document, counterKind, increment)).rejects.toThrow('EACCES');
    isForbidden = false;
    expect(await forbidden.read(document, counterKind)).toEqual({ version: 1, count: 1 });
    await rm(path);
    await mkdir(path);
    await expect(forbidden.read(document, counterKind)).rejects.toThrow('is not a file');
    await expect(forbidden.update(document, counterKind, increment)).rejects.toThrow('is not a file');
    expect(await readdir(stores.dataDir)).not.toContain('quarantine');
  });

  it.each(['utf16le', 'latin1'] as const)('saved as %s by an editor loses no letter', async (encoding) => {
    const kind = {
      version: 1,
      schema: z.object({ version: z.literal(1), text: z.string() }),
    };
    await store.update(document, kind, () => ({ version: 1, text: 'Café' }));
    const mark = encoding === 'utf16le' ? '\uFEFF' : '';
    await edit('');
    await writeFile(path, Buffer.from(`${mark}{"version": 1, "text": "Olé"}`, encoding));
    const aMinuteAgo = Date.now() / 1000 - 60;
    await utimes(path, aMinuteAgo, aMinuteAgo);
    await setTimeout(120);
    // What is in none of these encodings is told by nothing, and is set aside.
    const read = encoding === 'utf16le' ? 'Olé' : 'Café';
    expect(await store.read(document, kind)).toEqual({ version: 1, text: read });
  });

  it('is answered from its last good copy where the disk refuses the quarantine, and stays', async () => {
    await store.update(document, counterKind, increment);
    await store.update(document, counterKind, increment);
    await damage('broken');
    await store.close();
    const fileSystem = createObservedFileSystem(({ name, path: target }) =>
      name === 'link' && target.includes('quarantine') ? diskError('EROFS') : 'works',
    );
    const onBrokenDisk = await stores.open({ fileSystem });
    expect(await onBrokenDisk.read(document, counterKind)).toEqual({ version: 1, count: 2 });
    await expect(onBrokenDisk.update(document, counterKind, increment)).rejects.toThrow('EROFS');
    expect(await readFile(path, 'utf8')).toBe('broken');
  });

  it('is deleted with everything of its owner', async () => {
    await damage('broken');
    await store.read(document, counterKind);
    await store.removeAll(`users/${alice}`);
    expect(await quarantined()).toEqual([]);
  });
});

describe('a document of a newer version', () => {
  it('stays as it is, to the byte', async () => {
    const content = '{ "version": 7, "unknown": [1, 2] }';
    await damage(content);
    await expect(store.read(document, counterKind)).rejects.toThrow(NewerVersionError);
    await expect(store.update(document, counterKind, increment)).rejects.toThrow(NewerVersionError);
    expect(await readFile(path, 'utf8')).toBe(content);
    expect(await readdir(dirname(path))).toEqual(['durable.json']);
  });

  it('is kept even as the backup of a damaged one', async () => {
    await damage('broken');
    await damage('{ "version": 7 }', `${path}.bak`);
    await expect(store.read(document, counterKind)).rejects.toThrow(NewerVersionError);
    expect(await readFile(path, 'utf8')).toBe('broken');
  });
});

describe('a hand edit', () => {
  it('is seen at the next read [S5]', async () => {
    await store.update(document, counterKind, increment);
    await edit('{"version": 1, "count": 2}');
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 2 });
    await edit('\uFEFF{"version": 1, "count": 3}\r\n');
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 3 });
  });

  it('in a text is waited for while the file is empty, and read in UTF-16 too [S5]', async () => {
    await store.writeText(text, 'tea');
    const file = join(stores.dataDir, text);
    await edit('', file);
    const reading = store.readText(text);
    await setTimeout(600);
    await writeFile(file, Buffer.from('\uFEFFtea and cake, Olé', 'utf16le'));
    expect(await reading).toBe('tea and cake, Olé');
    // One that stays empty was emptied.
    await damage('', file);
    expect(await store.readText(text)).toBe('');
  });

  it('is seen at the next read in a text file too, and of the same size', async () => {
    await store.writeText(text, 'tea');
    await edit('rum', join(stores.dataDir, text));
    expect(await store.readText(text)).toBe('rum');
  });

  it('that comes between a change and its writing is kept: the change is made again, of what was saved', async () => {
    await store.update(document, counterKind, increment);
    await store.close();
    let isEdited = false;
    const fileSystem = createObservedFileSystem(({ name, path: target }) => {
      if (isEdited || name !== 'write' || !target.includes('durable')) return 'works';
      writeFileSync(path, '{"version": 1, "count": 41}');
      isEdited = true;
      return 'works';
    });
    const edited = await stores.open({ fileSystem });
    expect(await edited.update(document, counterKind, increment)).toEqual({ version: 1, count: 42 });
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 1, count: 42 });
  });
});

describe('files on disk', () => {
  it('are private, and so are their folders [S6]', async () => {
    await store.update(document, counterKind, increment);
    await store.update(document, counterKind, increment);
    await store.append(`sessions/${alice}/${alice}/messages.jsonl`, {});
    await store.append(`users/${alice}/in-a-folder-that-is-there.jsonl`, {});
    const entries = await readdir(stores.dataDir, { recursive: true, withFileTypes: true });
    expect(entries.length).toBeGreaterThan(6);
    for (const entry of entries) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect([entry.name, mode & 0o777]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
    }
    expect((await stat(stores.dataDir)).mode & 0o777).toBe(0o700);
  });

  it('leave nothing behind when they are removed, no backup either', async () => {
    for (const words of ['first', 'second']) await store.writeText(text, words);
    await store.remove(text);
    expect(await readdir(dirname(join(stores.dataDir, text)))).toEqual([]);
  });

  it('are documents with a copy as .bak, and texts without one', async () => {
    for (let changes = 0; changes < 3; changes += 1) await store.update(document, counterKind, increment);
    for (const words of ['first', 'second']) await store.writeText(text, words);
    expect(await readFile(`${path}.bak`, 'utf8')).toBe(await readFile(path, 'utf8'));
    expect(await readdir(dirname(join(stores.dataDir, text)))).not.toContain(`${basename(text)}.bak`);
  });

  it('are documents that a person can read and edit', async () => {
    await store.update(document, counterKind, increment);
    expect(await readFile(path, 'utf8')).toBe('{\n  "version": 1,\n  "count": 1\n}\n');
  });
});

describe('a document or log with lone halves of characters', () => {
  const noteKind = {
    version: 1,
    schema: z.object({ version: z.literal(1), count: z.number(), note: z.string() }),
  };

  it('is mended when it is read, and on disk with the next change [S5]', async () => {
    await damage(String.raw`{"version":1,"count":1,"note":"a \ud83d b \\ud83d"}`);
    const mended = 'a \ufffd b \\ud83d';
    expect(await store.read(document, noteKind)).toEqual({ version: 1, count: 1, note: mended });
    await store.update(document, noteKind, (current) => current && { ...current, count: 2 });
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 1, count: 2, note: mended });
  });

  it('gives whole characters only, also from a log and a text', async () => {
    await store.append('sessions/1/2/messages.jsonl', { text: 'half \udc00' });
    const records = [];
    for await (const { record } of store.scan('sessions/1/2/messages.jsonl', z.object({ text: z.string() })))
      records.push(record);
    expect(records).toEqual([{ text: 'half \ufffd' }]);
    await damage('', join(stores.dataDir, 'sessions/1/2/overview.md'));
    await writeFile(join(stores.dataDir, 'sessions/1/2/overview.md'), Buffer.from([0x61, 0xed, 0xa0, 0x80]));
    expect((await store.readText('sessions/1/2/overview.md'))?.isWellFormed()).toBe(true);
  });
});
