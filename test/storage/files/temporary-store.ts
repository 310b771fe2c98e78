import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createFileStore, type FileStore, type FileStoreOptions } from '../../../src/storage/files/store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** A temporary folder for stores, removed with all that were opened in it. */
export interface TemporaryStores {
  readonly dataDir: string;
  readonly workspaceDir: string;
  readonly logged: RecordingLogger['lines'];
  open(options?: Partial<FileStoreOptions>): Promise<FileStore>;
  /** Has a file hold this content since a minute ago, as a person or a broken disk would leave it. */
  damage(key: string, content: string): Promise<void>;
  /** The content of every file below both folders, whatever its name. */
  everything(): string;
  dispose(): Promise<void>;
}

export async function createTemporaryStores(): Promise<TemporaryStores> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-store-'));
  const [dataDir, workspaceDir] = [join(folder, 'data'), join(folder, 'workspace')];
  const logger = new RecordingLogger();
  const opened: FileStore[] = [];
  return {
    dataDir,
    workspaceDir,
    logged: logger.lines,
    async open(options = {}) {
      const store = await createFileStore({
        dataDir,
        workspaceDir,
        clock: () => new Date('2026-01-15T12:00:00Z'),
        logger,
        ...options,
      });
      opened.push(store);
      return store;
    },
    async damage(key, content) {
      const path = join(dataDir, key);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
      const aMinuteAgo = Date.now() / 1000 - 60;
      await utimes(path, aMinuteAgo, aMinuteAgo);
    },
    everything() {
      const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join('\n');
    },
    async dispose() {
      for (const store of opened) await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
