import type { Store } from '../../core/store.ts';
import { nameProblem, notebookParts } from '../notebook/tree.ts';
import type { PartLocation } from '../notebook/tree.ts';
import { createFileSource } from './file-source.ts';
import type { RecallSource } from './recall-source.ts';
import type { Reach } from './recall-unit.ts';

/** A person's notebook [N1], as the memory tools name its files; used in their DMs only [V3]. */
export function createNotebookSource({
  store,
}: {
  readonly store: Pick<Store, 'list' | 'readText'>;
}): RecallSource {
  async function filesOf({ part, key, isFolder }: PartLocation) {
    if (!isFolder) return [{ key, path: part as string }];
    const files = await store.list(key);
    return files
      .filter(({ path }) => path.endsWith('.md') && nameProblem(path.slice(0, -3)) === undefined)
      .map(({ path }) => ({ key: `${key}/${path}`, path: `${part}/${path}` }));
  }

  return createFileSource({
    name: 'notebook',
    store,
    async files({ userId, isOwner }) {
      const reach: Reach = { visibility: 'dm', homeId: userId };
      const files = await Promise.all(notebookParts({ id: userId, isOwner }).map(filesOf));
      return files.flat().map((file) => ({ ...file, reach: () => Promise.resolve(reach) }));
    },
  });
}
