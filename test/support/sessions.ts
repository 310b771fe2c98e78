import { noAnswers } from './layers-alone.ts';
import type { Logger } from '../../src/core/logger.ts';
import type { Place, SessionKey } from '../../src/core/place.ts';
import { createOneProcess } from '../../src/core/processes.ts';
import type { Store } from '../../src/core/store.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import { RecentChanges, type MessageChange } from '../../src/core/changes.ts';
import { forgettingFor } from './forgetting.ts';
import { plainWrites } from './plain-writes.ts';
import type { ForgettingPorts } from '../../src/memory/forgetting.ts';
import { createChangeLedger, type ChangeLedger, type ChangeLedgerPorts } from '../../src/memory/changes.ts';
import type { MemoryLayer, Withdrawn, WithdrawnMessage } from '../../src/memory/layer.ts';
import type { LoggedMessage } from '../../src/memory/log/records.ts';
import { createSessionLog } from '../../src/memory/log/session-log.ts';
import { createSessionStates, type FoldName } from '../../src/memory/log/session-state.ts';
import type { CaptureMode } from '../../src/memory/settings/person-settings.ts';
import { createErasures } from '../../src/memory/settings/erasures.ts';
import { aliceId, generalId, publicPlace } from './incoming.ts';
import { ManualTimer } from './manual-timer.ts';
import { MemoryStore } from './memory-store.ts';
import { unconditional, type SessionWork } from '../../src/core/writes.ts';
import type { AnswerKeeper } from '../../src/memory/deleting.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';

export const startTime = Date.parse('2026-01-15T10:00:00.000Z');

export const secretPlace: Place = {
  audience: 'private',
  readers: ['310000000000000001', '310000000000000002'],
  channelId: generalId,
  homeId: generalId,
  guildId: '300000000000000001',
  channelName: 'general',
};

export const dmPlace: Place = {
  audience: 'dm',
  channelId: '200000000000000009',
  homeId: '200000000000000009',
};

/** A public channel of the same guild as `publicPlace`, unless changed. */
export function channel(name: string, id: string, changes: Partial<Place> = {}): Place {
  return { ...publicPlace, channelId: id, homeId: id, channelName: name, ...changes };
}

export const session: SessionWork = { channelId: generalId, userId: aliceId };

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A Discord id that is younger the greater the number. */
export function messageId(number: number): string {
  return String(400_000_000_000_000_000n + BigInt(number));
}

/** What a deletion takes out of the session, for layers that look only at places in the log. */
export function withdrawal(...sequences: readonly number[]): Withdrawn {
  return {
    kind: 'messages',
    session,
    cause: { kind: 'deleted', channelId: session.channelId, messageIds: [] },
    messages: sequences.map((sequence) => withdrawnMessage('', sequence)),
  };
}

/** A message of Alice that was deleted. */
export function withdrawnMessage(id: string, sequence = 0): WithdrawnMessage {
  const at = new Date(startTime).toISOString();
  const said = { type: 'message', role: 'user', id, at, author: 'Alice', authorId: aliceId } as const;
  const before = { ...said, text: '', attachments: [], visibility: 'everywhere', homeId: generalId } as const;
  return { sequence, before: { ...before, attachments: [] }, now: undefined };
}

