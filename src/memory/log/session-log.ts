import { LRUCache } from 'lru-cache';

import type { RememberedMessage } from '../../core/chat.ts';
import type { Clock } from '../../core/time.ts';
import type { Place, SessionKey } from '../../core/place.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import type { LogEntry, Store } from '../../core/store.ts';
import { sessionOf } from '../../core/turn-context.ts';
import type { TurnContext, TurnMessage } from '../../core/turn-context.ts';
import { visibilityOf } from '../../core/visibility.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import { changeMessages, finishChanges, saysAny, withdrawnTerms } from './withdrawal.ts';
import type { MessageChanges, Withdrawing } from './withdrawal.ts';
import { foldLog, idsOf } from './records.ts';
import type { LogFold, LoggedMessage, LogRecord, SequencedMessage } from './records.ts';
import { LogTails } from './tails.ts';
import { changeState, channelFolder, logKey, seenIn, sessionOfLog, sessionsFolder } from './session-state.ts';
import type { FoldName } from './session-state.ts';

/** A reply as it was sent. */
export interface SentReply {
  /** All messages it was sent as, in order. Without any, nothing was sent and nothing is logged. */
  readonly ids: readonly string[];
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Messages of one session that were edited or deleted, as they were before. */
export interface AffectedSession {
  readonly session: SessionKey;
  readonly messages: readonly SequencedMessage[];
}

/**
 * What was said, a log a session [W3]: the truth that every derived layer folds [F4]. All writes are jobs of the user's queue [S3] and are on
 * disk when they resolve; everything may reject with `StoreError`.
 */
export interface SessionLog {
  /**
   * Logs the turn's messages, each once however often it is called. A message already edited or deleted is logged as such. Another
   * bot's turns are not logged, here and below: nothing could be made from them [G2].
   */
  recordUser(context: TurnContext): Promise<void>;
  /** Logs the reply to the turn's messages, once. */
  recordReply(context: TurnContext, reply: SentReply): Promise<void>;
  /** An edited message [G5], of whoever wrote it in the channel where its author is not told. A text that stays the same affects nothing. */
  edit(
    channelId: string,
    messageId: string,
    text: string,
    authorId?: string,
  ): Promise<readonly AffectedSession[]>;
  /** Deleted messages of whoever wrote them in the channel, the bot included [G5]. Several are one pass. */
  remove(channelId: string, messageIds: readonly string[]): Promise<readonly AffectedSession[]>;
  /** What is remembered of a channel, of whomever, from a message id on. */
  rememberedSince(channelId: string, messageId: string): Promise<readonly RememberedMessage[]>;
  /** Everything after a cursor: messages as they read now, and what was withdrawn of them or of earlier ones. */
  since(session: SessionKey, cursor: number): Promise<LogFold>;
  /** The messages after a cursor, as they read now. */
  turnsAfter(session: SessionKey, cursor: number): Promise<readonly SequencedMessage[]>;
  /** A message's present text; `undefined` when it was never logged or was deleted. */
  message(session: SessionKey, id: string): Promise<string | undefined>;
  /** The message as it reads now; `undefined` likewise. */
  logged(session: SessionKey, id: string): Promise<LoggedMessage | undefined>;
  /** Takes what an interrupted edit or deletion left standing in the file out of it, near the end of the log. */
  finishChanges(session: SessionKey): Promise<void>;
  /** The newest messages, oldest first, at most `limit`. */
  recent(session: SessionKey, limit: number): Promise<readonly SequencedMessage[]>;
  /** The sequence number of the newest line, 0 for a session without a log. */
  lastSequence(session: SessionKey): Promise<number>;
  /** Every session that has a log. */
  sessions(): Promise<readonly SessionKey[]>;
  sessionsOfChannel(channelId: string): Promise<readonly SessionKey[]>;
}

export interface SessionLogOptions {
  readonly store: Store;
  /** The users' write queue; a job of it must not call this log. */
  readonly writes: KeyedQueue;
  readonly clock: Clock;
  /** The author of replies. */
  readonly botName: string;
  /** Takes what edited and deleted messages said out of the notes on the session; where not given, there are none. */
  readonly withdrawing?: Withdrawing;
  /** The layers with a cursor that are switched on; all where not given. */
  readonly activeFolds?: readonly FoldName[];
}

/** Changes remembered for messages that may still be on their way into the log. */
const keptChanges = 1000;

export function createSessionLog(options: SessionLogOptions): SessionLog {
  const { store, writes, clock, botName, activeFolds = ['shortTerm', 'extraction', 'reflection'] } = options;
  const tails = new LogTails(store);
  const changing = { tails, withdrawing: options.withdrawing ?? (() => Promise.resolve()) };
  const changes = new LRUCache<string, { readonly text: string | undefined }>({ max: keptChanges });

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
    for (const { id, at, text, attachments } of context.messages) {
      if (logged.has(id)) continue;
      await tails.append(session, {
        type: 'message',
        role: 'user',
        id,
        at,
        authorId: context.speaker.id,
        author: context.speaker.name,
        text,
        attachments: [...attachments],
        ...originOf(context.place),
      });
    }
    await changeMessages(changing, session, changesOf(ids), clock().toISOString());
    const before = Math.min(last, ...ids.map((id) => (logged.get(id) ?? Infinity) - 1));
    await changeState(store, session, (state) => seenIn(state, context, before, activeFolds));
  }

