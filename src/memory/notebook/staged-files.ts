import { StoreError } from '../../core/errors.ts';
import type { Store, StoredFile } from '../../core/store.ts';

/** What a notebook's tools and readers use of a store. */
export type NotebookStore = Pick<Store, 'readText' | 'writeText' | 'list'>;

/**
 * Files as background work sees them: writes are kept back until `commit`, reads see them. Only keys that `isOwn` admits can be
 * touched at all; any other key or folder rejects with `StoreError`, so nobody's notes reach another's, whatever a tool is asked for [V2][V3].
 */
export class StagedFiles implements NotebookStore {
  readonly #store: NotebookStore & Pick<Store, 'remove'>;
  readonly #isOwn: (key: string) => boolean;
  readonly #seenTexts = new Map<string, string | undefined>();
  readonly #seenFolders = new Map<string, readonly StoredFile[]>();
  readonly #staged = new Map<string, string>();

  constructor(store: NotebookStore & Pick<Store, 'remove'>, isOwn: (key: string) => boolean) {
    this.#store = store;
    this.#isOwn = isOwn;
  }

  async readText(key: string): Promise<string | undefined> {
    const present = await this.#seen(key);
    return this.#staged.get(key) ?? present;
  }

  async writeText(key: string, text: string): Promise<void> {
    await this.#seen(key);
    this.#staged.set(key, text);
  }

  async list(folder: string): Promise<readonly StoredFile[]> {
    this.#check(`${folder}/`, folder);
    const present = this.#seenFolders.get(folder) ?? (await this.#store.list(folder));
    this.#seenFolders.set(folder, present);
    const sizes = new Map(present.map(({ path, bytes }) => [path, bytes]));
    for (const [key, text] of this.#staged) {
      if (key.startsWith(`${folder}/`)) sizes.set(key.slice(folder.length + 1), Buffer.byteLength(text));
    }
    return [...sizes]
      .map(([path, bytes]) => ({ path, bytes }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /**
   * Writes all that was staged, then does what belongs to it; resolves with `false`, having written nothing, where anything that was read has
   * changed since. When a write or `alongside` rejects, what was written is taken back. Call it while nobody else writes these files.
   */
  async commit(alongside: () => Promise<void>): Promise<boolean> {
    if (!(await this.#isAsSeen())) return false;
    const written: string[] = [];
    try {
      for (const [key, text] of this.#staged) {
        if (text === this.#seenTexts.get(key)) continue;
        written.push(key);
        await this.#store.writeText(key, text);
      }
      await alongside();
      return true;
    } catch (error) {
      // A disk that refuses this as well leaves nothing more to be done; what went wrong first is what counts.
      for (const key of written.toReversed()) await this.#restore(key).catch(() => undefined);
      throw error;
    }
  }

  async #seen(key: string): Promise<string | undefined> {
    this.#check(key, key);
    if (!this.#seenTexts.has(key)) this.#seenTexts.set(key, await this.#store.readText(key));
    return this.#seenTexts.get(key);
  }

  async #isAsSeen(): Promise<boolean> {
    for (const [key, text] of this.#seenTexts) {
      if ((await this.#store.readText(key)) !== text) return false;
    }
    for (const [folder, files] of this.#seenFolders) {
      if (namesAndSizes(await this.#store.list(folder)) !== namesAndSizes(files)) return false;
    }
    return true;
  }

  async #restore(key: string): Promise<void> {
    const text = this.#seenTexts.get(key);
    if (text === undefined) await this.#store.remove(key);
    else await this.#store.writeText(key, text);
  }

  #check(key: string, named: string): void {
    if (!this.#isOwn(key)) throw new StoreError(`${named} is no part of this notebook`, named);
  }
}

function namesAndSizes(files: readonly StoredFile[]): string {
  return JSON.stringify(files.map(({ path, bytes }) => [path, bytes]));
}
