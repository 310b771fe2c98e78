import { ModelError, StoreError } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { Logger } from '../../core/logger.ts';
import type { WithPauses } from '../../core/model.ts';
import { sessionName, type Place, type SessionKey } from '../../core/place.ts';
import type { Section } from '../../core/section.ts';
import type { DocumentKind, Store, StoredFile, Versioned } from '../../core/store.ts';
import type { Tool } from '../../core/tool.ts';
import type { TurnContext, TurnMessage } from '../../core/turn-context.ts';
import type { SessionWork, Writes } from '../../core/writes.ts';
import { sessionFolder, type SessionState, type SessionStates } from '../log/session-state.ts';
import type { NotebookStore } from './files.ts';
import { lossProblem } from './losses.ts';
import type { UndoableNotes, WrittenNote } from './undoable.ts';

/** The notes as one piece of background work has them, by the context's place [V3]. */
export interface OpenedNotebook {
  readonly tools: readonly Tool[];
  /** A file's whole text, which counts as read [M4]; `undefined` where none may be used here. */
  read(path: string, context: TurnContext): Promise<string | undefined>;
  /** The paths of all facts files. */
  factPaths(context: TurnContext): Promise<readonly string[]>;
  /** The index of the notebook [N3]. */
  index(context: TurnContext): Promise<readonly Section[]>;
}

/** Each opening starts with nothing read. */
export type OpenNotebook = (files: NotebookStore) => OpenedNotebook;

export interface BackgroundOptions {
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: Writes;
  readonly states: Pick<SessionStates, 'read'>;
  readonly openNotebook: OpenNotebook;
  /** Keeps what is taken out of a person's notebook. Default: nothing. */
  readonly undoable?: Pick<UndoableNotes, 'changeInBackground'>;
  readonly modelName: string;
  readonly withPauses: WithPauses;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Whose notes are worked on: the session, and where it was last. */
export interface BackgroundSession {
  readonly session: SessionWork;
  readonly place: Place;
  readonly state: Pick<SessionState, 'speakerName' | 'isOwner'>;
}

/**
 * The files that a session's work may touch: its own, in DMs the person's notebook too. `spoken` is what the person
 * said in what it looks back on.
 */
export function stageFiles(
  { store, undoable }: Pick<BackgroundOptions, 'store' | 'undoable'>,
  { session, place, state }: BackgroundSession,
  spoken = '',
): StagedFiles {
  const folders = [`${sessionFolder(session)}/`];
  if (place.audience === 'dm') {
    folders.push(state.isOwner === true ? 'workspace/' : `users/${session.userId}/notebook/`);
  }
  return createStagedFiles(
    store,
    (key) => folders.some((folder) => key.startsWith(folder)) && !isForEveryPrompt(key),
    spoken,
    (...change) => undoable?.changeInBackground(session.userId, ...change) ?? change[1](),
  );
}

/** What the owner writes for every prompt is in nobody's notebook [N1][N8]. */
function isForEveryPrompt(key: string): boolean {
  return key === 'workspace/SOUL.md' || key.startsWith('workspace/channels/');
}

/** Failures of model and disk are logged and resolve with `failed`. */
export async function orFailed<T>(
  work: () => Promise<T>,
  event: string,
  session: SessionKey,
  logger: Logger,
): Promise<T | 'failed'> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ModelError || error instanceof StoreError)) throw error;
    const of = error instanceof ModelError ? { failure: error.failure } : { key: error.key };
    logger.warn(event, { session: sessionName(session), ...of, reason: error.message });
    return 'failed';
  }
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

export type StagedFiles = ReturnType<typeof createStagedFiles>;

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
  const seenFolders = new Map<string, readonly StoredFile[]>();
  const staged = new Map<string, string>();
  /** By key, whether a document is as it was when it was read first: what is withheld must not come in. */
  const areSeen = new Map<string, () => Promise<boolean>>();

  async function write(changed: readonly WrittenNote[], alongside: () => Promise<void>): Promise<void> {
    const written: string[] = [];
    try {
      for (const { key, after } of changed) {
        written.push(key);
        await store.writeText(key, after);
      }
      await alongside();
    } catch (error) {
      // If the disk refuses this too, the first error is what counts.
      for (const key of written.toReversed()) await restore(key).catch(() => undefined);
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
    for (const [folder, files] of seenFolders) {
      if (namesAndSizes(await store.list(folder)) !== namesAndSizes(files)) return false;
    }
    return true;
  }

  async function restore(key: string): Promise<void> {
    const text = seenTexts.get(key);
    await (text === undefined ? store.remove(key) : store.writeText(key, text));
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
      const present = seenFolders.get(folder) ?? (await store.list(folder));
      seenFolders.set(folder, present);
      const sizes = new Map(present.map(({ path, bytes }) => [path, bytes]));
      for (const [key, text] of staged) {
        if (key.startsWith(`${folder}/`)) sizes.set(key.slice(folder.length + 1), Buffer.byteLength(text));
      }
      const files = Array.from(sizes, ([path, bytes]) => ({ path, bytes }));
      return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },

    /** Writes all, then `alongside`; `false`, with nothing written, where anything read has changed. All or nothing. */
    async commit(alongside: () => Promise<void>): Promise<boolean> {
      if (!(await isAsSeen())) return false;
      const changed = Array.from(staged, ([key, after]) => ({ key, before: seenTexts.get(key), after }));
      const real = changed.filter(({ before, after }) => after !== before);
      await change(real, () => write(real, alongside));
      return true;
    },
  };
}

function namesAndSizes(files: readonly StoredFile[]): string {
  return JSON.stringify(files.map(({ path, bytes }) => [path, bytes]));
}
