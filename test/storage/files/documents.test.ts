import { writeFileSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { NewerVersionError, StoreError } from '../../../src/core/errors.ts';
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

const damage = (content: string, key = document) => stores.damage(key, content);

/** Puts content into a file at this moment, as an editor does. */
async function edit(content: string, file = path): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

async function quarantined(): Promise<string[]> {
  const found = await readdir(join(stores.dataDir, 'quarantine'), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

const damages = ['', '{"version": 1, "cou', 'null', '{"version":"1","count":2}'];

describe('an unreadable document', () => {
  it.each(damages)('goes to quarantine and its former content is used [S4]: %j', async (content) => {
    await store.update(document, counterKind, increment);
    await store.update(document, counterKind, increment);
    await damage(content);
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 1 });
    expect(await quarantined()).toEqual(['durable.json.20260115T120000000Z']);
    const kept = join(stores.dataDir, 'quarantine', `${document}.20260115T120000000Z`);
    expect(await readFile(kept, 'utf8')).toBe(content);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 1, count: 1 });
    expect(await store.update(document, counterKind, increment)).toEqual({ version: 1, count: 2 });
    expect(await store.quarantined()).toEqual([`${document}.20260115T120000000Z`]);
  });

  it('goes to quarantine where its copy is damaged too, and a new document begins', async () => {
    await damage('broken');
    await damage('broken too', `${document}.bak`);
    expect(await store.read(document, counterKind)).toBeUndefined();
    expect(await quarantined()).toHaveLength(1);
    expect(await store.update(document, counterKind, increment)).toEqual({ version: 1, count: 1 });
  });

  it('is logged without a word of its content', async () => {
    await damage('{"secret": "Anna has the flu"');
    await store.read(document, counterKind);
    const errors = stores.logged.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors)).not.toMatch(/Anna|secret/);
    expect(errors[0]?.data).toMatchObject({ key: document, reason: 'not JSON' });
  });

  it('is kept for thirty days [L3]', async () => {
    let now = new Date('2026-01-15T12:00:00Z');
    const dataDir = join(stores.dataDir, 'next');
    const next = await stores.open({ clock: () => now, dataDir });
    for (const [days, left] of [
      [0, 1],
      [29, 2],
      [2, 2],
    ] as const) {
      now = new Date(now.getTime() + days * 24 * 60 * 60 * 1000);
      await damage('broken', `next/${document}`);
      await next.read(document, counterKind);
      expect(await next.quarantined()).toHaveLength(left);
    }
    now = new Date('2026-04-15T12:00:00Z');
    await next.removeLeftovers();
    expect(await next.quarantined()).toEqual([]);
  });

  it('that changed just now is looked at again: a reader goes without it, and a change waits [S5]', async () => {
    await store.update(document, counterKind, increment);
    await edit('{"version": 1, "cou');
    const change = store.update(document, counterKind, increment);
    await expect(store.read(document, counterKind)).rejects.toThrow(StoreError);
    await setTimeout(300);
    await edit('{"version": 1, "count": 7}');
    expect(await change).toEqual({ version: 1, count: 8 });
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 8 });
    expect(await readdir(stores.dataDir)).not.toContain('quarantine');
  });

  it('goes to quarantine at once where its time lies ahead, as after a clock that was off', async () => {
    await store.update(document, counterKind, increment);
    await store.update(document, counterKind, increment);
    await damage('broken');
    const tomorrow = Date.now() / 1000 + 24 * 60 * 60;
    await utimes(path, tomorrow, tomorrow);
    expect(await store.update(document, counterKind, increment)).toEqual({ version: 1, count: 2 });
  });

  it('tells what was set aside, when, and from when the copy is that is used [S5]', async () => {
    const told: SetAside[] = [];
    const telling = await stores.open({
      dataDir: join(stores.dataDir, 'telling'),
      onSetAside: (file) => void told.push(file),
    });
    const file = join(stores.dataDir, 'telling', document);
    await telling.update(document, counterKind, increment);
    await telling.update(document, counterKind, increment);
    await utimes(`${file}.bak`, 1_700_000_000, 1_700_000_000);
    await damage('broken', `telling/${document}`);
    await telling.read(document, counterKind);
    await damage('broken', `telling/${document}.bak`);
    await damage('broken', `telling/${document}`);
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

  it('stays where the disk refuses the quarantine, and nothing is changed', async () => {
    await store.update(document, counterKind, increment);
    await damage('broken');
    await store.close();
    const fileSystem = createObservedFileSystem(({ name, path: target }) =>
      name === 'writeAtomic' && target.includes('quarantine') ? diskError('EROFS') : 'works',
    );
    const onBrokenDisk = await stores.open({ fileSystem });
    await expect(onBrokenDisk.read(document, counterKind)).rejects.toThrow('EROFS');
    await expect(onBrokenDisk.update(document, counterKind, increment)).rejects.toThrow('EROFS');
    expect(await readFile(path, 'utf8')).toBe('broken');
  });
});

describe('a document of a newer version', () => {
  it('is kept even as the backup of a damaged one', async () => {
    await damage('broken');
    await damage('{ "version": 7 }', `${document}.bak`);
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

  it('in a text is read in UTF-16 too [S5]', async () => {
    const file = join(stores.dataDir, text);
    await edit('', file);
    await writeFile(file, Buffer.from('\uFEFFtea and cake, Olé', 'utf16le'));
    expect(await store.readText(text)).toBe('tea and cake, Olé');
  });

  it('that comes between a change and its writing is kept: the change is made again, of what was saved', async () => {
    await store.update(document, counterKind, increment);
    await store.close();
    let isEdited = false;
    const fileSystem = createObservedFileSystem(({ name, path: target }) => {
      if (isEdited || name !== 'writeAtomic' || !target.includes('durable')) return 'works';
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
    await damage('', 'sessions/1/2/overview.md');
    await writeFile(join(stores.dataDir, 'sessions/1/2/overview.md'), Buffer.from([0x61, 0xed, 0xa0, 0x80]));
    expect((await store.readText('sessions/1/2/overview.md'))?.isWellFormed()).toBe(true);
  });
});
