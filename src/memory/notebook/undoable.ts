import { createHash, randomUUID } from 'node:crypto';

import { z } from 'zod';

import { limits } from '../../core/limits.ts';
import type { SessionKey } from '../../core/place.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import { counted, parseJson } from '../../core/text.ts';
import type { Clock } from '../../core/time.ts';
import type { MemoryNotice } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { Writes } from '../../core/writes.ts';
import type { ExportedFile } from '../layer.ts';
import { sessionFolder } from '../log/session-state.ts';
import { undoButton, undoForMs, type UndoablePart } from '../undo.ts';
import { readWithheld } from '../withheld.ts';
import { lostLines } from './losses.ts';

/** How long what background work took out of a notebook is kept [A3]; milliseconds. */
const backgroundForMs = 30 * 24 * 60 * 60_000;

/** What a change did to one note, in the first line of the file that keeps the former text. */
const headSchema = z.object({
  /** Of the change; the notes that it wrote together have the same. */
  id: z.string(),
  /** ISO 8601. */
  at: z.string(),
  key: z.string(),
  /** A hash of what it became. */
  after: z.string(),
  /** Background work made it [A3]: what its person is to be told; empty once they were. */
  background: z.string().optional(),
});

interface FormerNote extends z.infer<typeof headSchema> {
  /** Where it is kept. */
  readonly keptAt: string;
  /** As stored, readers' mark included; empty where there was none. */
  readonly before: string;
}

/** A note, and what it becomes. */
export interface WrittenNote {
  readonly key: string;
  readonly before: string | undefined;
  readonly after: string;
}

interface UndoableNotesPorts {
  readonly store: Pick<Store, 'read' | 'readText' | 'writeText' | 'remove' | 'list'>;
  /** The users' write queue, as far as it orders changes of the owners' workspace. */
  readonly writes: Pick<Writes, 'runInWorkspace'>;
  readonly clock: Clock;
  /** Has `expire` called for a person from a time on; rejects with `StoreError`. Default: somebody calls it anyway. */
  readonly expireAt?: (userId: string, time: Date) => Promise<void>;
}

export type UndoableNotes = ReturnType<typeof createUndoableNotes>;

/**
 * Changes of notes can be undone like those of items [K5]: what a note said before is kept in
 * `users/<userId>/former/`, which no list, prompt or search reads. It is written before the change, so a kill leaves at
 * most one of a change that was never made.
 */
