import { ModelError, StoreError } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { Logger } from '../../core/logger.ts';
import { sessionName } from '../../core/place.ts';
import type { SessionKey } from '../../core/place.ts';
import type { ModelClient } from '../../core/model.ts';
import type { Store } from '../../core/store.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import { changeState } from '../session-log/session-state.ts';
import type { SessionStates } from '../session-log/session-state.ts';
import { contextOf, inLanes, stagedFilesOf } from './background-work.ts';
import type { BackgroundSession, OpenedNotebook, OpenNotebook } from './background-work.ts';
import { lostLines } from './lost-lines.ts';
import { trimRequest, trimmedProfile } from './trim-request.ts';
import type { TrimmedProfile } from './trim-request.ts';

const weekMs = 7 * 24 * 60 * 60_000;
/** Topics files that one trimming may touch. */
const maxTopics = 12;

/**
 * What came of it: no overlong profile, or one looked at less than a week ago; a shorter profile; an answer that loses a line or breaks a limit,
 * so that the old file stays as it is for another week; a model or disk that failed; a file that changed meanwhile.
 */
export type TrimOutcome = 'not-due' | 'trimmed' | 'refused' | 'failed' | 'dropped';

/** Once a week moves less essential lines of an overlong USER.md to topics [N7]. No line is ever lost. */
export interface WeeklyTrim {
  /** For the person's DM; other sessions are never due. Failures of model and disk are logged, not thrown. */
  trimIfDue(session: SessionKey, signal?: AbortSignal): Promise<TrimOutcome>;
}

export interface WeeklyTrimOptions {
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: KeyedQueue;
  readonly states: Pick<SessionStates, 'read'>;
  readonly openNotebook: OpenNotebook;
  readonly model: Pick<ModelClient, 'complete'>;
  readonly modelName: string;
  /** Characters over which USER.md is overlong. */
  readonly profileMaxChars: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createWeeklyTrim(options: WeeklyTrimOptions): WeeklyTrim {
  const { store, writes, states, model, modelName, profileMaxChars, clock, logger } = options;

  async function trim(session: SessionKey, signal: AbortSignal | undefined): Promise<TrimOutcome> {
    const { place, ...state } = await states.read(session);
    if (place?.audience !== 'dm' || !isWeekOver(state.trimmedAt)) return 'not-due';
    const work = { session, place, state };
    const files = stagedFilesOf(store, work);
    const notebook = options.openNotebook(files);
    const context = contextOf(work, [], clock());
    const profile = await notebook.read('USER.md', context);
    if (profile === undefined || profile.length <= profileMaxChars) return 'not-due';

    const request = trimRequest(modelName, profile, profileMaxChars);
    const answer = trimmedProfile(await model.complete(request, signal === undefined ? {} : { signal }));
    const problem = await stage(notebook, context, profile, answer);
    if (problem !== undefined) {
      logger.warn('a profile could not be trimmed; it stays as it is', { userId: session.userId, problem });
      await inLanes(writes, work, () => markTrimmed(work));
      return 'refused';
    }
    const isDone = await inLanes(writes, work, () => files.commit(() => markTrimmed(work)));
    return isDone ? 'trimmed' : 'dropped';
  }

  async function markTrimmed({ session }: BackgroundSession): Promise<void> {
    await changeState(store, session, (state) => ({ ...state, trimmedAt: clock().toISOString() }));
  }

  function isWeekOver(trimmedAt: string | undefined): boolean {
    return trimmedAt === undefined || clock().getTime() - Date.parse(trimmedAt) >= weekMs;
  }

  return {
    async trimIfDue(session, signal) {
      try {
        return await trim(session, signal);
      } catch (error) {
        if (!(error instanceof ModelError || error instanceof StoreError)) throw error;
        logger.warn('a profile could not be trimmed; it is tried again later', {
          session: sessionName(session),
          reason: error.message,
        });
        return 'failed';
      }
    },
  };
}

/** Puts the answer into the files by the memory tools, with all their checks; resolves with why it may not stay, if so. */
async function stage(
  notebook: OpenedNotebook,
  context: TurnContext,
  profile: string,
  { userMd, topics }: TrimmedProfile,
): Promise<string | undefined> {
  if (userMd.length >= profile.length) return 'the profile would not be shorter';
  if (topics.length > maxTopics) return 'too many topics';
  if (topics.some(({ path }) => !path.startsWith('topics/'))) return 'a file outside of topics/';
  for (const { path, content } of topics) {
    const added = await runTool(notebook, 'memory_append', { path, entry: content }, context);
    if (!added) return 'a topic was refused';
  }
  if (!(await runTool(notebook, 'memory_write', { path: 'USER.md', content: userMd }, context))) {
    return 'the new profile was refused';
  }
  // What counts is what the files hold then, not what was answered.
  const paths = ['USER.md', ...topics.map(({ path }) => path)];
  const texts = await Promise.all(paths.map((path) => notebook.read(path, context)));
  const lost = lostLines(
    profile,
    texts.map((text) => text ?? ''),
  );
  return lost.length === 0 ? undefined : `${lost.length} lines would be lost`;
}

async function runTool(
  { tools }: OpenedNotebook,
  name: string,
  input: Readonly<Record<string, string>>,
  context: TurnContext,
): Promise<boolean> {
  const tool = tools.find(({ definition }) => definition.name === name);
  const outcome = await tool?.run(input, context, new AbortController().signal);
  return outcome?.ok === true;
}
