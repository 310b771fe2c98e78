import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { Writes } from '../../core/writes.ts';
import type { Store } from '../../core/store.ts';
import type { UndoablePart, UndoLog } from '../undo.ts';

const fileChangeSchema = z.object({
  file: z.object({
    key: z.string(),
    queueKey: z.string(),
    /** As stored, readers' mark included; absent where there was none. */
    before: z.string().optional(),
    /** A hash of what it became. */
    after: z.string(),
    /** Where the former file went, if it was put aside. */
    archive: z.string().optional(),
  }),
});

type FileChange = z.infer<typeof fileChangeSchema>['file'];

interface UndoableNotesPorts {
  readonly store: Pick<Store, 'readText' | 'writeText' | 'remove'>;
  /** The users' write queue, as far as it orders changes of the owners' workspace. */
  readonly writes: Pick<Writes, 'runInWorkspace'>;
  readonly undo: Pick<UndoLog, 'noting' | 'delete'>;
}

export type UndoableNotes = ReturnType<typeof createUndoableNotes>;

/** The model's changes of notes can be undone like those of items [K5], unless the file was changed since. */
export function createUndoableNotes({ store, writes, undo }: UndoableNotesPorts) {
  /** Notes how a change is undone, then lets `make` carry it out. Resolves with what undoes it. */
  async function change(
    userId: string,
    { after, ...file }: Omit<FileChange, 'after'> & { readonly after: string },
    make: () => Promise<void>,
  ): Promise<string | undefined> {
    const part = after === file.before ? undefined : { file: { ...file, after: hashOf(after) } };
    return (await undo.noting({ userId, what: 'note', part }, make)).undoId;
  }

  /** After a withdrawal or erasing, no former note of the person may return. */
  function finish(userId: string): Promise<void> {
    return undo.delete(userId, ({ part }) => read(part) !== undefined);
  }

  const part: UndoablePart = {
    async stateOf(unknown) {
      const file = read(unknown);
      if (file === undefined) return undefined;
      const present = await store.readText(file.key);
      if (present === file.before) return 'reverted';
      return present !== undefined && hashOf(present) === file.after ? 'made' : 'overtaken';
    },
    async revert(unknown) {
      const file = read(unknown);
      if (file === undefined) return;
      const { key, queueKey, before, archive } = file;
      const work = async (): Promise<void> => {
        if ((await part.stateOf(unknown)) === 'made')
          await (before === undefined ? store.remove(key) : store.writeText(key, before));
        if (archive !== undefined && (await store.readText(archive)) === before) await store.remove(archive);
      };
      // Undoing runs in the person's own queue already.
      await (queueKey === 'workspace' ? writes.runInWorkspace(work) : work());
    },
  };

  return { change, finish, part };
}

function read(part: unknown): FileChange | undefined {
  return fileChangeSchema.safeParse(part).data?.file;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
