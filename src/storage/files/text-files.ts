import type { FileReader } from './file-reader.ts';
import { decodeText } from './file-reader.ts';
import type { FileSystem } from './file-system.ts';
import type { Folders } from './folders.ts';
import type { KeyLocks } from './key-locks.ts';
import type { PathOf } from './links.ts';
import { replaceFile } from './replace-file.ts';

/** Text files; failures are those of the file system or `StoreError`. */
export interface TextFiles {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}

const textKind = {};

export function createTextFiles({
  fileSystem,
  folders,
  files,
  locks,
  pathOf,
}: {
  readonly fileSystem: FileSystem;
  readonly folders: Folders;
  readonly files: FileReader;
  readonly locks: KeyLocks;
  readonly pathOf: PathOf;
}): TextFiles {
  return {
    async read(key) {
      const path = await pathOf(key);
      return (await files.read({ key, path, kind: textKind, parse: decodeText }))?.value;
    },
    write: (key, text) =>
      locks.run(key, async () => {
        const path = await pathOf(key);
        const bytes = Buffer.from(text);
        const written = await replaceFile(fileSystem, folders, { key, path, bytes, keepBackup: true });
        if (written !== undefined) files.remember(path, textKind, written, decodeText(bytes));
      }),
  };
}
