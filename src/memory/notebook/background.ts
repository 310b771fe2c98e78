import { StoreError } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { WithPauses } from '../../core/model.ts';
import type { Place } from '../../core/place.ts';
import type { DocumentKind, Store, StoredFile, Versioned } from '../../core/store.ts';
import type { TurnContext, TurnMessage } from '../../core/turn-context.ts';
import type { SessionWork, Writes } from '../../core/writes.ts';
import { sessionFolder, type SessionState, type SessionStates } from '../log/session-state.ts';
import { createNotebookFiles, type NotebookStore } from './files.ts';
import { lossProblem } from './losses.ts';
import { notebookIndex } from './sections.ts';
import { createNotebookTools } from './tools.ts';
import type { UndoableNotes, WrittenNote } from './undoable.ts';

export interface BackgroundOptions {
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: Writes;
  readonly states: Pick<SessionStates, 'read'>;
  /** Keeps what is taken out of a person's notebook. Default: nothing. */
  readonly undoable?: Pick<UndoableNotes, 'changeInBackground'>;
  readonly modelName: string;
  /** IANA. */
  readonly timeZone: string;
  readonly withPauses: WithPauses;
  readonly clock: Clock;
}

/** Whose notes are worked on: the session, and where it was last. */
export interface BackgroundSession {
  readonly session: SessionWork;
  readonly place: Place;
  readonly state: Pick<SessionState, 'speakerName' | 'isOwner'>;
}

/** Of the index in a reflection. */
const indexMaxChars = 8000;

export type BackgroundNotes = ReturnType<typeof openNotes>;

/**
 * The notes as one piece of background work has them, until it commits: the session's own, in DMs the person's
 * notebook too, by the tools and checks of every turn, with read marks of its own. `spoken` is what the person said in
 * what it looks back on.
 */
export function openNotes(
  { store, writes, undoable, timeZone }: BackgroundOptions,
  { session, place, state }: BackgroundSession,
  spoken = '',
) {
  const folders = [`${sessionFolder(session)}/`];
  if (place.audience === 'dm') {
    folders.push(state.isOwner === true ? 'workspace/' : `users/${session.userId}/notebook/`);
  }
  const staged = createStagedFiles(
    store,
    (key) => folders.some((folder) => key.startsWith(folder)) && !isForEveryPrompt(key),
    spoken,
    (...change) => undoable?.changeInBackground(session.userId, ...change) ?? change[1](),
  );
  const files = createNotebookFiles(staged, writes);
  const index = notebookIndex(files, timeZone, indexMaxChars);
  return {
    files,
    tools: createNotebookTools(files, timeZone),
    /** A file's whole text, which counts as read [M4]; `undefined` where none may be used here. */
    async read(this: void, path: string, context: TurnContext): Promise<string | undefined> {
      const opened = await files.open(path, context);
      if (opened.outcome === 'refused' || opened.content === undefined) return undefined;
      files.markRead(context, opened.file, opened.content);
      return opened.content;
    },
    index: (context: TurnContext) => index.sections(context),
    commit: (alongside: () => Promise<void>) => staged.commit(alongside),
  };
}

/** What the owner writes for every prompt is in nobody's notebook [N1][N8]. */
function isForEveryPrompt(key: string): boolean {
  return key === 'workspace/SOUL.md' || key.startsWith('workspace/channels/');
}

/** The work as a turn of the person in the session's last place, without anybody else's text [M5a]. */
export function contextOf(
  { session, place, state }: BackgroundSession,
  messages: readonly TurnMessage[],
  now: Date,
): TurnContext {
  const speaker = { id: session.userId, name: state.speakerName ?? '', isOwner: state.isOwner === true };
  return { speaker, place, messages, now, work: session, hasThirdPartyText: false };
}

