import type { SessionKey } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import { contentTerms, saysWords } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Writes } from '../../core/writes.ts';
import type { ExportedFile, Purged, Withdrawn } from '../layer.ts';
import { cursorOfNote } from '../log/kept-summary.ts';
import type { SessionLog } from '../log/session-log.ts';
import { sessionFolder, type SessionStates } from '../log/session-state.ts';
import { withdrawnWords } from '../log/withdrawal.ts';
import { overviewParts } from './format.ts';
import { filesIn, notebookParts } from './tree.ts';
import { hashOf, linesWithout, readWithheld, type NoteLines } from '../withheld.ts';
import type { UndoableNotes } from './undoable.ts';

/** What becomes of a person's notes when something that they came from is taken back. */
export function createNoteChanges({
  store,
  writes,
  states,
  log,
  undoable,
}: {
  readonly store: Store;
  /** The users' write queue, as far as it orders changes of the owners' workspace. */
  readonly writes: Pick<Writes, 'runInWorkspace'>;
  readonly states: Pick<SessionStates, 'read'>;
  readonly log: Pick<SessionLog, 'stillPresent' | 'sessionsOfPerson'>;
  readonly undoable?: Pick<UndoableNotes, 'formers' | 'rewriteKept'> | undefined;
}) {
  async function textsOf(keys: readonly string[]): Promise<readonly Note[]> {
    const texts = await Promise.all(keys.map(async (key) => ({ key, text: await store.readText(key) })));
    return texts.flatMap(({ key, text }) => (text === undefined ? [] : [{ key, text }]));
  }

  /** Of the notebook that a conversation may have told of; the owners' is the workspace. */
  async function keysOfNotebook(session: SessionKey): Promise<readonly string[]> {
    const { place, isOwner } = await states.read(session);
    if (place?.audience !== 'dm') return [];
    const parts = notebookParts({ id: session.userId, isOwner: isOwner === true });
    return (await filesIn(store, parts)).flatMap(({ key }) => (key.endsWith('.md') ? [key] : []));
  }

  /** The notes that `purge` looks through, an owner's workspace included [K11]. */
  async function notesOfPerson(userId: string): Promise<ReadonlySet<string>> {
    const keys = new Set(await keysBelow(store, `users/${userId}/notebook`));
    for (const session of await log.sessionsOfPerson(userId)) {
      for (const key of await notesOfSession(store, session)) keys.add(key);
      for (const key of await keysOfNotebook(session)) keys.add(key);
    }
    return keys;
  }

  /** Notes become what `make` says, or go; changes of the owners' workspace have a queue of their own. */
  async function rewrite(
    keys: Iterable<string>,
    make: (key: string, text: string) => string | undefined,
  ): Promise<void> {
    for (const key of keys) {
      const work = async (): Promise<void> => {
        const text = await store.readText(key);
        const rest = text === undefined ? undefined : make(key, text);
        if (rest === undefined) await store.remove(key);
        else if (rest !== text) await store.writeText(key, rest);
      };
      await (key.startsWith('workspace/') ? writes.runInWorkspace(work) : work());
    }
  }

  return {
    /**
     * The lines of notes that the model made of some messages [G5]: those with a word that these said and that nobody
     * in the conversation says without them. Looks through its overview and details, and after a DM the person's
     * notebook, with what is kept of it for undo. Paraphrases are not found.
     */
    async linesSaying({ session, messages }: Pick<Withdrawn, 'session' | 'messages'>): Promise<NoteLines> {
      const words = await withdrawnWords(messages);
      const pause = createTimeSlice();
      const found: NoteLines[number][] = [];
      await look(await textsOf(await notesOfSession(store, session)), undefined);
      const shared = await textsOf(await keysOfNotebook(session));
      if (shared.length > 0)
        await look([...shared, ...((await undoable?.formers(session.userId)) ?? [])], words.own);
      return found;

      /** `mostlyOf` as in `saysWithdrawn`. */
      async function look(notes: readonly Note[], mostlyOf: ReadonlySet<string> | undefined): Promise<void> {
        const candidates = new Set<string>();
        for (const { text } of notes) {
          for (const line of text.split('\n'))
            for (const term of distinctiveTerms(line)) if (words.all.has(term)) candidates.add(term);
          await pause();
        }
        const presentTerms =
          candidates.size === 0 ? candidates : await log.stillPresent(session, candidates, messages);
        const gone = new Set([...candidates].filter((term) => !presentTerms.has(term)));
        for (const { key, text } of notes) {
          const lines = text.split('\n').filter((line) => saysWithdrawn(line, gone, mostlyOf));
          if (lines.length > 0) found.push({ key, lines: lines.map(hashOf) });
          await pause();
        }
      }
    },

    /** Deletes lines of notes, and of what is kept of them for undo. Runs as a job of the user's queue. */
    async deleteLines(userId: string, notes: NoteLines): Promise<void> {
      const gone = new Set(notes.flatMap(({ key, lines }) => lines.map((line) => `${key} ${line}`)));
      const without = (key: string, text: string) =>
        linesWithout(text, (line) => gone.has(`${key} ${hashOf(line)}`));
      await rewrite(new Set(notes.flatMap(({ key }) => (key.endsWith('.md') ? [key] : []))), without);
      if (notes.length > 0) await undoable?.rewriteKept(userId, without);
    },

    /** What `purge` looks through. Rejects with `StoreError`. */
    async *purgeable(userId: string): AsyncGenerator<ExportedFile> {
      const { note } = await readWithheld(store, userId);
      for (const key of await notesOfPerson(userId)) {
        const text = await store.readText(key);
        const visible = text && note(key, text);
        if (visible !== undefined) yield { path: key, text: visible };
      }
    },

    /** Removes lines that say some words, and notes named so [K11]. Runs as a job of the user's queue. */
    async purge({ userId, words }: Purged): Promise<void> {
      await rewrite(await notesOfPerson(userId), (key, text) => {
        const name = key.slice(key.lastIndexOf('/') + 1).replaceAll(/[-_.]/gu, ' ');
        if (saysWords(name, words)) return undefined;
        const rest = linesWithout(text, (line) => saysWords(line, words));
        // Comments, and words that go on over a line's end.
        return rest === undefined || saysWords(rest, words) ? undefined : rest;
      });
    },
  };
}

