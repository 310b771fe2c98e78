import { localDateTime } from '../../core/time.ts';
import type { TreeFile } from './notebook-tree.ts';
import type { NotebookStore } from './staged-files.ts';

/**
 * Keeps an overview from when the channel was private in the session's `detail/`, with its mark, so that a new one can be begun
 * where the public now reads along, and the old one is there when the channel is private again.
 */
export async function makeRoomForOverview(
  store: NotebookStore,
  {
    file,
    former,
    now,
    timeZone,
  }: { readonly file: TreeFile; readonly former: string; readonly now: Date; readonly timeZone: string },
): Promise<void> {
  const folder = file.key.slice(0, file.key.lastIndexOf('/'));
  const time = localDateTime(now, timeZone).replace(/[ :]/gu, '-');
  const seconds = String(now.getTime() % 60_000).padStart(5, '0');
  await store.writeText(`${folder}/detail/${time}-${seconds}-overview.md`, former);
}
