import type { Writes, SessionWork } from '../../core/writes.ts';
import type { Logger } from '../../core/logger.ts';
import type { SessionKey } from '../../core/place.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import { personOf, type MemoryLayer } from '../layer.ts';
import type { SessionLog } from '../log/session-log.ts';
import type { SessionStates } from '../log/session-state.ts';
import { createNotebookFiles } from './files.ts';
import { inlinedFile, notebookIndex } from './sections.ts';
import { createNotebookTools } from './tools.ts';
import type { UndoableNotes } from './undoable.ts';
import { readWithheld } from '../withheld.ts';
import { createNoteChanges, keysBelow, notesOfSession } from './withdraw.ts';

/** Characters of each section as rendered. */
export interface NotebookSettings {
  readonly profileMaxChars: number;
  readonly memoryMaxChars: number;
  readonly overviewMaxChars: number;
  readonly indexMaxChars: number;
}

export interface NotebookOptions {
  readonly settings: NotebookSettings;
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: Writes;
  /** IANA time zone of dates in the notebook [N5]. */
  readonly timeZone: string;
  /** Default: what the model's tools write cannot be undone. */
  readonly undoable?: Pick<
    UndoableNotes,
    'change' | 'finish' | 'finishIn' | 'formers' | 'kept' | 'rewriteKept'
  >;
  readonly states: Pick<SessionStates, 'read'>;
  readonly log: Pick<SessionLog, 'stillPresent' | 'everyOfPerson' | 'sessionsOfPerson' | 'isUnchanged'>;
  /** What is done with a session after a turn, in order. */
  readonly background?: readonly ((session: SessionWork, signal: AbortSignal) => Promise<unknown>)[];
  readonly logger: Logger;
}

/** Each person's notebook and each session's working memory; the tools are the same in every place [P2]. */
export function createNotebook(options: NotebookOptions) {
  const { settings, store, writes, log, states, timeZone, undoable, logger, background = [] } = options;
  const files = createNotebookFiles(store, writes, { log, undoable });
  const sources = [
    inlinedFile(files, 'USER.md', settings.profileMaxChars),
    inlinedFile(files, 'MEMORY.md', settings.memoryMaxChars),
    inlinedFile(files, 'overview.md', settings.overviewMaxChars),
    notebookIndex(files, timeZone, settings.indexMaxChars),
  ];

  /** All keys of a person in this layer, except those of other sessions. */
  async function keysOf(userId: string, sessions: readonly SessionKey[]): Promise<readonly string[]> {
    const notes = await Promise.all(sessions.map((session) => notesOfSession(store, session)));
    return [...(await keysBelow(store, notebookFolder(userId))), ...notes.flat()];
  }

  const changes = createNoteChanges({ store, writes, states, log, undoable });

  const layer: MemoryLayer = {
    name: 'notebook',
    /** An unreadable file costs only its own section. */
    async sections(context) {
      const read = await Promise.allSettled(sources.map((source) => source.sections(context)));
      return read.flatMap((result, index) => {
        if (result.status === 'fulfilled') return result.value;
        logger.warn('a memory layer could not be read', {
          layer: sources[index]?.name,
          error: result.reason,
        });
        return [];
      });
    },
    /** Failing work costs neither the next work nor its own next try. */
    async fold(userId, sessions, signal) {
      for (const work of background)
        for (const session of sessions) {
          if (signal.aborted) return;
          try {
            await work(session, signal);
          } catch (error) {
            logger.warn('work on a notebook failed and is tried again after the next turn', {
              userId,
              error,
            });
          }
        }
    },
    async delete(deletion) {
      const userId = personOf(deletion);
      switch (deletion.kind) {
        case 'messages':
          await undoable?.finish(userId, 'of tools');
          if (deletion.isResolved === true) return;
          return changes.deleteLines(userId, await changes.linesSaying(deletion));
        case 'words':
          await undoable?.finish(userId, 'all');
          return changes.purge(deletion);
        case 'record':
          return changes.deleteLines(userId, deletion.record.notes);
        case 'conversations':
        case 'person':
          for (const session of deletion.sessions)
            for (const key of await notesOfSession(store, session)) await store.remove(key);
          if (deletion.kind === 'conversations') return undoable?.finishIn(userId, deletion.sessions);
          await undoable?.finish(userId, 'all');
          return store.removeAll(notebookFolder(userId));
      }
    },
    async *export(userId) {
      const { note } = await readWithheld(store, userId);
      for (const key of await keysOf(userId, await log.everyOfPerson(userId))) {
        const stored = await store.readText(key);
        const text = stored && note(key, stored);
        if (text !== undefined) yield { path: exportedPath(key), text };
      }
      if (undoable !== undefined) yield* undoable.kept(userId);
    },
  };

  return {
    ...layer,
    tools: createNotebookTools(files, timeZone),
    files,
    /** What of it says what some messages said, for what is to be withheld. */
    saying: (withdrawn: Parameters<typeof changes.linesSaying>[0]) => changes.linesSaying(withdrawn),
    /** What `purge` looks through: an owner's workspace too, which no erasing takes [K11]. */
    async *purgeable(this: void, userId: string) {
      yield* changes.purgeable(userId);
      if (undoable !== undefined) yield* undoable.kept(userId);
    },
  };
}

function notebookFolder(userId: string): string {
  return `users/${assertSnowflake(userId)}/notebook`;
}

/** `notebook/…` for the person's own files, `conversations/<channelId>/…` for the notes on a conversation. */
function exportedPath(key: string): string {
  const [room, id, _user, ...rest] = key.split('/');
  return room === 'users' ? key.slice(`users/${id}/`.length) : `conversations/${id}/${rest.join('/')}`;
}