/** Memory over a store, with a clock that a test can move; another one over the same store is what a restart leaves. */
export function openSessions(
  store: Store = new MemoryStore(),
  options: { activeFolds?: readonly FoldName[] } = {},
) {
  const erasures = createErasures(store);
  const writes = plainWrites((userId) => erasures.at(userId));
  const time = { now: startTime };
  const clock = (): Date => new Date(time.now);
  const timer = new ManualTimer();
  const recent = new RecentChanges();
  /** By channel, as they are now: where something was said last, unless a test changes it. */
  const places = new Map([[generalId, publicPlace]]);
  const placeOf = (channelId: string) => Promise.resolve(places.get(channelId));
  const sessionLog = createSessionLog({
    store,
    writes,
    changes: recent,
    clock,
    botName: 'Discoclaw',
    placeOf,
    ...options,
  });
  const states = createSessionStates({ store, writes });
  let newest = 0;

  function contextOf(texts: readonly string[], place: Place = publicPlace): TurnContext {
    places.set(place.channelId, place);
    return {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: texts.map((text) => {
        newest += 1;
        return { id: messageId(newest), text, at: clock().toISOString(), attachments: [] };
      }),
      now: clock(),
      hasThirdPartyText: false,
      work: unconditional(aliceId),
    };
  }

  /** Logs what Alice said; the bot has not answered yet. */
  async function say(text: string, place?: Place, mode?: CaptureMode): Promise<TurnContext> {
    const context = contextOf([text], place);
    await log.recordUser(context, mode);
    return context;
  }

  /** Logs the bot's answer; resolves with its message ids. */
  async function answer(
    context: TurnContext,
    text: string,
    parts = 1,
    thirdPartyMark?: string,
  ): Promise<readonly string[]> {
    const ids = Array.from({ length: parts }, () => {
      newest += 1;
      return messageId(newest);
    });
    await log.recordReply(context, { ids, text, at: clock().toISOString(), thirdPartyMark });
    return ids;
  }

  /** A whole turn; resolves with the ids of question and answer. */
  async function turn(asked: string, answered = `You said: ${asked}`, place?: Place): Promise<string[]> {
    const context = await say(asked, place);
    const ids = await answer(context, answered);
    return [...context.messages.map(({ id }) => id), ...ids];
  }

  /** A whole turn of somebody who wants to be asked first [K9]. */
  async function turnInAsk(asked: string, place?: Place): Promise<string[]> {
    const context = await say(asked, place, 'ask');
    const ids = await answer(context, `You said: ${asked}`);
    return [...context.messages.map(({ id }) => id), ...ids];
  }

  /** A turn whose answer was made with other people's words or a file in view; resolves with its context. */
  async function turnWithOthers(asked: string, answered: string, place?: Place): Promise<TurnContext> {
    const context = await say(asked, place);
    await answer(context, answered, 1, snowflakeAt(clock()));
    return context;
  }

  /** Has the log alone follow an edit or deletion; resolves with what it held. */
  async function change(message: MessageChange) {
    recent.note(message);
    const affected: { session: SessionKey; messages: { sequence: number; message: LoggedMessage }[] }[] = [];
    for (const of of await sessionLog.sessionsOf(message)) {
      await writes.run(unconditional(of.userId), async () => {
        const messages = await sessionLog.affected(of, message);
        if (messages.length === 0) return;
        affected.push({
          session: of,
          messages: messages.map(({ sequence, before }) => ({ sequence, message: before })),
        });
        await sessionLog.delete({ kind: 'messages', session: of, messages, cause: message });
      });
    }
    return affected;
  }

  const log = {
    ...sessionLog,
    edit: (channelId: string, edited: string, text: string, authorId?: string) =>
      change({
        kind: 'edited',
        channelId,
        messageId: edited,
        text,
        ...(authorId === undefined ? {} : { authorId }),
      }),
    remove: (channelId: string, messageIds: readonly string[]) =>
      change({ kind: 'deleted', channelId, messageIds }),
    turnsAfter: async (of: SessionKey, cursor: number) => (await sessionLog.since(of, cursor)).messages,
  };

  const changed: SessionKey[] = [];

  /** The real ledger over the log and these layers. */
  function ledgerOver(
    layers: readonly MemoryLayer[],
    answers: AnswerKeeper = noAnswers,
    mayStore: ChangeLedgerPorts['mayStore'] = () => Promise.resolve(true),
    more: Pick<ChangeLedgerPorts, 'turnsOver'> = {},
  ) {
    const ledger: ChangeLedger = createChangeLedger({
      store,
      recent,
      writes,
      log: sessionLog,
      layers: [sessionLog, ...layers],
      answers,
      mayStore,
      placeOf,
      changed: (of) => changed.push(of),
      endWork: () => {},
      ...more,
      noteErased: (userId, at) => erasures.note(userId, at),
      processes: createOneProcess(),
      clock,
      async expireAt(id, at = clock()) {
        timer.set(() => void ledger.finishFor(id).catch(() => undefined), at.getTime() - time.now);
      },
      logger: silent,
    });
    return ledger;
  }

  /** The real forgetting over the log and these layers, which may come into being after it. */
  function forgettingOver(layers: readonly MemoryLayer[], more: Partial<ForgettingPorts> = {}) {
    return forgettingFor({
      store,
      clock,
      log: sessionLog,
      changed: (_userId, sessions) => changed.push(...sessions),
      openLedger: () => ledgerOver(layers),
      ...more,
    });
  }

  return {
    store,
    writes,
    clock,
    time,
    timer,
    recent,
    places,
    log,
    states,
    contextOf,
    say,
    answer,
    turn,
    turnInAsk,
    turnWithOthers,
    ledgerOver,
    forgettingOver,
    changed,
  };
}

export type Sessions = ReturnType<typeof openSessions>;

/** Everybody's zone. */
export function inZone(timeZone: string): () => Promise<string> {
  return () => Promise.resolve(timeZone);
}
