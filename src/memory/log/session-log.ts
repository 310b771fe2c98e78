import type { MessageChange, RecentChanges } from '../../core/changes.ts';
import type { ChannelPort, RememberedMessage } from '../../core/chat.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import { growingCache } from '../../core/limits.ts';
import type { ChannelGuild, Place, SessionKey } from '../../core/place.ts';
import { maskSecrets, secretValues } from '../../core/secrets.ts';
import { compareSnowflakes, isSnowflake, snowflakeTime } from '../../core/snowflake.ts';
import type { LogEntry, Store } from '../../core/store.ts';
import { inParts, saysWords } from '../../core/text.ts';
import { createTimeSlice, type Clock } from '../../core/time.ts';
import { sessionOf, type TurnContext, type TurnMessage } from '../../core/turn-context.ts';
import { narrower, reachIn, reachOf, type Reach } from '../../core/visibility.ts';
import { personOf, type MemoryLayer } from '../layer.ts';
import type { NoticingMode } from '../settings/person-settings.ts';
import type { MessagesByChannel } from '../undo.ts';
import {
  foldLog,
  idsOf,
  isUnanswered,
  mayHoldOthersWords,
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
import { createSessions } from './sessions.ts';
import { LogTails } from './tails.ts';
import {
  affectedMessages,
  appendChanges,
  eraseChanges,
  heldMessages,
  saysAny,
  takeBackDeletions,
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
  /** See {@link AssistantMessage}. */
  readonly retells?: true;
  /** See {@link AssistantMessage}. */
  readonly thirdPartyTextAt?: string | undefined;
}

export interface SessionLogOptions {
  readonly store: Store;
  /** The users' write queue; a job of it must not call the methods that record. */
  readonly writes: KeyedQueue;
  /** What became of messages that are still on their way into the log. */
  readonly changes: Pick<RecentChanges, 'latest' | 'hasChanged'>;
  readonly placeOf: ChannelPort['placeOf'];
  readonly clock: Clock;
  /** The author of replies. */
  readonly botName: string;
  /** The layers with a cursor that are switched on; all where not given. */
  readonly activeFolds?: readonly FoldName[];
}

/** The layers that learn from what people say, and not only keep it, and read nothing of what is said in these modes [K9]. */
const blindIn: ReadonlyMap<FoldName, readonly NoticingMode[]> = new Map([
  ['extraction', ['off']],
  ['reflection', ['ask', 'off']],
]);

/** Lines of a log in which the answer before a turn is looked for. */
const answerReach = 50;
/** Logs of a channel that are compared with what stands there after a gap. */
const comparedLogs = 200;
const comparedAtOnce = 16;
/** By how much the clock of the disk may differ from Discord's; milliseconds. */
const clockSlackMs = 60 * 60_000;

export type SessionLog = ReturnType<typeof createSessionLog>;

/** People of whom it is remembered when something of theirs was taken back last: far more than have a turn that runs. */
const keptPeople = 1000;

/**
 * What was said, with secrets masked [K14], a log a session [W3]: the truth that every derived layer folds [F4]. What is written is on disk when a method resolves;
 * everything may reject with `StoreError`.
 */
export function createSessionLog(options: SessionLogOptions) {
  const { store, writes, changes, placeOf, clock, botName } = options;
  const { activeFolds = ['shortTerm', 'extraction', 'reflection'] } = options;
  const sessions = createSessions(store);
  const tails = new LogTails(store, sessions);
  const takenBackAt = growingCache<string, number>(keptPeople);

  async function since(session: SessionKey, cursor: number): Promise<LogFold> {
    return foldLog(await tails.after(session, cursor), cursor);
  }

  async function messageOf(session: SessionKey, id: string): Promise<LoggedMessage | undefined> {
    const { messages } = foldLog(await tails.covering(session, [id]));
    return messages.find(({ message }) => idsOf(message).includes(id))?.message;
  }

  async function logUser(context: TurnContext, mode: NoticingMode): Promise<void> {
    const session = sessionOf(context);
    const ids = context.messages.map(({ id }) => id);
    const known = (await tails.covering(session, ids)).filter(({ record }) => ids.includes(record.id));
    const logged = new Map(known.map(({ sequence, record }) => [record.id, sequence]));
    const last = await store.lastSequence(logKey(session));
    for (const { id, at, text, attachments, shown = [] } of context.messages) {
      if (logged.has(id)) continue;
      const changed = changes.latest(id);
      const said = reachOf(context.place);
      await tails.append(session, {
        type: 'message',
        role: 'user',
        id,
        at,
        authorId: context.speaker.id,
        author: context.speaker.name,
        text: maskSecrets(changed === undefined ? text : (changed.text ?? '')),
        attachments: [...attachments, ...shown.map(({ kind }) => kind)],
        // What it was edited to was said where others may read [V1].
        ...originOf(
          context.place,
          changed === undefined ? said : narrower(said, await presentReach(session)),
        ),
        ...(mode === 'ask' ? { mode } : {}),
      });
    }
    await followLate(session, ids);
    const folds = activeFolds.filter((name) => blindIn.get(name)?.includes(mode) !== true);
    const before = Math.min(last, ...ids.map((id) => (logged.get(id) ?? Infinity) - 1));
    await changeState(store, session, (state) => seenIn(state, context, before, folds));
  }

  async function logReply(context: TurnContext, reply: SentReply): Promise<boolean> {
    const [id] = reply.ids;
    if (id === undefined) return true;
    const session = sessionOf(context);
    const known = await tails.covering(session, [
      ...context.messages.map((message) => message.id),
      ...reply.ids,
    ]);
    if (known.some(({ record }) => namesAny(record, reply.ids))) return true;
    if (context.messages.some((message) => isAnswerWithdrawn(message, reply.text, known))) return false;
    const asked = known.filter(({ record }) => context.messages.some(({ id: of }) => of === record.id));
    // Without its question, no deletion could reach it.
    if (asked.length === 0) return true;
    await tails.append(session, {
      type: 'message',
      role: 'assistant',
      id,
      ids: [...reply.ids],
      replyTo: context.messages.map((message) => message.id),
      at: reply.at,
      author: botName,
      text: maskSecrets(reply.text, new Set(context.messages.flatMap(({ text }) => secretValues(text)))),
      attachments: [],
      hasThirdPartyText: context.hasThirdPartyText,
      ...(reply.retells === true && { retells: reply.retells }),
      ...(reply.thirdPartyTextAt !== undefined && { thirdPartyTextAt: reply.thirdPartyTextAt }),
      // It may repeat what these were edited to on their way, and what was said since the channel was closed to some.
      ...originOf(
        context.place,
        asked.reduce(
          (reach, { record }) => (record.type === 'message' ? narrower(reach, record) : reach),
          narrower(reachOf(context.place), await presentReach(session)),
        ),
      ),
      ...(asked.some(({ record }) => record.type === 'message' && record.mode === 'ask')
        ? { mode: 'ask' as const }
        : {}),
    });
    await followLate(session, reply.ids);
    return true;
  }

  async function presentReach({ channelId }: SessionKey): Promise<Reach> {
    return reachIn(channelId, await placeOf(channelId));
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
          : {
              kind: 'edited',
              channelId,
              messageId: id,
              text: changed.text,
              reach: await presentReach(session),
            };
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

  const layer: MemoryLayer = {
    name: 'log',
    // Never loaded into the prompt, only searched.
    sections: () => Promise.resolve([]),
    async follow(change, stage) {
      if (change.kind !== 'restored') takenBackAt.set(personOf(change), clock().getTime());
      if (change.kind === 'forgotten' || change.kind === 'purged') return;
      if (change.kind === 'restored') {
        await takeBackDeletions(tails, change.session, change.messageIds);
        return;
      }
      const { session, messages } = change;
      if (stage === 'withdraw') await appendChanges(tails, session, messages, clock().toISOString());
      else await eraseChanges(tails, session, messages);
    },
    async *export(userId) {
      for (const session of await sessions.everyOfPerson(userId)) {
        const folder = `conversations/${session.channelId}`;
        const state = await readState(store, session);
        if (Object.keys(state).length > 1) yield { path: `${folder}/state.json`, text: exportedJson(state) };
        const { messages } = await since(session, 0);
        const texts = messages.map(({ message }) => exportedJson(message));
        const parts = inParts(texts, ({ length }) => length, exportedFileChars);
        for (const [index, part] of parts.entries()) {
          const name = index === 0 ? 'messages.json' : `messages-${index + 1}.json`;
          yield { path: `${folder}/${name}`, text: `[\n${part.join(',\n')}\n]\n` };
        }
      }
    },
    async erase(erasure) {
      for (const session of erasure.sessions) {
        await store.remove(logKey(session));
        await store.remove(stateKey(session));
        tails.drop(session);
      }
      await sessions.erase(erasure);
    },
    letGo: (userId) => tails.dropOf(userId),
  };

  return {
    ...layer,
    /**
     * Whether a turn's messages all stand in the log, as they were said: what it does not hold, no edit, deletion or forgetting could be followed of [G5];
     * and nothing that the turn may have in view was taken back since it began [A4].
     */
    async standsAsSaid(context: TurnContext): Promise<boolean> {
      if (context.messages.some((message) => changes.hasChanged(message))) return false;
      if ((takenBackAt.get(context.speaker.id) ?? 0) >= context.now.getTime()) return false;
      const ids = context.messages.map(({ id }) => id);
      const { messages } = foldLog(await tails.covering(sessionOf(context), ids));
      const logged = new Set(messages.map(({ message }) => message.id));
      return ids.every((id) => logged.has(id));
    },
    /**
     * Logs the turn's messages, each once however often it is called. A message already edited or deleted is logged as such. Another
     * bot's turns are not logged, here and below: nothing could be made from them [G2]. What a layer may not learn from in the speaker's mode [K9], it never
     * reads, also when it may again; what was said in `ask` is marked.
     */
    async recordUser(context: TurnContext, mode: NoticingMode = 'auto'): Promise<void> {
      if (context.speaker.isBot === undefined)
        await writes.run(context.speaker.id, () => logUser(context, mode));
    },
    /**
     * Logs the reply to the turn's messages, once, if one of these is logged; whether it may repeat what is not the speaker's, the context says [M5a].
     * Resolves with whether it may be remembered: not where what it answers was taken back meanwhile.
     */
    recordReply: (context: TurnContext, reply: SentReply): Promise<boolean> =>
      context.speaker.isBot === undefined
        ? writes.run(context.speaker.id, () => logReply(context, reply))
        : Promise.resolve(true),
    /** The sessions that an edit or deletion may concern: the author's, or, where Discord does not tell, everybody's in the channel. */
    async sessionsOf(change: MessageChange): Promise<readonly SessionKey[]> {
      const { channelId } = change;
      return change.kind === 'edited' && change.authorId !== undefined
        ? [{ channelId, userId: change.authorId }]
        : sessions.inChannel(channelId);
    },
    /** What an edit or deletion takes out of a session [G5]; a text that stays the same takes out nothing. As part of a job of the user's queue. */
    affected: (session: SessionKey, change: MessageChange) => affectedMessages(tails, session, change),
    /** Which of some words are said in the session still. Reads the whole log. */
    stillSaid: async (session: SessionKey, words: ReadonlySet<string>): Promise<ReadonlySet<string>> =>
      wordsSaid(words, (await since(session, 0)).messages),
    /**
     * What is remembered of everybody in a channel, from a message id on. The first answer after a start waits for it [G3b], so it costs by what was said since:
     * logs that were not written to since are not read, and of the others the newest two hundred.
     */
    async rememberedSince(channelId: string, messageId: string): Promise<readonly RememberedMessage[]> {
      const found: RememberedMessage[] = [];
      const writtenAt = isSnowflake(messageId) ? snowflakeTime(messageId).getTime() - clockSlackMs : 0;
      const changed = (await sessions.changedSince(channelId, writtenAt)).slice(0, comparedLogs);
      for (let first = 0; first < changed.length; first += comparedAtOnce) {
        const some = changed.slice(first, first + comparedAtOnce);
        for (const entries of await Promise.all(some.map((each) => tails.covering(each, [messageId]))))
          for (const { message } of foldLog(entries).messages) {
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
    /** Whether a message was logged, and no reply to it. */
    isUnanswered: async (session: SessionKey, id: string): Promise<boolean> =>
      isUnanswered(foldLog(await tails.covering(session, [id])), id),
    /** The message as it reads now; `undefined` likewise. */
    logged: messageOf,
    /**
     * When other people's words or a file were last in view for these answers, which may repeat them (ISO 8601, UTC) [M5a]; `undefined` for an answer
     * that was made without, and for what its speaker said. What the log does not hold is absent.
     */
    async othersWordsIn(
      session: SessionKey,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, string | undefined>> {
      const known = new Map<string, string | undefined>();
      for (const { message } of foldLog(await tails.covering(session, ids)).messages) {
        const isAnswer = message.role === 'assistant';
        const at =
          isAnswer && mayHoldOthersWords(message) ? (message.thirdPartyTextAt ?? message.at) : undefined;
        for (const id of idsOf(message)) if (ids.includes(id)) known.set(id, at);
      }
      return known;
    },
    /**
     * All messages of a person's conversations, answers among them, that say some words and that `isMeant` picks, by channel [K4]; with `areHeld` also those
     * that were taken out or edited and whose words a kill has left in the log. Reads all their logs.
     */
    async mentions(
      userId: string,
      words: string,
      isMeant: (message: LoggedMessage) => boolean,
      areHeld = false,
    ): Promise<MessagesByChannel> {
      const found: { channelId: string; messageIds: string[] }[] = [];
      const pause = createTimeSlice();
      for (const session of await sessions.ofPerson(userId)) {
        const messageIds = new Set<string>();
        const entries = await tails.after(session, 0);
        for (const { message } of areHeld ? heldMessages(entries) : foldLog(entries).messages) {
          if (saysWords(message.text, words) && isMeant(message)) messageIds.add(message.id);
          await pause();
        }
        if (messageIds.size > 0) found.push({ channelId: session.channelId, messageIds: [...messageIds] });
      }
      return found;
    },
    /** Where these messages stand in the log, in order. */
    async placesOf(session: SessionKey, ids: readonly string[]): Promise<readonly number[]> {
      const { messages } = foldLog(await tails.covering(session, ids));
      return messages.flatMap(({ sequence, message }) =>
        idsOf(message).some((id) => ids.includes(id)) ? [sequence] : [],
      );
    },
    /** The newest messages, oldest first, at most `limit`. */
    async recent(session: SessionKey, limit: number): Promise<readonly SequencedMessage[]> {
      const last = await store.lastSequence(logKey(session));
      for (let size = limit * 2; ; size *= 4) {
        const { messages } = await since(session, Math.max(0, last - size));
        if (messages.length >= limit || size >= last) return limit > 0 ? messages.slice(-limit) : [];
      }
    },
    /** How far the log goes, and what tells whether its lines are the same as before. */
    logState: (session: SessionKey) => store.logState(logKey(session)),
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
    /** Takes lines out for good that nothing is made of any more. As part of a job of the user's queue. */
    dropLines: (session: SessionKey, isGone: (entry: LogEntry<LogRecord>) => boolean): Promise<void> =>
      tails.rewrite(session, (entry) => (isGone(entry) ? undefined : entry.record)),
    sessionsIn: sessions.inChannel,
    sessionsOfPerson: (userId: string) => sessions.ofPerson(userId),
    /** All of a person's of which anything is on disk. */
    everyOfPerson: sessions.everyOfPerson,
    /** Has the person's list name a session before anything is kept of it; as part of a job of their queue. */
    listSession: (session: SessionKey): Promise<void> => sessions.begin(session),
    guildOf: (channelId: string): Promise<ChannelGuild> => sessions.guildOf(channelId),
    guildsOf: (userId: string): Promise<readonly string[]> => sessions.guildsOf(userId),
    threadsOf: (channelId: string): Promise<readonly string[]> => sessions.threadsOf(channelId),
    allSessions: sessions.all,
    /** Every channel of which something may be remembered, with when somebody was new there, in milliseconds since the epoch. */
    channels: async () =>
      (await store.folders(sessionsFolder)).map(({ name, changedAt }) => ({ id: name, activeAt: changedAt })),
  };
}

function originOf({ channelName }: Place, reach: Reach) {
  return {
    ...reach,
    ...(channelName === undefined ? {} : { channelName }),
  };
}

/** Characters of an exported file of messages, as a rule: each is to fit into one upload. */
const exportedFileChars = 2_000_000;

function exportedJson(data: unknown): string {
  return JSON.stringify(data, undefined, 2);
}

/** Whether a line is about one of these messages, be it their deletion. */
function namesAny(record: LogRecord, ids: readonly string[]): boolean {
  const own = record.type === 'message' ? idsOf(record) : [record.id];
  return own.some((id) => ids.includes(id));
}