  /** What happened to messages while they were on their way into the log: a deletion may overtake the turn. */
  function changesOf(ids: readonly string[]): MessageChanges {
    return new Map(
      ids.flatMap((id) => {
        const changed = changes.get(id);
        return changed === undefined ? [] : [[id, changed.text]];
      }),
    );
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
      ...originOf(context.place),
    });
    await changeMessages(changing, session, changesOf(reply.ids), clock().toISOString());
  }

  /** Whether a reply may not be remembered: what it answers was deleted meanwhile, or edited so that it repeats what was taken out. */
  function isAnswerWithdrawn(
    { id, text }: TurnMessage,
    reply: string,
    known: readonly LogEntry<LogRecord>[],
  ): boolean {
    if (known.some(({ record }) => record.type === 'delete' && record.id === id)) return true;
    const changed = changes.get(id);
    if (changed === undefined) return false;
    return changed.text === undefined || saysAny(reply, withdrawnTerms(text, changed.text));
  }

  async function change(
    channelId: string,
    changed: MessageChanges,
    authorId?: string,
  ): Promise<readonly AffectedSession[]> {
    for (const [id, text] of changed) changes.set(id, { text });
    const affected: AffectedSession[] = [];
    const sessions =
      authorId === undefined ? await sessionsOfChannel(channelId) : [{ channelId, userId: authorId }];
    for (const session of sessions) {
      const messages = await writes.run(session.userId, () =>
        changeMessages(changing, session, changed, clock().toISOString()),
      );
      if (messages.length > 0) affected.push({ session, messages });
    }
    return affected;
  }

  async function sessionsBelow(folder: string): Promise<readonly SessionKey[]> {
    const files = await store.list(folder);
    const below = folder.slice(sessionsFolder.length + 1);
    return files.flatMap(({ path }) => sessionOfLog(below === '' ? path : `${below}/${path}`) ?? []);
  }

  function sessionsOfChannel(channelId: string): Promise<readonly SessionKey[]> {
    return sessionsBelow(channelFolder(channelId));
  }

  return {
    async recordUser(context) {
      if (context.speaker.isBot === undefined) await writes.run(context.speaker.id, () => logUser(context));
    },
    async recordReply(context, reply) {
      if (context.speaker.isBot === undefined)
        await writes.run(context.speaker.id, () => logReply(context, reply));
    },
    edit: (channelId, messageId, text, authorId) => change(channelId, new Map([[messageId, text]]), authorId),
    remove: (channelId, messageIds) =>
      change(channelId, new Map(messageIds.map((messageId) => [messageId, undefined]))),
    async rememberedSince(channelId, messageId) {
      const found: RememberedMessage[] = [];
      for (const session of await sessionsOfChannel(channelId)) {
        for (const { message } of foldLog(await tails.covering(session, [messageId])).messages) {
          const ids = idsOf(message).filter((id) => compareSnowflakes(id, messageId) >= 0);
          if (ids.length > 0) found.push({ ids, isOwn: message.role === 'assistant' });
        }
      }
      return found;
    },
    since,
    turnsAfter: async (session, cursor) => (await since(session, cursor)).messages,
    message: async (session, id) => (await messageOf(session, id))?.text,
    logged: messageOf,
    finishChanges: (session) =>
      writes.run(session.userId, async () =>
        finishChanges(changing, session, await store.lastSequence(logKey(session))),
      ),
    async recent(session, limit) {
      const last = await store.lastSequence(logKey(session));
      for (let size = limit * 2; ; size *= 4) {
        const { messages } = await since(session, Math.max(0, last - size));
        if (messages.length >= limit || size >= last) return limit > 0 ? messages.slice(-limit) : [];
      }
    },
    lastSequence: (session) => store.lastSequence(logKey(session)),
    sessions: () => sessionsBelow(sessionsFolder),
    sessionsOfChannel,
  };
}

function originOf({ audience, homeId, guildId, channelName }: Place) {
  return {
    visibility: visibilityOf(audience),
    homeId,
    ...(guildId === undefined ? {} : { guildId }),
    ...(channelName === undefined ? {} : { channelName }),
  };
}

/** Whether a line is about one of these messages, be it their deletion. */
function namesAny(record: LogRecord, ids: readonly string[]): boolean {
  const own = record.type === 'message' ? idsOf(record) : [record.id];
  return own.some((id) => ids.includes(id));
}
