import { ModelError, StoreError } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { Logger } from '../../core/logger.ts';
import { sessionName } from '../../core/place.ts';
import type { SessionKey } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import { mayUse } from '../../core/visibility.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import { inBatches } from '../rolling/write-summary.ts';
import { wholeTurns } from '../session-log/fold-log.ts';
import type { SequencedMessage } from '../session-log/fold-log.ts';
import type { SessionLog } from '../session-log/session-log.ts';
import { changeState } from '../session-log/session-state.ts';
import type { SessionState, SessionStates } from '../session-log/session-state.ts';
import { contextOf, inLanes, stagedFilesOf } from './background-work.ts';
import type { BackgroundSession, OpenNotebook, RunLoop } from './background-work.ts';
import { reflectionRequest } from './reflection-request.ts';
import type { StagedFiles } from './staged-files.ts';

/** Rounds of tool calls at most [A3]. */
const maxRounds = 5;
/** Fewer messages than these hold nothing that a model call would pay for. */
const leastMessages = 6;
const leastOwnMessages = 2;
/** Characters of turns that one look back takes; what is over waits for the next. */
const turnsMaxChars = 40_000;

/**
 * What came of it: too little was said since; all was looked at, be it that nothing was new; the model or the disk failed, and nothing has changed; or
 * a reset, an edit, a deletion or a change of the same files came meanwhile, and the result was dropped [A4].
 */
export type ReflectionOutcome = 'nothing-to-learn' | 'done' | 'failed' | 'dropped';

/** Looks back on conversations and keeps notes on them [A3]: a fold over the session's own log, with a cursor of its own. */
export interface Reflection {
  /** When the session is to be looked at if nothing more is said; `undefined` while there is too little to learn from. */
  dueAt(session: SessionKey): Promise<Date | undefined>;
  /** Looks at what was said since, due or not. Failures of model and disk are logged, not thrown. */
  reflect(session: SessionKey, signal?: AbortSignal): Promise<ReflectionOutcome>;
}

export interface ReflectionOptions {
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: KeyedQueue;
  readonly states: Pick<SessionStates, 'read'>;
  readonly sessionLog: Pick<SessionLog, 'since'>;
  readonly openNotebook: OpenNotebook;
  readonly runLoop: RunLoop;
  readonly modelName: string;
  /** Milliseconds without a message after which a session is idle. */
  readonly idleMs: number;
  readonly clock: Clock;
  /** IANA. */
  readonly timeZone: string;
  readonly logger: Logger;
}

/** What a session holds that was not looked at, if it is enough. */
interface Unseen extends BackgroundSession {
  readonly state: SessionState;
  readonly from: number;
  /** Whole turns, those only that may be used in the session's place. */
  readonly messages: readonly SequencedMessage[];
  /** The newest log line looked at. */
  readonly seen: number;
}

export function createReflection(options: ReflectionOptions): Reflection {
  const { store, writes, states, sessionLog, logger } = options;

  async function unseenOf(session: SessionKey): Promise<Unseen | undefined> {
    const state = await states.read(session);
    const from = beginOf(state);
    const { place } = state;
    if (from === undefined || place === undefined) return undefined;
    const fold = await sessionLog.since(session, from);
    const messages = wholeTurns(fold.messages).messages.filter(({ message: { visibility, homeId } }) =>
      mayUse({ ownerId: session.userId, visibility, homeId }, place, session.userId),
    );
    return isEnough(messages) ? { session, state, place, from, messages, seen: fold.last } : undefined;
  }

  async function lookAt(
    unseen: Unseen,
    batch: readonly SequencedMessage[],
    signal: AbortSignal | undefined,
  ): Promise<'done' | 'dropped'> {
    const { timeZone, modelName } = options;
    const files = stagedFilesOf(store, unseen);
    const notebook = options.openNotebook(files);
    const messages = batch.map(({ message }) => message);
    const own = messages.filter(({ role }) => role === 'user');
    // Days are those of the conversation, also when it is looked at after midnight or after a stop.
    const context = contextOf(unseen, own, new Date(messages.at(-1)?.at ?? options.clock()));
    const request = await reflectionRequest(modelName, notebook, context, messages, timeZone);
    const { stop } = await options.runLoop(request, notebook.tools, context, signal, maxRounds);
    if (stop !== 'end' && stop !== 'rounds') throw new ModelError(`It ended by ${stop}`, 'invalid');
    if (signal?.aborted === true) throw new ModelError('It was given up', 'aborted');
    return inLanes(writes, unseen, () => commit(unseen, batch.at(-1)?.sequence ?? unseen.from, files));
  }

  async function commit(
    { session, from, seen }: Unseen,
    cursor: number,
    files: StagedFiles,
  ): Promise<'done' | 'dropped'> {
    const { withdrawals } = await sessionLog.since(session, seen);
    if (beginOf(await states.read(session)) !== from || withdrawals.length > 0) return 'dropped';
    const isDone = await files.commit(async () => {
      await changeState(store, session, (state) => ({ ...state, reflection: { cursor } }));
    });
    return isDone ? 'done' : 'dropped';
  }

  async function reflect(
    session: SessionKey,
    signal: AbortSignal | undefined,
  ): Promise<Exclude<ReflectionOutcome, 'failed'>> {
    for (let outcome: 'nothing-to-learn' | 'done' = 'nothing-to-learn'; ; outcome = 'done') {
      const unseen = await unseenOf(session);
      const [batch] = inBatches(unseen?.messages ?? [], turnsMaxChars);
      if (unseen === undefined || batch === undefined) return outcome;
      if ((await lookAt(unseen, batch, signal)) === 'dropped') return 'dropped';
    }
  }

  return {
    async dueAt(session) {
      const unseen = await unseenOf(session);
      if (unseen === undefined) return undefined;
      const now = options.clock().getTime();
      if (isSummaryReplaced(unseen)) return new Date(now);
      // Discord's clock may be ahead of this machine's.
      const last = Math.min(now, Date.parse(unseen.messages.at(-1)?.message.at ?? ''));
      return new Date(last + options.idleMs);
    },
    async reflect(session, signal) {
      try {
        return await reflect(session, signal);
      } catch (error) {
        if (!(error instanceof ModelError || error instanceof StoreError)) throw error;
        logger.warn('a conversation could not be looked back on; it is tried again later', {
          session: sessionName(session),
          ...(error instanceof ModelError ? { failure: error.failure } : { key: error.key }),
          reason: error.message,
        });
        return 'failed';
      }
    },
  };
}

/** Where the next look begins: after what was looked at, and never before a reset [A4]; `undefined` for a session that it never began for. */
function beginOf({ reflection, rolling }: SessionState): number | undefined {
  return reflection === undefined ? undefined : Math.max(reflection.cursor, rolling?.from ?? 0);
}

function isEnough(messages: readonly SequencedMessage[]): boolean {
  const own = messages.filter(({ message }) => message.role === 'user');
  return messages.length >= leastMessages && own.length >= leastOwnMessages;
}

/** Whether a summary took another's place after the last look; the first change of a session's record has none to replace. */
function isSummaryReplaced({ state: { rolling }, from }: Unseen): boolean {
  return rolling?.summary !== undefined && rolling.revision > 1 && rolling.cursor > from;
}
