import type { SessionKey } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import { sessionFolder } from '../log/session-state.ts';
import { cursorOfNote, noteName, parseNote, renderNote } from './summary-note.ts';
import type { SummaryNote } from './summary-note.ts';

/** The replaced summaries of a session in its `detail/` folder [R3]. */
export interface SummaryNotes {
  keep(session: SessionKey, note: SummaryNote): Promise<void>;
  /** Removes those that may hold one of the log lines. */
  removeHolding(session: SessionKey, sequences: readonly number[]): Promise<void>;
  /** The newest of those that begin after the log line `from`, as the present summary does. */
  newest(session: SessionKey, from: number): Promise<SummaryNote | undefined>;
}

export function createSummaryNotes({ store, timeZone }: { store: Store; timeZone: string }): SummaryNotes {
  async function list(session: SessionKey): Promise<readonly { key: string; cursor: number }[]> {
    const files = await store.list(folderOf(session));
    return files.flatMap(({ path }) => {
      const cursor = cursorOfNote(path);
      return cursor === undefined ? [] : [{ key: `${folderOf(session)}/${path}`, cursor }];
    });
  }

  async function read(key: string): Promise<SummaryNote | undefined> {
    const file = await store.readText(key);
    return file === undefined ? undefined : parseNote(file);
  }

  return {
    keep: (session, note) =>
      store.writeText(`${folderOf(session)}/${noteName(note, timeZone)}`, renderNote(note, timeZone)),

    async removeHolding(session, sequences) {
      for (const { key, cursor } of await list(session)) {
        if (sequences.every((sequence) => cursor < sequence)) continue;
        const from = (await read(key))?.from ?? 0;
        if (sequences.some((sequence) => from < sequence && sequence <= cursor)) await store.remove(key);
      }
    },

    async newest(session, from) {
      const notes = (await list(session)).filter(({ cursor }) => cursor > from);
      for (const { key, cursor } of notes.toSorted((a, b) => b.cursor - a.cursor)) {
        const note = await read(key);
        if (note?.from === from && note.cursor === cursor) return note;
      }
      return undefined;
    },
  };
}

function folderOf(session: SessionKey): string {
  return `${sessionFolder(session)}/detail`;
}
