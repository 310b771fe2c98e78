import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import pLimit from 'p-limit';

import { formatDocument } from '../document-text.ts';
import { isSegment, quarantineSegment, workspaceSegment } from '../keys.ts';
import { formatLine, linesOf, parseLine } from './logs.ts';
import { entryOfBytes, isJson, kindOfKey, type RawEntry, type RawRecord, type RawStore } from '../raw.ts';
import { nodeFileSystem, orStoreError, unlessMissing } from './file-system.ts';
import { allRoots, locate, newMark, rootsIn, temporaryName } from './paths.ts';
import { createFileStore, type FileStoreOptions } from './store.ts';

const filesAtOnce = 32;

/** The files of a stopped bot, for this process alone until closed. @throws {StoreError} where it runs. */
export async function openRawFiles(options: FileStoreOptions): Promise<RawStore> {
  // The store holds the lock.
  const store = await createFileStore(options);
  const roots = rootsIn(options);
  const mark = newMark();
  const files = pLimit(filesAtOnce);
  let damagedLines = 0;

  async function readEntry(key: string): Promise<RawEntry | undefined> {
    const bytes = await unlessMissing(readFile(locate(roots, key).path));
    if (bytes === undefined) return undefined;
    return kindOfKey(key) === 'log' ? logOf(key, bytes) : entryOfBytes(key, bytes);
  }

  function logOf(key: string, bytes: Buffer): RawEntry {
    const records = new Map<number, RawRecord>();
    let highest = 0;
    for (const line of linesOf(bytes)) {
      const parsed = parseLine(line);
      if (parsed === undefined) damagedLines += 1;
      else highest = Math.max(highest, parsed.sequence);
      if (parsed?.record === undefined) continue;
      const { sequence, record } = parsed;
      const json = line.toString('utf8').slice(`{"sequence":${sequence},"record":`.length, -1);
      const isAsWritten = formatLine(sequence, json).subarray(0, -1).equals(line) && isJson(json);
      records.set(sequence, { sequence, json: isAsWritten ? json : JSON.stringify(record) });
    }
    return { kind: 'log', key, records: [...records.values()], highest };
  }

  async function writeEntry(entry: RawEntry): Promise<void> {
    const { path } = locate(roots, entry.key);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // What a kill leaves goes with the next start.
    const temporary = temporaryName(path, mark);
    await writeFile(temporary, bytesOf(entry), { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
  }

  return {
    async keys() {
      const found: string[] = [];
      for (const entry of await readdir(roots.data, { withFileTypes: true })) {
        if (!isSegment(entry.name, '') || [quarantineSegment, workspaceSegment].includes(entry.name))
          continue;
        if (entry.isFile()) found.push(entry.name);
        else if (entry.isDirectory())
          found.push(...(await store.list(entry.name)).map(({ path }) => `${entry.name}/${path}`));
      }
      found.push(...(await store.list(workspaceSegment)).map(({ path }) => `${workspaceSegment}/${path}`));
      return found.toSorted();
    },
    async read(keys) {
      const found = await files.map(keys, (key) => orStoreError(key, 'read', () => readEntry(key)));
      return found.filter((entry) => entry !== undefined);
    },
    async write(entries) {
      await files.map(entries, (entry) => orStoreError(entry.key, 'written', () => writeEntry(entry)));
    },
    damagedLines: () => damagedLines,
    async whenWritten() {
      for (const root of allRoots(roots)) await nodeFileSystem.syncAll(root);
    },
    close: () => store.close(),
  };
}

/** As the store in files writes it; what came from files is laid out already. */
function bytesOf(entry: RawEntry): Buffer {
  switch (entry.kind) {
    case 'text':
      return entry.bytes;
    case 'document':
      return Buffer.from(
        /^\s*\{\s*\n/u.test(entry.text) ? entry.text : formatDocument(Object(JSON.parse(entry.text))),
      );
    case 'log': {
      const lines = entry.records.map(({ sequence, json }) => formatLine(sequence, json));
      const newest = entry.records.at(-1)?.sequence ?? 0;
      return Buffer.concat(newest < entry.highest ? [...lines, formatLine(entry.highest)] : lines);
    }
  }
}
