import { promisify } from 'node:util';
import { buffer } from 'node:stream/consumers';
import { deflateRaw } from 'node:zlib';

import { fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';

import type { ExportedFile } from '../memory/layer.ts';

const deflated = promisify(deflateRaw);

/** What an archive has of each file besides its packed bytes and twice its path, and of its own; bytes, with room to spare. */
const entryBytes = 200;
/** Entries of an archive that is read. */
const mostEntries = 20_000;

/** The parts that files are packed into: which of them, of how many, and what is in it. */
export interface ArchivePart {
  /** From 1. */
  readonly number: number;
  readonly count: number;
  readonly files: readonly ExportedFile[];
}

/**
 * Packs files, in order, into as few zip archives of at most `maxBytes` as possible, each with `readme` as
 * `README.md`. A file that is larger when packed gets an archive of its own.
 */
export async function packFiles(
  files: readonly ExportedFile[],
  maxBytes: number,
  at: Date,
  readme: (part: ArchivePart) => string,
): Promise<readonly Uint8Array[]> {
  const longest = Buffer.byteLength(readme({ number: 1, count: 1, files }));
  const parts: ExportedFile[][] = [[]];
  let room = maxBytes - longest - entryBytes;
  for (const file of files) {
    const bytes = await packedBytes(file);
    if (bytes > room && parts.at(-1)?.length !== 0) {
      parts.push([]);
      room = maxBytes - longest - entryBytes;
    }
    parts.at(-1)?.push(file);
    room -= bytes;
  }
  const archives: Uint8Array[] = [];
  for (const [index, part] of parts.entries()) {
    const text = readme({ number: index + 1, count: parts.length, files: part });
    archives.push(await zipOf([{ path: 'README.md', text }, ...part], at));
  }
  return archives;
}

async function packedBytes({ path, text }: ExportedFile): Promise<number> {
  const { length } = await deflated(text);
  return length + 2 * Buffer.byteLength(path) + entryBytes;
}

async function zipOf(files: readonly ExportedFile[], at: Date): Promise<Uint8Array> {
  const zip = new ZipFile();
  for (const { path, text } of files) zip.addBuffer(Buffer.from(text), path, { mtime: at });
  zip.end();
  return buffer(zip.outputStream);
}

/** Whether bytes begin as a zip archive does. */
export function isArchive(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

/**
 * The bytes of one file of an archive from a stranger: nothing else is unpacked, and never more than `maxBytes`, whatever the archive says of it. `damaged`: it
 * cannot be read as an archive.
 */
export async function unpackFile(
  archive: Buffer,
  path: string,
  maxBytes: number,
): Promise<Uint8Array | 'missing' | 'too-large' | 'damaged'> {
  try {
    const zip = await fromBufferPromise(archive);
    if (zip.entryCount > mostEntries) return 'too-large';
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== path) continue;
      if (entry.uncompressedSize > maxBytes) return 'too-large';
      // The stream fails as soon as there is more than that.
      return await buffer(await zip.openReadStreamPromise(entry));
    }
    return 'missing';
  } catch {
    return 'damaged';
  }
}
