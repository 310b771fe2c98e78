import { createHash } from 'node:crypto';

import { z } from 'zod';

import { counted } from '../../core/text.ts';
import type { MemoryNotice } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { Writes } from '../../core/writes.ts';
import type { Store } from '../../core/store.ts';
import type { ExportedFile } from '../layer.ts';
import { undoButton, type UndoableChange, type UndoablePart, type UndoLog } from '../undo.ts';
import { lostLines } from './losses.ts';

const fileChangeSchema = z.object({
  key: z.string(),
  /** As stored, readers' mark included; absent where there was none. */
  before: z.string().optional(),
  /** A hash of what it became. */
  after: z.string(),
  /** Where the former file went, if it was put aside. */
  archive: z.string().optional(),
});

const partSchema = z.object({ files: z.array(fileChangeSchema).readonly() });

type FileChange = z.infer<typeof fileChangeSchema>;

/** A note with its new text in `after`. */
export type WrittenNote = Omit<FileChange, 'after'> & { readonly after: string };

interface UndoableNotesPorts {
  readonly store: Pick<Store, 'readText' | 'writeText' | 'remove'>;
  /** The users' write queue, as far as it orders changes of the owners' workspace. */
  readonly writes: Pick<Writes, 'runInWorkspace'>;
  readonly undo: Pick<UndoLog, 'noting' | 'delete' | 'list' | 'change'>;
}

export type UndoableNotes = ReturnType<typeof createUndoableNotes>;

/** Changes of notes can be undone like those of items [K5]; a tool's unless the file was changed since. */
export function createUndoableNotes({ store, writes, undo }: UndoableNotesPorts) {
  /** Notes how a tool's change is undone, then lets `make` carry it out. Resolves with what undoes it. */
  async function change(
    userId: string,
    note: WrittenNote,
    make: () => Promise<void>,
  ): Promise<string | undefined> {
    const part = note.after === note.before ? undefined : { files: [hashed(note)] };
    return (await undo.noting({ userId, what: 'note', part }, make)).undoId;
  }

  /** The same for what background work writes, where it takes lines out of the person's notebook [A3]. */
  async function changeInBackground(
    userId: string,
    written: readonly WrittenNote[],
    make: () => Promise<void>,
  ): Promise<void> {
    const notes = written.filter(({ key }) => !key.startsWith('sessions/'));
    const losses = notes.flatMap(({ key, before = '', after }) => lostLines(before, [after]).map(() => key));
    const names = Array.from(new Set(losses), (key) => `\`${nameOf(key)}\``).join(', ');
    const lines = counted(losses.length, 'line');
    const background = `📝 Looking back, I took ${lines} out of ${names}. For thirty days, Undo puts ${losses.length === 1 ? 'it' : 'them'} back`;
    const part = losses.length === 0 ? undefined : { files: notes.map(hashed) };
    await undo.noting({ userId, what: 'note', part, background }, make);
  }

  /** No former note of the person may return, or none that a tool changed. */
  function finish(userId: string, which: 'all' | 'of tools'): Promise<void> {
    const isMeant = ({ background }: UndoableChange) => which === 'all' || background === undefined;
    return undo.delete(userId, (each) => filesOf(each) !== undefined && isMeant(each));
  }

  /** The former notes that are kept of what background work changed. */
  async function* kept(userId: string): AsyncGenerator<ExportedFile> {
    for (const { id, background, ...each } of await undo.list(userId))
      for (const { key, before } of filesOf(each) ?? [])
        if (background !== undefined && before !== undefined)
          yield { path: `notebook/.former/${id}/${nameOf(key)}`, text: before };
  }

  /** All that is kept of the person's notes. */
  async function formers(
    userId: string,
  ): Promise<readonly { readonly key: string; readonly text: string }[]> {
    const files = (await undo.list(userId)).flatMap((each) => filesOf(each) ?? []);
    return files.flatMap(({ key, before }) => (before === undefined ? [] : [{ key, text: before }]));
  }

  /** What is kept of background work becomes what `make` says; without a text it is kept no longer. */
  function rewriteKept(
    userId: string,
    make: (key: string, text: string) => string | undefined,
  ): Promise<void> {
    return undo.change(userId, (each) => {
      const files = filesOf(each)?.flatMap((file) => {
        const before = file.before && make(file.key, file.before);
        return file.before !== undefined && before === undefined ? [] : { ...file, before };
      });
      return files === undefined || each.background === undefined ? each : { ...each, part: { files } };
    });
  }

  /**
   * What the person's next answer tells of it, in direct messages, where alone a notebook is read [V3]; `markTold` is to
   * be called once it has. Rejects with `StoreError`.
   */
  async function untold({ speaker, place }: Pick<TurnContext, 'speaker' | 'place'>) {
    const notices = new Map<string, MemoryNotice>();
    for (const each of place.audience === 'dm' ? await undo.list(speaker.id) : []) {
      const { id, background: line = '' } = each;
      // A kill may have come before it was made.
      if (line !== '' && (await part.stateOf(each)) === 'made')
        notices.set(id, { line, bareLine: line, buttons: undoButton(id) });
    }
    const markTold = () =>
      undo.change(speaker.id, (each) => (notices.has(each.id) ? { ...each, background: '' } : each));
    return { notices: [...notices.values()], markTold };
  }

  async function stateOfFile({ key, before, after }: FileChange): Promise<'made' | 'reverted' | 'overtaken'> {
    const present = await store.readText(key);
    if (present === before) return 'reverted';
    return present !== undefined && hashOf(present) === after ? 'made' : 'overtaken';
  }

  const part: UndoablePart = {
    async stateOf(noted) {
      const files = filesOf(noted);
      if (files === undefined) return undefined;
      const states = await Promise.all(files.map(stateOfFile));
      if (states.every((state) => state === 'reverted')) return 'reverted';
      return noted.background === undefined && states.includes('overtaken') ? 'overtaken' : 'made';
    },
    async revert(noted) {
      for (const file of filesOf(noted) ?? []) {
        const { key, before, archive } = file;
        const work = async (): Promise<void> => {
          const state = await stateOfFile(file);
          const present = (await store.readText(key)) ?? '';
          if (state === 'made')
            await (before === undefined ? store.remove(key) : store.writeText(key, before));
          // What the note says since stays, and what it lost comes behind it.
          else if (state === 'overtaken' && noted.background !== undefined && before !== undefined)
            await store.writeText(
              key,
              `${[present.trimEnd(), ...lostLines(before, [present])].join('\n')}\n`,
            );
          if (archive !== undefined && (await store.readText(archive)) === before)
            await store.remove(archive);
        };
        // Undoing runs in the person's own queue already.
        await (key.startsWith('workspace/') ? writes.runInWorkspace(work) : work());
      }
    },
  };

  return { change, changeInBackground, finish, kept, formers, rewriteKept, untold, part };
}

function hashed(note: WrittenNote): FileChange {
  return { ...note, after: hashOf(note.after) };
}

function filesOf({ part }: Pick<UndoableChange, 'part'>): readonly FileChange[] | undefined {
  return partSchema.safeParse(part).data?.files;
}

/** As people know the file. */
function nameOf(key: string): string {
  return key.replace(/^(?:workspace|users\/\d+\/notebook)\//u, '');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
