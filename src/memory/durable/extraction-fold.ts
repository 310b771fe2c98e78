import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { sessionName, type Place, type SessionKey } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import { audienceOf } from '../../core/visibility.ts';
import type { SessionWork } from '../../core/writes.ts';
import type { MemoryLayer } from '../layer.ts';
import type { UserMessage } from '../log/records.ts';
import type { SessionLog } from '../log/session-log.ts';
import { changeState, readState, type SessionStates } from '../log/session-state.ts';
import type { CaptureMode } from '../settings/person-settings.ts';
import type { Extraction, ExtractionMessage } from './extraction.ts';
import type { UndoingOptions } from './undoing.ts';

/** After so many unusable answers in a row the messages they were about are passed over: something in them makes the model fail. */
const unusableAnswers = 3;

interface Unseen {
  readonly session: SessionWork;
  readonly speakerName: string;
  readonly messages: readonly UserMessage[];
  /** Where the session's cursor goes when the call has succeeded. */
  readonly last: number;
}

/**
 * Auto-extraction as work after a turn [A2]: all that a user's waiting sessions hold unseen goes into one call; cursors move only when it
 * succeeded, or had no usable answer three times in a row. A message that was edited since is looked at once more [G5].
 */
export function createExtractionFold(ports: {
  readonly extraction: Pick<Extraction, 'extract'>;
  readonly sessionLog: Pick<SessionLog, 'since' | 'message' | 'logged' | 'answerBefore'>;
  readonly states: Pick<SessionStates, 'read' | 'update'>;
  /** What may be noticed in what a person says [K9]. Must not reject. Default: all of it. */
  readonly modeOf?: (userId: string) => Promise<CaptureMode>;
  readonly logger: Logger;
}): NonNullable<MemoryLayer['fold']> {
  const { extraction, sessionLog, states, modeOf, logger } = ports;
  /** Unusable answers in a row since a session's cursor last moved, and the last line that the first of them was about. */
  const unusable = new Map<string, { readonly count: number; readonly last: number }>();

  async function unseenOf(session: SessionWork): Promise<Unseen | undefined> {
    const { extraction: cursor, speakerName = '' } = await states.read(session);
    if (cursor === undefined) return undefined;
    const { messages, withdrawals, last } = await sessionLog.since(session, cursor.cursor);
    if (last === cursor.cursor) return undefined;
    // What was edited since it was looked at is looked at again.
    const earlier = withdrawals.filter(({ of }) => of <= cursor.cursor).map(({ id }) => id);
    const edited = await Promise.all([...new Set(earlier)].map((id) => sessionLog.logged(session, id)));
    return {
      session,
      speakerName,
      last,
      messages: [...edited, ...messages.map(({ message }) => message)].filter(
        (message): message is UserMessage => message?.role === 'user',
      ),
    };
  }

  return async (userId, sessions, signal) => {
    if ((await modeOf?.(userId)) === 'off') return;
    const unseen = (await Promise.all(sessions.map(unseenOf))).filter((each) => each !== undefined);
    const origins = new Map<string, SessionKey>();
    const found = unseen.flatMap(({ session, messages: all }) =>
      all.map(async (message): Promise<ExtractionMessage> => {
        origins.set(message.id, session);
        return {
          id: message.id,
          text: message.text,
          answerBefore: await sessionLog.answerBefore(session, message.id),
          at: message.at,
          place: placeOf(session, message),
          ...(message.mode === undefined ? {} : { mode: message.mode }),
        };
      }),
    );
    const messages = await Promise.all(found);
    const [first] = unseen;
    if (first !== undefined && messages.length > 0) {
      const stillThere = async (messageId: string): Promise<string | undefined> => {
        const session = origins.get(messageId);
        return session === undefined ? undefined : sessionLog.message(session, messageId);
      };
      const oldestFirst = messages.toSorted((a, b) => (a.at < b.at ? -1 : 1));
      try {
        await extraction.extract(first.session, first.speakerName, oldestFirst, stillThere, signal);
      } catch (error) {
        if (error instanceof ModelError && error.failure === 'invalid')
          for (const each of unseen) await countUnusable(each);
        throw error;
      }
    }
    for (const { session, last } of unseen) await moveCursor(session, last);
  };

  async function countUnusable({ session, last }: Unseen): Promise<void> {
    const name = sessionName(session);
    const before = unusable.get(name) ?? { count: 0, last };
    unusable.set(name, { ...before, count: before.count + 1 });
    if (before.count + 1 < unusableAnswers) return;
    logger.warn('no usable extraction; skipping these messages', {
      session: name,
      upTo: before.last,
    });
    await moveCursor(session, before.last);
  }

  async function moveCursor(session: SessionWork, last: number): Promise<void> {
    unusable.delete(sessionName(session));
    await states.update(session, (state) =>
      state.extraction === undefined || state.extraction.cursor >= last
        ? state
        : { ...state, extraction: { cursor: last } },
    );
  }
}

/** How far each of a person's conversations was looked at, for what is undone [K5]; as parts of a job of their queue. Rejects with `StoreError`. */
export function createExtractionCursors({
  store,
  sessionsOf,
}: {
  readonly store: Store;
  readonly sessionsOf: (userId: string) => Promise<readonly SessionKey[]>;
}): NonNullable<UndoingOptions['noticing']> {
  return {
    async cursors(userId) {
      const all = await Promise.all(
        (await sessionsOf(userId)).map(async (session) => {
          const { extraction } = await readState(store, session);
          return extraction && { channelId: session.channelId, cursor: extraction.cursor };
        }),
      );
      return all.filter((each) => each !== undefined);
    },
    async rewind(userId, cursors) {
      for (const { channelId, cursor } of cursors)
        await changeState(store, { channelId, userId }, (state) =>
          state.extraction === undefined || state.extraction.cursor <= cursor
            ? state
            : { ...state, extraction: { cursor } },
        );
    },
  };
}

/** The place that a message was logged in, with its audience at that time. */
function placeOf({ channelId }: SessionKey, message: UserMessage): Place {
  const { visibility, homeId, readers, guildId, channelName } = message;
  return {
    audience: audienceOf(visibility),
    channelId,
    homeId,
    ...(readers === undefined ? {} : { readers }),
    ...(guildId === undefined ? {} : { guildId }),
    ...(channelName === undefined ? {} : { channelName }),
  };
}
