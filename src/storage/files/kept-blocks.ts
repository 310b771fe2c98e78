import { constants } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

import { blocksOf, type RawBlock } from '../log-blocks.ts';
import { linesOf } from '../log-line.ts';
import type { Disk } from './disk.ts';
import { readBytes, readWhole, unlessMissing, withFile, writeWhole, type FileSystem } from './file-system.ts';

const headBytes = 8;
const nothing = Buffer.alloc(0);
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW;
const writeFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

/**
 * What is kept of a log's blocks: a hidden file each, beside the log. It begins with the checksum of the lines that it was made of and with its own, so that
 * one that is torn, or belongs to lines which a person or an earlier backup changed, counts as absent. Nothing is synced but its removal.
 */
export function createKeptBlocks(fileSystem: FileSystem, disk: Disk) {
  async function read(log: string, { number, checksum }: RawBlock): Promise<Uint8Array | undefined> {
    const opening = fileSystem.open(pathOf(log, number), readFlags);
    const bytes = await withFile(opening, readWhole).catch(() => nothing);
    const content = bytes.subarray(headBytes);
    const isWhole = bytes.length >= headBytes && bytes.readUInt32LE(4) === crc32(content);
    return isWhole && bytes.readUInt32LE() === checksum ? content : undefined;
  }

  async function write(
    log: string,
    key: string,
    { number, checksum }: RawBlock,
    content: Uint8Array,
  ): Promise<void> {
    const head = Buffer.alloc(headBytes);
    head.writeUInt32LE(checksum);
    head.writeUInt32LE(crc32(content), 4);
    await withFile(fileSystem.open(pathOf(log, number), writeFlags, 0o600), (file) =>
      writeWhole(file, key, Buffer.concat([head, content]), 0),
    );
  }

  /** Takes off the disk what is kept of other lines than those that the log at a path is to have [S7]. */
  async function eraseOthers(log: string, present: Buffer, size: number): Promise<void> {
    const entries = (await unlessMissing(fileSystem.readdir(dirname(log)))) ?? [];
    const names = entries.map(({ name }) => name);
    const kept = names.filter((name) => name.startsWith(`.${basename(log)}.`) && name.endsWith('.index'));
    if (kept.length === 0) return;
    const checksums = new Map<string, number>();
    for await (const { number, checksum, isWhole } of blocksOf([linesOf(present)], size))
      if (isWhole) checksums.set(pathOf(log, number), checksum);
    for (const path of kept.map((name) => join(dirname(log), name))) {
      const reading = withFile(fileSystem.open(path, readFlags), (file) => readBytes(file, 0, headBytes));
      const head = await reading.catch(() => nothing);
      if (head.length < headBytes || head.readUInt32LE() !== checksums.get(path))
        await fileSystem.unlink(path);
    }
    await disk.syncFolder(dirname(log));
  }

  return { read, write, eraseOthers };
}

function pathOf(log: string, number: number): string {
  return join(dirname(log), `.${basename(log)}.${number}.index`);
}
