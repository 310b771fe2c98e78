import type { ErasingOption } from '../../core/store.ts';
import type { Disk } from './disk.ts';
import type { FileReader } from './file-reader.ts';
import { decodeText } from './file-reader.ts';
import type { KeyLocks } from './key-locks.ts';
import type { PathOf } from './links.ts';
import type { Quarantine } from './quarantine.ts';

/** Text files; failures are those of the file system or `StoreError`. */
export interface TextFiles {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string, options?: ErasingOption): Promise<void>;
}

const textKind = {};

export function createTextFiles({
  disk,
  files,
  locks,
  pathOf,
  quarantine,
}: {
  readonly disk: Disk;
  readonly files: FileReader;
  readonly locks: KeyLocks;
  readonly pathOf: PathOf;
  readonly quarantine: Quarantine;
}): TextFiles {
  return {
    async read(key) {
      const path = await pathOf(key);
      return (await files.read({ key, path, kind: textKind, parse: decodeText }))?.value;
    },
    write: (key, text, { erase = false } = {}) =>
      locks.run(key, async () => {
        const path = await pathOf(key);
        const bytes = Buffer.from(text);
        if (erase) await quarantine.eraseCopies(key, path, bytes);
        const written = await disk.replaceFile({ key, path, bytes, former: erase ? 'erased' : 'kept' });
        if (written !== undefined) files.remember(path, textKind, written, decodeText(bytes));
      }),
  };
}
