import { dirname } from 'node:path';
import { unlessMissing } from './file-error.ts';
import type { FileReader } from './file-reader.ts';
import { decodeText } from './file-reader.ts';
import type { FileSystem } from './file-system.ts';
import type { Folders } from './folders.ts';
import type { KeyLocks } from './key-locks.ts';
import { backupOf } from './keys.ts';
import { replaceFile } from './replace-file.ts';

/** Text files, by key and path; failures are those of the file system or `StoreError`. */
export interface TextFiles {
  read(key: string, path: string): Promise<string | undefined>;
  write(key: string, path: string, text: string): Promise<void>;
  /** Removes a file of any sort with its backup; `then` runs before anybody else may touch the key. */
  remove(key: string, path: string, then: () => void): Promise<void>;
}

const textKind = {};

export function createTextFiles({
  fileSystem,
  folders,
  files,
  locks,
}: {
  readonly fileSystem: FileSystem;
  readonly folders: Folders;
  readonly files: FileReader;
  readonly locks: KeyLocks;
}): TextFiles {
  return {
    async read(key, path) {
      return (await files.read({ key, path, kind: textKind, parse: decodeText }))?.value;
    },
    write: (key, path, text) =>
      locks.run(key, async () => {
        const bytes = Buffer.from(text);
        const written = await replaceFile(fileSystem, folders, { key, path, bytes, keepBackup: true });
        if (written !== undefined) files.remember(path, textKind, written, decodeText(bytes));
      }),
    remove: (key, path, then) =>
      locks.run(key, async () => {
        // The backup first: were it the other way round, a kill in between would leave what was to be forgotten.
        const hadBackup = await unlessMissing(fileSystem.unlink(backupOf(path)).then(() => true));
        const hadFile = await unlessMissing(fileSystem.unlink(path).then(() => true));
        then();
        if (hadBackup ?? hadFile) await folders.sync(dirname(path));
      }),
  };
}
