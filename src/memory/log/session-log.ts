import type { MessageChange, RecentChanges } from '../../core/changes.ts';
import type { ChannelPort } from '../../core/channels.ts';
import type { RememberedMessage } from '../../core/message.ts';
import type { Writes } from '../../core/writes.ts';
import { limits, lruCache } from '../../core/limits.ts';
import type { SessionKey } from '../../core/place.ts';
import { maskSecrets, secretValues } from '../../core/secrets.ts';
import { compareSnowflakes, isSnowflake, snowflakeTime } from '../../core/snowflake.ts';
import type { LogEntry, Store } from '../../core/store.ts';
import { chunk, saysWords, terms } from '../../core/text.ts';
import { createTimeSlice, type Clock } from '../../core/time.ts';
import { ownMark, sessionOf, type TurnContext, type TurnMessage } from '../../core/turn-context.ts';
import { isSameReach, narrower, pickReach, reachIn, reachOf, type Reach } from '../../core/visibility.ts';
import { personOf, type MemoryLayer, type WithdrawnMessage } from '../layer.ts';
import type { CaptureMode } from '../settings/person-settings.ts';
import type { MessagesByChannel } from '../undo.ts';
import { readWithheld, withoutWithheld, type Withheld } from '../withheld.ts';
import {
  foldLog,
  idsOf,
  markOf,
  type LogFold,
  type LoggedMessage,
  type LogRecord,
  type SequencedMessage,
} from './records.ts';
import {
  changeState,
  logKey,
  readState,
  seenIn,
  sessionsFolder,
  stateKey,
  type FoldName,
} from './session-state.ts';
import { createLogLines, createSessions } from './sessions.ts';
import { affectedMessages, applyChanges, heldMessages, saysAny, withdrawnTerms } from './withdrawal.ts';

/** A reply as it was sent. */
export interface SentReply {
  /** All its messages, in order. Without any, nothing is logged. */
  readonly ids: readonly string[];
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly thirdPartyMark?: string | undefined;
}

/** Layers that learn from what people say, and the modes in which they read nothing [K9]. */
const blindIn: ReadonlyMap<FoldName, readonly CaptureMode[]> = new Map([
  ['extraction', ['off']],
  ['reflection', ['ask', 'off']],
]);

/** Logs of a channel that are compared with what stands there after a gap. */
const comparedLogs = 200;
/** How far the disk's clock may differ from Discord's. */
const clockSlackMs = 60 * 60_000;

export type SessionLog = ReturnType<typeof createSessionLog>;

/** People whose last withdrawal is remembered: far more than have a running turn. */
const keptPeople = 1000;