/** A job of all the queues that order changes of these notes [S3]; the owners' workspace has its own. */
export function inWriteQueues<T>(
  writes: Writes,
  { session, state }: Pick<BackgroundSession, 'session' | 'state'>,
  job: () => Promise<T>,
): Promise<T> {
  return writes.run(session, () => (state.isOwner === true ? writes.runInWorkspace(job) : job()));
}

/** Carries out `make`, which writes all this. */
type Change = (written: readonly WrittenNote[], make: () => Promise<void>) => Promise<void>;

/**
 * Writes wait for `commit`, reads see them. Other keys reject with `StoreError` [V2][V3], and so does a write by which
 * the whole would lose more than background work may take [A3].
 */
export function createStagedFiles(
  store: NotebookStore & Pick<Store, 'remove'>,
  isOwn: (key: string) => boolean,
  spoken = '',
  change: Change = (_written, make) => make(),
) {
  const seenTexts = new Map<string, string | undefined>();
  const staged = new Map<string, string>();
  /** By key, whether a document is as it was when it was read first: what is withheld must not come in. */
  const areSeen = new Map<string, () => Promise<boolean>>();

  async function write(changed: readonly WrittenNote[], alongside: () => Promise<void>): Promise<void> {
    try {
      for (const { key, after } of changed) await store.writeText(key, after);
      await alongside();
    } catch (error) {
      // If the disk refuses this too, the first error is what counts.
      for (const { key, before } of changed.toReversed())
        await (before === undefined ? store.remove(key) : store.writeText(key, before)).catch(
          () => undefined,
        );
      throw error;
    }
  }

  async function seen(key: string): Promise<string | undefined> {
    check(key, key);
    if (!seenTexts.has(key)) seenTexts.set(key, await store.readText(key));
    return seenTexts.get(key);
  }

  async function isAsSeen(): Promise<boolean> {
    for (const isSame of areSeen.values()) if (!(await isSame())) return false;
    for (const [key, text] of seenTexts) {
      if ((await store.readText(key)) !== text) return false;
    }
    return true;
  }

  function check(key: string, named: string): void {
    if (!isOwn(key)) throw new StoreError(`${named} does not belong to this notebook`, named);
  }

  return {
    async read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined> {
      const document = await store.read(key, kind);
      const seenThen = JSON.stringify(document);
      const isSame = async () => JSON.stringify(await store.read(key, kind)) === seenThen;
      if (!areSeen.has(key)) areSeen.set(key, isSame);
      return document;
    },

    async readText(key: string): Promise<string | undefined> {
      const present = await seen(key);
      return staged.get(key) ?? present;
    },

    async writeText(key: string, text: string): Promise<void> {
      await seen(key);
      const all = new Map(staged).set(key, text);
      for (const [each, after] of all) {
        const elsewhere = [...all].flatMap(([other, otherText]) => (other === each ? [] : [otherText]));
        const problem = lossProblem(seenTexts.get(each) ?? '', after, elsewhere, spoken);
        if (problem !== undefined)
          throw new StoreError(`${each === key ? key : 'Another note'} ${problem}`, key);
      }
      staged.set(key, text);
    },

    async list(folder: string): Promise<readonly StoredFile[]> {
      check(`${folder}/`, folder);
      const sizes = new Map((await store.list(folder)).map(({ path, bytes }) => [path, bytes]));
      for (const [key, text] of staged) {
        if (key.startsWith(`${folder}/`)) sizes.set(key.slice(folder.length + 1), Buffer.byteLength(text));
      }
      const files = Array.from(sizes, ([path, bytes]) => ({ path, bytes }));
      return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },

    /** Writes all, then `alongside`; `false`, with nothing written, where a text that was read has changed. All or nothing. */
    async commit(alongside: () => Promise<void>): Promise<boolean> {
      if (!(await isAsSeen())) return false;
      const changed = Array.from(staged, ([key, after]) => ({ key, before: seenTexts.get(key), after }));
      const real = changed.filter(({ before, after }) => after !== before);
      await change(real, () => write(real, alongside));
      return true;
    },
  };
}