interface Note {
  readonly key: string;
  readonly text: string;
}

/** Removes dated notes from before a day, replaced summaries and daily logs included [K15]. */
export async function dropDatedNotes(store: Store, session: SessionKey, day: string): Promise<void> {
  const isDated = /^\d{4}-\d\d-\d\d(?:\.md|-\d\d-\d\d-.*-summary\.md)$/u;
  for (const folder of [`${sessionFolder(session)}/detail`, `users/${session.userId}/notebook/daily`])
    for (const { path } of await store.list(folder))
      if (isDated.test(path) && path < day) await store.remove(`${folder}/${path}`);
}

/** Without replaced summaries: the rolling summary knows exactly which messages they hold. */
export async function notesOfSession(store: Store, session: SessionKey): Promise<readonly string[]> {
  const folder = sessionFolder(session);
  const details = await keysBelow(store, `${folder}/detail`);
  const notes = details.filter((key) => cursorOfNote(key.slice(`${folder}/detail/`.length)) === undefined);
  return [`${folder}/overview.md`, ...notes];
}

export async function keysBelow(store: Store, folder: string): Promise<readonly string[]> {
  return (await store.list(folder)).map(({ path }) => `${folder}/${path}`);
}

/**
 * Whether a line says what was withdrawn; headings of the overview stay. `gone` are stemmed words that nobody in the
 * conversation says any more. With `mostlyOf`, for notes that a person may have written, a line goes only if all its
 * words are withdrawn ones, or at least two that make half of it. The summary, the model's own, goes with one.
 */
export function saysWithdrawn(
  line: string,
  gone: ReadonlySet<string>,
  mostlyOf?: ReadonlySet<string>,
): boolean {
  const presentTerms = distinctiveTerms(line);
  if (isOwnHeading(line) || !presentTerms.some((term) => gone.has(term))) return false;
  if (mostlyOf === undefined || line.startsWith('> Summary:')) return true;
  const shared = presentTerms.filter((term) => mostlyOf.has(term)).length;
  return shared === presentTerms.length || (shared >= 2 && shared * 2 >= presentTerms.length);
}

/** The words that tie a line of a note to a message: short numbers stand everywhere. */
export function distinctiveTerms(line: string): readonly string[] {
  const content = line.replace(/^\s*(?:[-*>]\s*)?(?:Summary|Date):/u, '').replace(/\d{4}-\d{2}-\d{2}/gu, '');
  return contentTerms(content).filter((term) => !/^\d{1,2}$/u.test(term));
}

function isOwnHeading(line: string): boolean {
  const title = /^#+\s+(?<title>\S[^\n]*)$/u.exec(line)?.groups?.['title']?.trimEnd();
  return title !== undefined && overviewParts.has(title);
}
