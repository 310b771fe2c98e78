import type { Place, SessionKey } from '../../core/place.ts';
import type { ModelRequest } from '../../core/model.ts';
import type { Section } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import type { Tool } from '../../core/tool.ts';
import type { TurnContext, TurnMessage } from '../../core/turn-context.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import { sessionFolder } from '../session-log/session-keys.ts';
import type { SessionState } from '../session-log/session-state.ts';
import { StagedFiles } from './staged-files.ts';
import type { NotebookStore } from './staged-files.ts';

/** The tree of notes as one piece of background work has it. What exists where is decided by the context's place [V3]. */
export interface OpenedNotebook {
  /** The memory tools, over the same files. */
  readonly tools: readonly Tool[];
  /** A file's whole text, which then counts as read [M4]; `undefined` where there is none that may be used here. */
  read(path: string, context: TurnContext): Promise<string | undefined>;
  /** The paths of all facts files. */
  factPaths(context: TurnContext): Promise<readonly string[]>;
  /** The index of the notebook [N3]. */
  index(context: TurnContext): Promise<readonly Section[]>;
}

/** Opens the tree over files that may be staged; what was read through one opening is unread in the next. */
export type OpenNotebook = (files: NotebookStore) => OpenedNotebook;

/** A tool loop of at most so many rounds of tool calls; an answer without text is fine. Rejects with `ModelError`. */
export type RunLoop = (
  request: Omit<ModelRequest, 'tools'>,
  tools: readonly Tool[],
  context: TurnContext,
  signal: AbortSignal | undefined,
  maxRounds: number,
) => Promise<{ readonly stop: 'end' | 'cut' | 'refusal' | 'rounds' | 'timeout' }>;

/** Whose notes are worked on: the session, and where it was last. */
export interface BackgroundSession {
  readonly session: SessionKey;
  readonly place: Place;
  readonly state: Pick<SessionState, 'speakerName' | 'isOwner'>;
}

/** The files that work on a session may touch: the session's own everywhere, in DMs the person's notebook too. */
export function stagedFilesOf(store: Store, work: BackgroundSession): StagedFiles {
  const { session, place, state } = work;
  const folders = [`${sessionFolder(session)}/`];
  if (place.audience === 'dm') {
    folders.push(state.isOwner === true ? 'workspace/' : `users/${session.userId}/notebook/`);
  }
  return new StagedFiles(
    store,
    (key) => folders.some((folder) => key.startsWith(folder)) && !isOwnersAlone(key),
  );
}

/** What the owner writes for every prompt is in nobody's notebook [N1][N8]. */
function isOwnersAlone(key: string): boolean {
  return key === 'workspace/SOUL.md' || key.startsWith('workspace/channels/');
}

/** The work as a turn, for tools and readers: the person speaks, in the session's last place. Nobody else's text is in it [M5a]. */
export function contextOf(
  { session, place, state }: BackgroundSession,
  messages: readonly TurnMessage[],
  now: Date,
) {
  const speaker = {
    id: session.userId,
    name: state.speakerName ?? '',
    isOwner: state.isOwner === true,
  };
  return { speaker, place, messages, now, hasThirdPartyText: false };
}

/** A job of all the queues that order changes of these notes [S3]; owners share the workspace, which has its own. */
export function inLanes<T>(
  writes: KeyedQueue,
  { session, state }: BackgroundSession,
  job: () => Promise<T>,
): Promise<T> {
  return writes.run(session.userId, () => (state.isOwner === true ? writes.run('workspace', job) : job()));
}
