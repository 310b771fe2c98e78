import type { MessageChange, RecentChanges } from '../../core/changes.ts';
import type { RememberedMessage } from '../../core/chat.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Place, SessionKey } from '../../core/place.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import type { LogEntry, Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { sessionOf, type TurnContext, type TurnMessage } from '../../core/turn-context.ts';
import { reachOf } from '../../core/visibility.ts';
import type { ChangeStage, Erasure, ExportedFile, LayerChange, MemoryLayer } from '../layer.ts';
import {
  foldLog,
  idsOf,
  mayHoldOthersWords,
  type LogFold,
  type LoggedMessage,
  type LogRecord,
  type SequencedMessage,
} from './records.ts';
import {
  changeState,
  channelFolder,
  logKey,
  seenIn,
  sessionOfFile,
  sessionOfLog,
  sessionsFolder,
  stateKey,
  type FoldName,
} from './session-state.ts';
import { LogTails } from './tails.ts';
import {
  affectedMessages,
  appendChanges,
  eraseChanges,
  saysAny,
  withdrawnTerms,
  wordsSaid,
} from './withdrawal.ts';

/** A reply as it was sent. */
export interface SentReply {
  /** All messages it was sent as, in order. Without any, nothing was sent and nothing is logged. */
  readonly ids: readonly string[];
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export interface SessionLogOptions {
  readonly store: Store;
  /** The users' write queue; a job of it must not call the methods that record. */
  readonly writes: KeyedQueue;
  /** What became of messages that are still on their way into the log. */
  readonly changes: Pick<RecentChanges, 'latest'>;
  readonly clock: Clock;
  /** The author of replies. */
  readonly botName: string;
  /** The layers with a cursor that are switched on; all where not given. */
  readonly activeFolds?: readonly FoldName[];
}

/** Lines of a log in which the answer before a turn is looked for. */
const answerReach = 50;

export type SessionLog = ReturnType<typeof createSessionLog>;

/**
 * What was said, a log a session [W3]: the truth that every derived layer folds [F4]. What is written is on disk when a method resolves;
 * everything may reject with `StoreError`.
 */
export function createSessionLog(options: SessionLogOptions) {
  const { store, writes, changes, clock, botName } = options;
  const { activeFolds = ['shortTerm', 'extraction', 'reflection'] } = options;
  const tails = new LogTails(store);

  async function since(session: SessionKey, cursor: number): Promise<LogFold> {
    return foldLog(await tails.after(session, cursor), cursor);
  }

  async function messageOf(session: SessionKey, id: string): Promise<LoggedMessage | undefined> {
    const { messages } = foldLog(await tails.covering(session, [id]));
    return messages.find(({ message }) => idsOf(message).includes(id))?.message;
  }

  async function logUser(context: TurnContext): Promise<void> {
    const session = sessionOf(context);
    const ids = context.messages.map(({ id }) => id);
    const known = await tails.covering(session, ids);
    const logged = new Map(known.map(({ sequence, record }) => [record.id, sequence]));
    const last = await store.lastSequence(logKey(session));
    for (const { id, at, text, attachments, shown = [] } of context.messages) {
      if (logged.has(id)) continue;
      const changed = changes.latest(id);
      await tails.append(session, {
        type: 'message',
        role: 'user',
        id,
        at,
        authorId: context.speaker.id,
        author: context.speaker.name,
        text: changed === undefined ? text : (changed.text ?? ''),
        attachments: [...attachments, ...shown.map(({ kind }) => kind)],
        ...originOf(context.place),
      });
    }
    await followLate(session, ids);
    const before = Math.min(last, ...ids.map((id) => (logged.get(id) ?? Infinity) - 1));
    await changeState(store, session, (state) => seenIn(state, context, before, activeFolds));
  }

  async function logReply(context: TurnContext, reply: SentReply): Promise<void> {
    const [id] = reply.ids;
    if (id === undefined) return;
    const session = sessionOf(context);
    const known = await tails.covering(session, [
      ...context.messages.map((message) => message.id),
      ...reply.ids,
    ]);
    if (known.some(({ record }) => namesAny(record, reply.ids))) return;
    if (context.messages.some((message) => isAnswerWithdrawn(message, reply.text, known))) return;
    await tails.append(session, {
      type: 'message',
      role: 'assistant',
      id,
      ids: [...reply.ids],
      replyTo: context.messages.map((message) => message.id),
      at: reply.at,
      author: botName,
      text: reply.text,
      attachments: [],
      hasThirdPartyText: context.hasThirdPartyText,
      ...originOf(context.place),
    });
    await followLate(session, reply.ids);
  }

  /** What happened to messages while they were on their way into the log: a deletion may overtake the turn. No layer has read them yet. */
  async function followLate(session: SessionKey, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const changed = changes.latest(id);
      if (changed === undefined) continue;
      const { channelId } = session;
      const change: MessageChange =
        changed.text === undefined
          ? { kind: 'deleted', channelId, messageIds: [id] }
          : { kind: 'edited', channelId, messageId: id, text: changed.text };
      const messages = await affectedMessages(tails, session, change);
      if (messages.length === 0) continue;
      await appendChanges(tails, session, messages, clock().toISOString());
      await eraseChanges(tails, session, messages);
    }
  }

  /** Whether a reply may not be remembered: what it answers was deleted meanwhile, or edited so that it repeats what was taken out. */
  function isAnswerWithdrawn(
    { id, text }: TurnMessage,
    reply: string,
    known: readonly LogEntry<LogRecord>[],
  ): boolean {
    if (known.some(({ record }) => record.type === 'delete' && record.id === id)) return true;
    const changed = changes.latest(id);
    if (changed === undefined) return false;
    return changed.text === undefined || saysAny(reply, withdrawnTerms(text, changed.text));
  }

  async function sessionsBelow(folder: string): Promise<readonly SessionKey[]> {
    const files = await store.list(folder);
    const below = folder.slice(sessionsFolder.length + 1);
    return files.flatMap(({ path }) => sessionOfLog(below === '' ? path : `${below}/${path}`) ?? []);
  }

  const layer: MemoryLayer = {
    name: 'log',
    // Never loaded into the prompt, only searched.
    sections: () => Promise.resolve([]),
    follow: (change, stage) => followChange(change, stage),
    export: (userId) => exportLogs(userId),
    async erase({ sessions }: Erasure) {
      for (const session of sessions) {
        await store.remove(logKey(session));
        await store.remove(stateKey(session));
        tails.drop(session);
      }
    },
  };

  async function followChange(change: LayerChange, stage: ChangeStage): Promise<void> {
    if (change.kind === 'forgotten') return;
    const { session, messages } = change;
    if (stage === 'withdraw') await appendChanges(tails, session, messages, clock().toISOString());
    else await eraseChanges(tails, session, messages);
  }

  async function* exportLogs(userId: string): AsyncGenerator<ExportedFile> {
    for (const session of await sessionsBelow(sessionsFolder)) {
      if (session.userId !== userId) continue;
      const { messages } = await since(session, 0);
      const text = JSON.stringify(
        messages.map(({ message }) => message),
        undefined,
        2,
      );
      yield { path: `conversations/${session.channelId}/messages.json`, text };
    }
  }

  return {
    ...layer,
    /**
     * Logs the turn's messages, each once however often it is called. A message already edited or deleted is logged as such. Another
     * bot's turns are not logged, here and below: nothing could be made from them [G2].
     */
    async recordUser(context: TurnContext): Promise<void> {
      if (context.speaker.isBot === undefined) await writes.run(context.speaker.id, () => logUser(context));
    },
    /** Logs the reply to the turn's messages, once; whether it may repeat what is not the speaker's, the context says [M5a]. */
    async recordReply(context: TurnContext, reply: SentReply): Promise<void> {
      if (context.speaker.isBot === undefined)
        await writes.run(context.speaker.id, () => logReply(context, reply));
    },
    /** The sessions that an edit or deletion may concern: the author's, or, where Discord does not tell, everybody's in the channel. */
    async sessionsOf(change: MessageChange): Promise<readonly SessionKey[]> {
      const { channelId } = change;
      return change.kind === 'edited' && change.authorId !== undefined
        ? [{ channelId, userId: change.authorId }]
        : sessionsBelow(channelFolder(channelId));
    },
    /** What an edit or deletion takes out of a session [G5]; a text that stays the same takes out nothing. As part of a job of the user's queue. */
    affected: (session: SessionKey, change: MessageChange) => affectedMessages(tails, session, change),
    /** Which of some words are said in the session still. Reads the whole log. */
    stillSaid: async (session: SessionKey, words: ReadonlySet<string>): Promise<ReadonlySet<string>> =>
      wordsSaid(words, (await since(session, 0)).messages),
    /** What is remembered of a channel, of whomever, from a message id on. */
    async rememberedSince(channelId: string, messageId: string): Promise<readonly RememberedMessage[]> {
      const found: RememberedMessage[] = [];
      for (const session of await sessionsBelow(channelFolder(channelId))) {
        for (const { message } of foldLog(await tails.covering(session, [messageId])).messages) {
          const ids = idsOf(message).filter((id) => compareSnowflakes(id, messageId) >= 0);
          if (ids.length > 0) found.push({ ids, isOwn: message.role === 'assistant' });
        }
      }
      return found;
    },
    /** Everything after a cursor: messages as they read now, and what was withdrawn of them or of earlier ones. */
    since,
    /** A message's present text; `undefined` when it was never logged or was deleted. */
    message: async (session: SessionKey, id: string): Promise<string | undefined> =>
      (await messageOf(session, id))?.text,
    /** The message as it reads now; `undefined` likewise. */
    logged: messageOf,
    /** Those of the ids whose messages are answers that may repeat other people's words or a file [M5a]. */
    async answersWithOthersWords(session: SessionKey, ids: readonly string[]): Promise<ReadonlySet<string>> {
      const { messages } = foldLog(await tails.covering(session, ids));
      const marked = messages.flatMap(({ message }) =>
        message.role === 'assistant' && mayHoldOthersWords(message) ? message.ids : [],
      );
      return new Set(marked.filter((id) => ids.includes(id)));
    },
    /** The newest messages, oldest first, at most `limit`. */
    async recent(session: SessionKey, limit: number): Promise<readonly SequencedMessage[]> {
      const last = await store.lastSequence(logKey(session));
      for (let size = limit * 2; ; size *= 4) {
        const { messages } = await since(session, Math.max(0, last - size));
        if (messages.length >= limit || size >= last) return limit > 0 ? messages.slice(-limit) : [];
      }
    },
    /** The sequence number of the newest line, 0 for a session without a log. */
    lastSequence: (session: SessionKey): Promise<number> => store.lastSequence(logKey(session)),
    /** The answer that a turn's messages reply to, or else the last one before them, as it was sent; empty where there is none. */
    async answerBefore(context: Pick<TurnContext, 'speaker' | 'place' | 'messages'>): Promise<string> {
      const session = sessionOf(context);
      const replied = context.messages.findLast(({ repliesTo }) => repliesTo !== undefined)?.repliesTo;
      if (replied !== undefined) {
        const message = await messageOf(session, replied.id);
        return message?.role === 'assistant' ? message.text : '';
      }
      const ids = new Set(context.messages.map(({ id }) => id));
      const recent = foldLog(
        await tails.after(session, Math.max(0, (await store.lastSequence(logKey(session))) - answerReach)),
      ).messages;
      const first = recent.findIndex(({ message }) => ids.has(message.id));
      const before = (first === -1 ? recent : recent.slice(0, first)).at(-1)?.message;
      return before?.role === 'assistant' ? before.text : '';
    },
    /** Takes out, for good, what was said before a moment, ISO 8601, up to a line [L3]. As part of a job of the user's queue. */
    dropBefore: (session: SessionKey, before: string, upTo: number): Promise<void> =>
      tails.rewrite(session, ({ sequence, record }) =>
        sequence <= upTo && record.at < before ? undefined : record,
      ),
    /** The sessions of a channel that have a log. */
    sessionsIn: (channelId: string): Promise<readonly SessionKey[]> =>
      sessionsBelow(channelFolder(channelId)),
    /** Every session that has a log. */
    sessions: (): Promise<readonly SessionKey[]> => sessionsBelow(sessionsFolder),
    /** Every channel of which something may be remembered, with when somebody was new there, in milliseconds since the epoch. */
    channels: async () =>
      (await store.folders(sessionsFolder)).map(({ name, changedAt }) => ({ id: name, activeAt: changedAt })),
    /** Every session of which anything is on disk, notes and summaries included. */
    async allSessions(): Promise<readonly SessionKey[]> {
      const found = new Map<string, SessionKey>();
      for (const { path } of await store.list(sessionsFolder)) {
        const session = sessionOfFile(path);
        if (session !== undefined) found.set(path.split('/').slice(0, 2).join('/'), session);
      }
      return [...found.values()];
    },
  };
}

function originOf(place: Place) {
  const { guildId, channelName } = place;
  return {
    ...reachOf(place),
    ...(guildId === undefined ? {} : { guildId }),
    ...(channelName === undefined ? {} : { channelName }),
  };
}

/** Whether a line is about one of these messages, be it their deletion. */
function namesAny(record: LogRecord, ids: readonly string[]): boolean {
  const own = record.type === 'message' ? idsOf(record) : [record.id];
  return own.some((id) => ids.includes(id));
}