/** What was said, secrets masked [K14]: the truth that every layer folds [F4]. Rejects with `StoreError`. */
export function createSessionLog(options: {
  readonly store: Store;
  /** The users' write queue; its jobs must not call the methods that record. */
  readonly writes: Writes;
  /** What became of messages on their way into the log. */
  readonly changes: Pick<RecentChanges, 'latest' | 'hasChanged' | 'wasDeleted'>;
  readonly placeOf: ChannelPort['placeOf'];
  readonly clock: Clock;
  /** The author of replies. */
  readonly botName: string;
  /** The active layers with a cursor. Default: all. */
  readonly activeFolds?: readonly FoldName[];
}) {
  const { store, writes, changes, placeOf, clock, botName } = options;
  const { activeFolds = ['shortTerm', 'extraction', 'reflection'] } = options;
  const sessions = createSessions(store);
  const lines = createLogLines(store, sessions);
  /** Who has a message, by its id, of those that this process has logged or found. */
  const holders = lruCache<string, string>(limits.knownMessages);
  /** A channel belongs to one process [X3]: what was said in it from then on is logged by nobody else; milliseconds. */
  const aloneFrom = clock().getTime() + clockSlackMs;
  const takenBackAt = lruCache<string, number>(keptPeople);
  /** Of which messages are being logged: nothing of them may be on disk yet where a deletion looks. */
  const logging = new Set<SessionKey>();

  const withheldOf = (userId: string): Promise<Withheld> => readWithheld(store, userId);

  async function since(session: SessionKey, cursor: number): Promise<LogFold> {
    return foldTold(session, await lines.after(session, cursor), cursor);
  }

  /** Some lines as they may be told: without what their person had forgotten [F5]. */
  async function foldTold(
    session: SessionKey,
    entries: readonly LogEntry<LogRecord>[],
    after?: number,
  ): Promise<LogFold> {
    return withoutWithheld(foldLog(entries, after), await withheldOf(session.userId));
  }

  async function toldOf(session: SessionKey, ids: readonly string[]): Promise<LogFold> {
    return foldTold(session, await lines.covering(session, ids));
  }

  /** Who has any of the messages, so that a deletion opens their conversations alone [L4]. */
  async function holdersOf(channelId: string, ids: readonly string[]): Promise<readonly SessionKey[]> {
    const isAllKnown = holders.size < limits.knownMessages;
    const unknown = ids.filter((id) => !holders.has(id) && !(isAllKnown && saidAt(id) >= aloneFrom));
    const people = new Set(ids.flatMap((id) => holders.get(id) ?? []));
    const from = Math.min(...unknown.map(saidAt)) - clockSlackMs;
    const others = unknown.length === 0 ? [] : await sessions.changedSince(channelId, from);
    for (const session of others) {
      const { userId } = session;
      // One that cannot be read may have any; what it is to lose is tried again.
      const entries = await lines.covering(session, unknown).catch(() => void people.add(userId));
      for (const { record } of entries ?? [])
        if (record.type === 'message' && namesAny(record, unknown)) {
          people.add(userId);
          for (const id of idsOf(record)) holders.set(id, userId);
        }
    }
    return Array.from(people, (userId) => ({ channelId, userId }));
  }

  function dropHolder(userId: string): void {
    for (const [id, holder] of Array.from(holders)) if (holder === userId) holders.delete(id);
  }

  async function messageOf(session: SessionKey, id: string): Promise<LoggedMessage | undefined> {
    const { messages } = await toldOf(session, [id]);
    return messages.find(({ message }) => idsOf(message).includes(id))?.message;
  }

  async function logUser(context: TurnContext, mode: CaptureMode): Promise<void> {
    const session = sessionOf(context);
    const ids = context.messages.map(({ id }) => id);
    const known = (await lines.covering(session, ids)).filter(({ record }) => ids.includes(record.id));
    const logged = new Map(known.map(({ sequence, record }) => [record.id, sequence]));
    const { last } = await store.logState(logKey(session));
    for (const { id, at, text, heard, attachments, shown = [], askedIn } of context.messages) {
      if (logged.has(id) || changes.wasDeleted(id)) continue;
      const changed = changes.latest(id);
      const own = reachOf(context.place);
      holders.set(id, session.userId);
      await lines.append(session, {
        type: 'message',
        role: 'user',
        id,
        at,
        authorId: context.speaker.id,
        author: context.speaker.name,
        text: maskSecrets(changed?.text ?? text),
        heard,
        isAsked: askedIn && true,
        attachments: [...attachments, ...shown.map(({ kind }) => kind)],
        ...(changed === undefined ? own : await reachOfEdit(session, own)),
        channelName: context.place.channelName,
        mode: mode === 'ask' ? mode : undefined,
      });
    }
    const folds = activeFolds.filter((name) => blindIn.get(name)?.includes(mode) !== true);
    const before = Math.min(last, ...ids.map((id) => (logged.get(id) ?? Infinity) - 1));
    await changeState(store, session, (state) => seenIn(state, context, before, folds));
  }

  async function logReply(context: TurnContext, reply: SentReply): Promise<boolean> {
    const [id] = reply.ids;
    if (id === undefined) return true;
    const session = sessionOf(context);
    const known = await lines.covering(session, [
      ...context.messages.map((message) => message.id),
      ...reply.ids,
    ]);
    if (known.some(({ record }) => namesAny(record, reply.ids))) return true;
    if (reply.ids.some((each) => changes.wasDeleted(each))) return true;
    const withheld = await withheldOf(session.userId);
    if (context.messages.some((message) => isAnswerWithdrawn(message, reply.text, known, withheld)))
      return false;
    const questions = known.flatMap(({ record }) =>
      record.type === 'message' && context.messages.some(({ id: of }) => of === record.id) ? [record] : [],
    );
    // Without its question, no deletion could reach it.
    if (questions.length === 0) return true;
    for (const each of reply.ids) holders.set(each, session.userId);
    await lines.append(session, {
      type: 'message',
      role: 'assistant',
      id,
      ids: [...reply.ids],
      replyTo: context.messages.map((message) => message.id),
      at: reply.at,
      author: botName,
      text: maskSecrets(reply.text, new Set(context.messages.flatMap(({ text }) => secretValues(text)))),
      attachments: [],
      isAsked: context.messages.some(({ askedIn }) => askedIn !== undefined) ? true : undefined,
      thirdPartyMark: reply.thirdPartyMark === ownMark ? id : reply.thirdPartyMark,
      // It may repeat edits made on their way, and what was said since the channel was closed to some.
      ...questions.reduce(narrower, narrower(reachOf(context.place), await presentReach(session))),
      channelName: context.place.channelName,
      mode: questions.some(({ mode }) => mode === 'ask') ? 'ask' : undefined,
    });
    return true;
  }

  /** Whose door has turned meanwhile was open to nobody knows whom at the time of the edit [V1]. */
  async function reachOfEdit(session: SessionKey, own: Reach): Promise<Reach> {
    return isSameReach(own, await presentReach(session)) ? own : { visibility: 'dm', homeId: own.homeId };
  }

  async function presentReach({ channelId }: SessionKey): Promise<Reach> {
    return reachIn(channelId, await placeOf(channelId));
  }

  /** Whether what a reply answers is gone, or says no more what the reply repeats. */
  function isAnswerWithdrawn(
    { id, text }: TurnMessage,
    reply: string,
    known: readonly LogEntry<LogRecord>[],
    withheld: Withheld,
  ): boolean {
    if (known.some(({ record }) => record.type === 'delete' && record.id === id)) return true;
    const changed =
      changes.latest(id) ?? (withheld.touches(id) ? { text: withheld.message(id, text) } : undefined);
    if (changed === undefined) return false;
    return changed.text === undefined || saysAny(reply, withdrawnTerms(text, changed.text));
  }

  const layer: MemoryLayer = {
    name: 'log',
    // Never loaded into the prompt, only searched.
    sections: () => Promise.resolve([]),
    async delete(deletion) {
      if (deletion.kind === 'person' || deletion.kind === 'conversations') {
        for (const session of deletion.sessions) {
          await store.remove(logKey(session));
          await store.remove(stateKey(session));
        }
        if (deletion.kind === 'person') return dropHolder(deletion.userId);
        return sessions.takeOff(deletion.userId, deletion.sessions);
      }
      takenBackAt.set(personOf(deletion), clock().getTime());
      if (deletion.kind !== 'messages') return;
      const { session, messages } = deletion;
      await applyChanges(lines, session, messages, clock().toISOString());
    },
    async *export(userId) {
      for (const session of await sessions.everyOfPerson(userId)) {
        const folder = `conversations/${session.channelId}`;
        // The summary is the rolling layer's, which leaves out what is withheld.
        const { rolling: _, ...state } = await readState(store, session);
        if (Object.keys(state).length > 1) yield { path: `${folder}/state.json`, text: exportedJson(state) };
        const { messages } = await since(session, 0);
        const texts = messages.map(({ message }) => exportedJson(message));
        const parts = chunk(texts, ({ length }) => length, exportedFileChars);
        for (const [index, part] of parts.entries()) {
          const name = index === 0 ? 'messages.json' : `messages-${index + 1}.json`;
          yield { path: `${folder}/${name}`, text: `[\n${part.join(',\n')}\n]\n` };
        }
      }
    },
    evict: dropHolder,
  };

  return {
    ...layer,
    /** Whether a turn's messages are logged as said [G5], and nothing in view was withdrawn since [A4]. */
    async isUnchanged(context: TurnContext): Promise<boolean> {
      if (context.messages.some((message) => changes.hasChanged(message))) return false;
      const began = context.now.getTime();
      if ((takenBackAt.get(context.speaker.id) ?? 0) >= began) return false;
      const { records } = await withheldOf(context.speaker.id);
      if (records.some(({ at }) => Date.parse(at) >= began)) return false;
      const ids = context.messages.map(({ id }) => id);
      const { messages } = await toldOf(sessionOf(context), ids);
      const logged = new Set(messages.map(({ message }) => message.id));
      return ids.every((id) => logged.has(id));
    },
    /** Logs the turn's messages once, each with its edit or deletion; never another bot's [G2]. */
    async recordUser(context: TurnContext, mode: CaptureMode = 'auto'): Promise<void> {
      if (context.speaker.isBot !== undefined) return;
      const session = sessionOf(context);
      logging.add(session);
      await writes.run(context.work, () => logUser(context, mode)).finally(() => logging.delete(session));
    },
    /** Logs the reply once; resolves with whether it may be remembered. */
    recordReply: (context: TurnContext, reply: SentReply): Promise<boolean> =>
      context.speaker.isBot === undefined
        ? writes.run(context.work, () => logReply(context, reply))
        : Promise.resolve(true),
    /** The author's session, or everybody's in the channel where Discord does not tell. */
    async sessionsOf(change: MessageChange): Promise<readonly SessionKey[]> {
      const { channelId } = change;
      if (change.kind === 'edited' && change.authorId !== undefined)
        return [{ channelId, userId: change.authorId }];
      const beingLogged = [...logging].filter((session) => session.channelId === channelId);
      const ids = change.kind === 'edited' ? [change.messageId] : change.messageIds;
      return [...beingLogged, ...(await holdersOf(channelId, ids))];
    },
    /** What a change takes out of a session [G5]. Part of a job of the user's queue. */
    affected: (session: SessionKey, change: MessageChange) => affectedMessages(lines, session, change),
    /** Which of the words are still said in the session without some messages. Reads the whole log. */
    async stillPresent(
      session: SessionKey,
      words: ReadonlySet<string>,
      without: readonly WithdrawnMessage[] = [],
    ): Promise<ReadonlySet<string>> {
      const now = new Map(without.map((each) => [each.sequence, each.now]));
      const present = new Set<string>();
      const pause = createTimeSlice();
      for (const { sequence, message } of (await since(session, 0)).messages) {
        const text = now.has(sequence) ? now.get(sequence) : message.text;
        for (const term of terms(text ?? '')) if (words.has(term)) present.add(term);
        await pause();
      }
      return present;
    },
    /** Messages in a channel from an id on; the first answer after a start waits for it [G3b]. */
    async rememberedSince(
      this: void,
      channelId: string,
      messageId: string,
    ): Promise<readonly RememberedMessage[]> {
      const found: RememberedMessage[] = [];
      const from = saidAt(messageId) - clockSlackMs;
      const changed = (await sessions.changedSince(channelId, from)).slice(0, comparedLogs);
      for (const session of changed)
        for (const { message } of foldLog(await lines.covering(session, [messageId])).messages) {
          const ids = idsOf(message).filter((id) => compareSnowflakes(id, messageId) >= 0);
          if (ids.length > 0 && message.isAsked === undefined)
            found.push({ ids, isOwn: message.role === 'assistant' });
        }
      return found;
    },
    /** Messages after a cursor as they read now, and what was withdrawn of them or earlier ones. */
    since,
    /** `undefined` when it was never logged or was deleted. */
    message: async (session: SessionKey, id: string): Promise<string | undefined> =>
      (await messageOf(session, id))?.text,
    /** The answer before a message, or that it replies to; none made with others' text or for other readers [D1a]. */
    async answerBefore(
      this: void,
      session: SessionKey,
      id: string,
      repliedTo?: string,
    ): Promise<string | undefined> {
      const ids = repliedTo === undefined ? [id] : [id, repliedTo];
      const { messages } = await toldOf(session, ids);
      const at = messages.findIndex(({ message }) => message.id === id);
      const own = messages[at]?.message;
      const isRepliedTo = ({ message }: SequencedMessage): boolean =>
        idsOf(message).includes(repliedTo ?? '');
      const before = (repliedTo === undefined ? messages[at - 1] : messages.find(isRepliedTo))?.message;
      if (own === undefined || before?.role !== 'assistant' || markOf(before) !== undefined) return undefined;
      return isSameReach(pickReach(before), pickReach(own)) ? before.text : undefined;
    },
    /** What was asked by `/ask` in a DM, with the answers, among its newest messages; oldest first [EW2]. */
    async asked(this: void, session: SessionKey, newest: number): Promise<readonly LoggedMessage[]> {
      const { last } = await store.logState(logKey(session));
      const { messages } = await since(session, Math.max(0, last - newest));
      return messages.flatMap(({ message }) => (message.isAsked === true ? message : []));
    },
    /** Whether a message was logged without a reply. */
    async isUnanswered(this: void, session: SessionKey, id: string): Promise<boolean> {
      const { messages } = await toldOf(session, [id]);
      const isReply = ({ message }: SequencedMessage): boolean =>
        message.role === 'assistant' && message.replyTo.includes(id);
      return messages.some(({ message }) => message.id === id) && !messages.some(isReply);
    },
    /** `undefined` when it was never logged or was deleted. */
    logged: messageOf,
    /** The marks of answers among these messages; absent for what is not logged [M5a]. */
    async marksOf(
      session: SessionKey,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, string | undefined>> {
      const known = new Map<string, string | undefined>();
      for (const { message } of (await toldOf(session, ids)).messages) {
        const mark = message.role === 'user' ? undefined : markOf(message);
        for (const id of idsOf(message)) if (ids.includes(id)) known.set(id, mark);
      }
      return known;
    },
    /** A person's messages and answers that say some words [K4]; with `areHeld` also those that a kill left. */
    async mentions(
      userId: string,
      words: string,
      isMatch: (message: LoggedMessage) => boolean,
      areHeld = false,
    ): Promise<MessagesByChannel> {
      const found: { channelId: string; messageIds: string[] }[] = [];
      const pause = createTimeSlice();
      for (const session of await sessions.ofPerson(userId)) {
        const messageIds = new Set<string>();
        const entries = await lines.after(session, 0);
        const { messages } = await foldTold(session, entries);
        for (const { message } of areHeld ? heldMessages(entries) : messages) {
          if (saysWords(message.text, words) && isMatch(message)) messageIds.add(message.id);
          await pause();
        }
        if (messageIds.size > 0) found.push({ channelId: session.channelId, messageIds: [...messageIds] });
      }
      return found;
    },
    /** Its edition is another one also once something of it was forgotten, or taken back. */
    async logState(session: SessionKey): Promise<{ readonly last: number; readonly edition: string }> {
      const { last, edition } = await store.logState(logKey(session));
      const { records } = await withheldOf(session.userId);
      return { last, edition: [edition, ...records.map(({ id }) => id)].join(' ') };
    },
    /** Messages with all that the log has of them, also what is withheld. */
    held: async (session: SessionKey, ids: readonly string[]): Promise<readonly LoggedMessage[]> =>
      foldLog(await lines.covering(session, ids))
        .messages.map(({ message }) => message)
        .filter((message) => idsOf(message).some((id) => ids.includes(id))),
    /** 0 for a session without a log. */
    lastSequence: async (session: SessionKey): Promise<number> =>
      (await store.logState(logKey(session))).last,
    /** Erases lines of which nothing is made any more. Part of a job of the user's queue. */
    dropLines: (session: SessionKey, isGone: (entry: LogEntry<LogRecord>) => boolean): Promise<void> =>
      lines.rewrite(session, (entry) => (isGone(entry) ? undefined : entry.record)),
    sessionsIn: sessions.inChannel,
    sessionsOfPerson: sessions.ofPerson,
    /** All sessions of a person with anything on disk. */
    everyOfPerson: sessions.everyOfPerson,
    /** Lists a session before anything is kept of it. Part of a job of the user's queue. */
    listSession: sessions.begin,
    guildOf: sessions.guildOf,
    threadsOf: sessions.threadsOf,
    allSessions: sessions.all,
    /** Channels of which something may be remembered, with when somebody new appeared, in milliseconds. */
    channels: async () =>
      (await store.folders(sessionsFolder)).map(({ name, changedAt }) => ({ id: name, activeAt: changedAt })),
  };
}

/** So that each exported file fits into one upload. */
const exportedFileChars = 2_000_000;

function exportedJson(data: unknown): string {
  return JSON.stringify(data, undefined, 2);
}

/** Whether a line is about one of these messages, even its deletion. */
function namesAny(record: LogRecord, ids: readonly string[]): boolean {
  const own = record.type === 'message' ? idsOf(record) : [record.id];
  return own.some((id) => ids.includes(id));
}

/** In milliseconds; 0 for an id that Discord did not make. */
function saidAt(id: string): number {
  return isSnowflake(id) ? snowflakeTime(id).getTime() : 0;
}