export function createUndoableNotes({ store, writes, clock, expireAt }: UndoableNotesPorts) {
  /** Oldest first. */
  async function formerOf(userId: string): Promise<readonly FormerNote[]> {
    const keys = (await store.list(folderOf(userId))).map(({ path }) => `${folderOf(userId)}/${path}`);
    const all = await Promise.all(keys.map(async (key) => parsed(key, (await store.readText(key)) ?? '')));
    return all.flatMap((each) => each ?? []).toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
  }

  async function removeWhere(userId: string, isGone: (note: FormerNote) => boolean): Promise<void> {
    for (const each of await formerOf(userId)) if (isGone(each)) await store.remove(each.keptAt);
  }

  /** Keeps what notes say, then lets `make` change them. Resolves with what undoes it. */
  async function keeping(
    userId: string,
    notes: readonly WrittenNote[],
    make: () => Promise<void>,
    background?: string,
  ): Promise<string | undefined> {
    const changed = notes.filter(({ before, after }) => before !== after);
    if (changed.length === 0) {
      await make();
      return undefined;
    }
    const id = randomUUID().slice(0, 8);
    // Changes within a millisecond are undone in their order, too.
    const last = Date.parse((await formerOf(userId)).at(-1)?.at ?? '1970-01-01') + 1;
    const at = new Date(Math.max(last, clock().getTime())).toISOString();
    await expireAt?.(userId, new Date(overAt({ at, background })));
    for (const [index, { key, before = '', after }] of changed.entries()) {
      const keptAt = `${folderOf(userId)}/${id}-${index}.md`;
      await store.writeText(keptAt, written({ id, at, key, after: hashOf(after), background }, before));
    }
    try {
      await make();
    } catch (error) {
      await removeWhere(userId, (each) => each.id === id).catch(() => undefined);
      throw error;
    }
    const all = await formerOf(userId);
    const surplus = changed.flatMap(({ key }) =>
      all.filter((each) => each.key === key).slice(0, -limits.formerNotes),
    );
    for (const { keptAt } of surplus) await store.remove(keptAt);
    return id;
  }

  /** The same for what background work writes, where it takes lines out of the person's notebook [A3]. */
  async function changeInBackground(
    userId: string,
    all: readonly WrittenNote[],
    make: () => Promise<void>,
  ): Promise<void> {
    const notes = all.filter(({ key }) => !key.startsWith('sessions/'));
    const losses = notes.flatMap(({ key, before = '', after }) => lostLines(before, [after]).map(() => key));
    if (losses.length === 0) return make();
    const names = Array.from(new Set(losses), (key) => `\`${nameOf(key)}\``).join(', ');
    const lines = counted(losses.length, 'line');
    const background = `📝 Looking back, I took ${lines} out of ${names}. For thirty days, Undo puts ${losses.length === 1 ? 'it' : 'them'} back`;
    await keeping(userId, notes, make, background);
  }

  /** No former note of the person may return, or none that a tool changed. */
  function finish(userId: string, which: 'all' | 'of tools'): Promise<void> {
    return removeWhere(userId, ({ background }) => which === 'all' || background === undefined);
  }

  /** The former notes that are kept of what background work changed. */
  async function* kept(userId: string): AsyncGenerator<ExportedFile> {
    const { note } = await readWithheld(store, userId);
    for (const { id, key, before, background } of await formerOf(userId)) {
      const text = note(key, before) ?? '';
      if (background !== undefined && text !== '')
        yield { path: `notebook/.former/${id}/${nameOf(key)}`, text };
    }
  }

  /** All that is kept of the person's notes. */
  async function formers(
    userId: string,
  ): Promise<readonly { readonly key: string; readonly text: string }[]> {
    const all = await formerOf(userId);
    return all.flatMap(({ key, before }) => (before === '' ? [] : [{ key, text: before }]));
  }

  /** What is kept of background work becomes what `make` says; without a text it is kept no longer. */
  async function rewriteKept(
    userId: string,
    make: (key: string, text: string) => string | undefined,
  ): Promise<void> {
    for (const each of await formerOf(userId)) {
      const { keptAt, key, before, background } = each;
      if (background === undefined || before === '') continue;
      const text = make(key, before);
      if (text === undefined) await store.remove(keptAt);
      else if (text !== before) await store.writeText(keptAt, written(each, text));
    }
  }

  /**
   * What the person's next answer tells of it, in direct messages, where alone a notebook is read [V3]; `markTold` is to
   * be called once it has. Rejects with `StoreError`.
   */
  async function untold({ speaker, place }: Pick<TurnContext, 'speaker' | 'place'>) {
    const notices = new Map<string, MemoryNotice>();
    const all = place.audience === 'dm' ? await changesOf(speaker.id) : [];
    for (const { id, background: line = '' } of all)
      if (line !== '') notices.set(id, { line, bareLine: line, buttons: undoButton(id) });
    const markTold = async (): Promise<void> => {
      for (const each of await formerOf(speaker.id))
        if (notices.has(each.id))
          await store.writeText(each.keptAt, written({ ...each, background: '' }, each.before));
    };
    return { notices: [...notices.values()], markTold };
  }

  /** What can be undone, oldest first. A process may have been killed before it made a change: that is none. */
  async function changesOf(userId: string) {
    const keptNotes = await formerOf(userId);
    const ids = [...new Set(keptNotes.map(({ id }) => id))];
    const all = ids.map(async (id) => {
      const notes = keptNotes.filter((each) => each.id === id);
      const states = await Promise.all(notes.map(stateOf));
      const [first] = notes;
      if (first === undefined || overAt(first) <= clock().getTime()) return [];
      const isUnmade = states.every((state) => state === 'reverted');
      const { at, background } = first;
      return isUnmade ? [] : [{ id, at, background, notes, isOvertaken: states.includes('overtaken') }];
    });
    return (await Promise.all(all)).flat();
  }

  async function stateOf({ key, before, after }: FormerNote): Promise<'made' | 'reverted' | 'overtaken'> {
    const present = (await store.readText(key)) ?? '';
    if (present === before) return 'reverted';
    return hashOf(present) === after ? 'made' : 'overtaken';
  }

  async function revert(note: FormerNote): Promise<void> {
    const { key, before } = note;
    const state = await stateOf(note);
    if (state === 'made') await (before === '' ? store.remove(key) : store.writeText(key, before));
    if (state !== 'overtaken' || before === '') return;
    // Of background work: what the note says since stays, and what it lost comes behind it.
    const present = (await store.readText(key)) ?? '';
    await store.writeText(key, `${[present.trimEnd(), ...lostLines(before, [present])].join('\n')}\n`);
  }

  const part: UndoablePart = {
    list: async (userId) =>
      (await changesOf(userId)).map(({ id, at, background }) => ({
        id,
        what: 'note',
        at,
        isBackground: background !== undefined,
      })),
    async undo(userId, id) {
      const found = (await changesOf(userId)).find((each) => each.id === id);
      if (found?.isOvertaken === true && found.background === undefined) return false;
      for (const note of found?.notes ?? []) {
        // Undoing runs in the person's own queue already.
        const isShared = note.key.startsWith('workspace/');
        await (isShared ? writes.runInWorkspace(() => revert(note)) : revert(note));
        await store.remove(note.keptAt);
      }
      return true;
    },
  };

  return {
    /** What a tool changes can be undone, unless something of it was changed since. */
    change: keeping,
    changeInBackground,
    finish,
    kept,
    formers,
    rewriteKept,
    untold,
    part,
    /** No former note of these conversations may return. */
    finishIn: (userId: string, sessions: readonly SessionKey[]): Promise<void> =>
      removeWhere(userId, ({ key }) => sessions.some((each) => key.startsWith(`${sessionFolder(each)}/`))),
    /** Deletes what can be undone no more [S7]; safe to repeat, and to call too early. */
    async expire(userId: string): Promise<void> {
      await removeWhere(userId, (each) => overAt(each) <= clock().getTime());
      const times = (await formerOf(userId)).map(overAt);
      if (times.length > 0) await expireAt?.(userId, new Date(Math.min(...times)));
    },
  };
}

function folderOf(userId: string): string {
  return `users/${assertSnowflake(userId)}/former`;
}

/** When it can be undone no more; milliseconds since the epoch. */
function overAt({ at, background }: Pick<FormerNote, 'at' | 'background'>): number {
  return Date.parse(at) + (background === undefined ? undoForMs : backgroundForMs);
}

function written(head: z.infer<typeof headSchema>, before: string): string {
  return `<!-- ${JSON.stringify(headSchema.parse(head))} -->\n${before}`;
}

/** `undefined` for what somebody put there by hand. */
function parsed(keptAt: string, text: string): FormerNote | undefined {
  const [, json = '', before = ''] = /^<!-- (.*) -->\n([^]*)$/u.exec(text) ?? [];
  const head = headSchema.safeParse(parsedJson(json)).data;
  return head && { ...head, keptAt, before };
}

function parsedJson(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return undefined;
  }
}

/** As people know the file. */
function nameOf(key: string): string {
  return key.replace(/^(?:workspace|users\/\d+\/notebook)\//u, '');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
