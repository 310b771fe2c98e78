import type { Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import type { Writes } from '../core/writes.ts';
import { changesFolder, withheldKey, withheldKind, workspaceId, type WithheldRecord } from './withheld.ts';

/** Until a change is tried again that the disk came between; milliseconds. */
const againMs = 60_000;

/**
 * The records of changes that are not done [F5], those of a person in one document, as part of jobs of their queue; what
 * they say about the owners' notes also in that of the workspace. Rejects with `StoreError`.
 */
export function createChangeRecords({
  store,
  writes,
  expireAt,
  clock,
}: {
  readonly store: Pick<Store, 'read' | 'update' | 'remove' | 'list'>;
  readonly writes: Pick<Writes, 'runInWorkspace'>;
  readonly expireAt: (id: string, time?: Date) => Promise<void>;
  readonly clock: Clock;
}) {
  async function recordsOf(id: string): Promise<readonly WithheldRecord[]> {
    return (await store.read(withheldKey(id), withheldKind))?.records ?? [];
  }

  async function change(
    id: string,
    make: (records: readonly WithheldRecord[]) => readonly WithheldRecord[],
  ): Promise<void> {
    const left = await store.update(
      withheldKey(id),
      withheldKind,
      (before) => ({ version: 1 as const, records: make(before?.records ?? []) }),
      { erase: true },
    );
    if (left?.records.length === 0) await store.remove(withheldKey(id));
  }

  /** Resolves when it is on disk. The owners' notes first: a record about them without its person's is none. */
  async function enter(id: string, record: WithheldRecord): Promise<void> {
    await expireAt(id, laterOf(record.until));
    const shared = record.notes.filter(({ key }) => key.startsWith('workspace/'));
    if (shared.length > 0) {
      const part = { ...record, waiting: [], messages: [], sentences: [], items: [], notes: shared };
      await writes.runInWorkspace(() => change(workspaceId, (all) => [...all, part]));
    }
    await change(id, (all) => [...all, record]);
  }

  /** It is done or undone, and what it makes pointless goes too. */
  async function leave(id: string, record: WithheldRecord): Promise<void> {
    await change(id, (all) => {
      const at = all.findIndex((each) => each.id === record.id);
      return all.filter((each, index) => index !== at && !(index < at && isSupersededBy(each, record)));
    });
    await dropStrays(id);
  }

  /** A kill came before the person's own record was there, or after it had gone. */
  async function dropStrays(userId: string): Promise<void> {
    const shared = await recordsOf(workspaceId);
    if (!shared.some(({ userId: of }) => of === userId)) return;
    const own = new Set((await recordsOf(userId)).map(({ id }) => id));
    const isKept = (record: WithheldRecord): boolean => record.userId !== userId || own.has(record.id);
    if (!shared.every(isKept))
      await writes.runInWorkspace(() => change(workspaceId, (all) => all.filter(isKept)));
  }

  /** Whom, or which channel, there are records of. */
  async function ids(): Promise<readonly string[]> {
    const files = await store.list(changesFolder);
    const own = files.flatMap(({ path }) => /^(?<id>\d+)\.json$/u.exec(path)?.groups?.['id'] ?? []);
    return [...new Set([...own, ...(await recordsOf(workspaceId)).map(({ userId }) => userId)])];
  }

  /** Not at once: what is being carried out now needs no second look. */
  function laterOf(moment: string): Date {
    return new Date(Math.max(Date.parse(moment), clock().getTime() + againMs));
  }

  return { recordsOf, enter, leave, dropStrays, ids, laterOf };
}

/** Whether a change of a person is pointless once a later one is done. */
function isSupersededBy({ change: earlier }: WithheldRecord, { change: later }: WithheldRecord): boolean {
  if (later.kind === 'erased') return true;
  if (earlier.kind !== 'edited') return false;
  return later.kind === 'edited'
    ? later.messageId === earlier.messageId
    : later.kind === 'deleted' && later.messageIds.includes(earlier.messageId);
}
