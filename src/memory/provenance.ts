import { z } from 'zod';

import { workOf, type Writes } from '../core/writes.ts';
import { lruCache, limits } from '../core/limits.ts';
import { usedMemorySchema, type UsedMemory } from '../core/memory-source.ts';
import { sessionName, type Place, type SessionKey } from '../core/place.ts';
import type { AnswerSize } from '../core/section.ts';
import type { Store } from '../core/store.ts';
import { saysWords } from '../core/text.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import { reachFields, reachOf } from '../core/visibility.ts';
import type { MemoryLayer, Withdrawn } from './layer.ts';
import { idsOf } from './log/records.ts';
import { sessionFolder } from './log/session-state.ts';
import type { SessionLog } from './log/session-log.ts';

const answerSchema = z.object({
  /** The messages that were answered. */
  messageIds: z.array(z.string()).min(1),
  /** ISO 8601, UTC. */
  at: z.string(),
  /** Of the place that it was made for, with its readers: all that was shown may be told there. */
  ...reachFields,
  ...usedMemorySchema.shape,
});

/** What the model was shown of memory for one answer. */
export type AnswerProvenance = z.infer<typeof answerSchema>;

/** An answer of which it is known how large its prompt was. */
export interface SizedAnswer extends AnswerSize {
  /** The messages that were answered. */
  readonly messageIds: readonly string[];
  /** ISO 8601, UTC. */
  readonly at: string;
  /** That it was made for, with its readers: it may be told there. */
  readonly place: Place;
}

/** Answers of this process, of all people, that are found also where nothing of them may be stored. */
const knownAnswers = 1000;

export interface ProvenanceOptions {
  readonly store: Store;
  readonly writes: Writes;
  readonly log: Pick<SessionLog, 'logged' | 'sessionsOfPerson'>;
}

export type Provenance = ReturnType<typeof createProvenance>;

/**
 * What each answer was made from, by reference [K7]: `sessions/<channelId>/<userId>/answers.jsonl`, written before the
 * answer is sent. Rejects with `StoreError`.
 */
export function createProvenance({ store, writes, log }: ProvenanceOptions) {
  /** By session and each message that was answered. */
  const recent = lruCache<string, AnswerProvenance>(knownAnswers);
  /** By session and each message of an answer, the message that it answers. */
  const questions = lruCache<string, string>(knownAnswers);
  /** By person, the newest last. */
  const sizes = lruCache<string, readonly SizedAnswer[]>(limits.answerSizes.people);

  async function recordsOf(session: SessionKey): Promise<readonly AnswerProvenance[]> {
    const records: AnswerProvenance[] = [];
    for await (const { record } of store.scan(keyOf(session), answerSchema)) records.push(record);
    return records.slice(-limits.answerSources);
  }

  /** The message that an answer answers, where this is one to the session's speaker. */
  async function questionOf(session: SessionKey, answerId: string): Promise<string | undefined> {
    const known = questions.get(nameOf(session, answerId));
    if (known !== undefined) return known;
    const message = await log.logged(session, answerId);
    return message?.role === 'assistant' ? message.replyTo.at(-1) : undefined;
  }

  function dropSizes(userId: string, isGone: (answer: SizedAnswer) => boolean): void {
    const kept = (sizes.get(userId) ?? []).filter((answer) => !isGone(answer));
    if (kept.length === 0) sizes.delete(userId);
    else sizes.set(userId, kept);
  }

  /** As part of a job of the user's queue. */
  async function drop(session: SessionKey, isGone: (answer: AnswerProvenance) => boolean): Promise<void> {
    for (const [name, answer] of recent.entries())
      if (name.startsWith(`${sessionName(session)} `) && isGone(answer)) recent.delete(name);
    await store.rewrite(keyOf(session), answerSchema, ({ record }) => (isGone(record) ? undefined : record));
  }

  /** Names of files are words too. */
  async function withoutPaths(session: SessionKey, words: string): Promise<void> {
    const isKept = (source: UsedMemory['prompt'][number]): boolean =>
      source.kind !== 'file' || !saysWords(source.path, words);
    const cleaned = (answer: AnswerProvenance): AnswerProvenance => ({
      ...answer,
      prompt: answer.prompt.filter(isKept),
      tools: answer.tools.map((read) => ({ ...read, sources: read.sources.filter(isKept) })),
    });
    for (const [name, answer] of recent.entries())
      if (name.startsWith(`${sessionName(session)} `)) recent.set(name, cleaned(answer));
    await store.rewrite(keyOf(session), answerSchema, ({ record }) => cleaned(record));
  }

  const layer: MemoryLayer = {
    name: 'provenance',
    sections: () => Promise.resolve([]),
    /** What was forgotten can be brought back for a while, and so stays known till then. */
    async follow(change, stage) {
      if (change.kind === 'purged' && stage === 'hide')
        for (const session of await log.sessionsOfPerson(change.userId))
          await withoutPaths(session, change.words);
      if (change.kind !== 'withdrawn') return;
      const gone = goneIn(change);
      const isGone = ({ messageIds }: Pick<SizedAnswer, 'messageIds'>): boolean =>
        messageIds.some((id) => gone.has(id));
      for (const { before } of change.messages)
        for (const id of idsOf(before)) questions.delete(nameOf(change.session, id));
      // An undo does not bring it back.
      dropSizes(change.session.userId, isGone);
      if (stage === 'delete') await drop(change.session, isGone);
    },
    async *export(userId) {
      for (const session of await log.sessionsOfPerson(userId)) {
        const answers = await recordsOf(session);
        if (answers.length === 0) continue;
        const text = JSON.stringify(answers, undefined, 2);
        yield { path: `conversations/${session.channelId}/answers.json`, text };
      }
    },
    async erase({ userId, sessions, isWhole }) {
      for (const session of sessions) await store.remove(keyOf(session));
      const names = new Set(sessions.map(sessionName));
      dropSizes(
        userId,
        ({ place: { channelId } }) => isWhole || names.has(sessionName({ channelId, userId })),
      );
      evict((session) => names.has(session) || (isWhole && session.endsWith(`:${userId}`)));
    },
    evict(userId) {
      sizes.delete(userId);
      evict((session) => session.endsWith(`:${userId}`));
    },
  };

  function evict(isGone: (session: string) => boolean): void {
    for (const cache of [recent, questions])
      for (const name of cache.keys()) if (isGone(name.split(' ')[0] ?? '')) cache.delete(name);
  }

  function knowSize(turn: TurnContext, size: AnswerSize): void {
    const { id: userId } = turn.speaker;
    const messageIds = turn.messages.map(({ id }) => id);
    const answer = { ...size, messageIds, at: turn.now.toISOString(), place: turn.place };
    sizes.set(userId, [...(sizes.get(userId) ?? []), answer].slice(-limits.answerSizes.answers));
  }

  return {
    ...layer,
    /** Where nothing of the turn may be stored, only this process knows what was used, and nobody its size. */
    async record(
      turn: TurnContext,
      used: UsedMemory,
      isStored: boolean,
      size: AnswerSize | undefined,
    ): Promise<void> {
      const session = sessionOf(turn);
      const messageIds = turn.messages.map(({ id }) => id);
      const answer = { messageIds, at: turn.now.toISOString(), ...reachOf(turn.place), ...used };
      const know = (): void => {
        for (const id of messageIds) recent.set(nameOf(session, id), answer);
      };
      if (!isStored) return know();
      await writes.run(workOf(turn), async () => {
        know();
        if (size !== undefined) knowSize(turn, size);
        const key = keyOf(session);
        const last = await store.append(key, answer);
        if (last % limits.answerSources !== 0) return;
        const first = last - limits.answerSources;
        const change = ({
          sequence,
          record,
        }: {
          readonly sequence: number;
          readonly record: AnswerProvenance;
        }) => (sequence > first ? record : undefined);
        await store.rewrite(key, answerSchema, change);
      });
    },
    /** The newest answers to a person since the start, as far as they are stored, the newest first [Y2a]. */
    sizesOf: (userId: string): readonly SizedAnswer[] => (sizes.get(userId) ?? []).toReversed(),
    /** The answer was sent as these messages. */
    sent(turn: TurnContext, answerIds: readonly string[]): void {
      const session = sessionOf(turn);
      const question = turn.messages.at(-1)?.id ?? '';
      for (const id of answerIds) questions.set(nameOf(session, id), question);
    },
    /**
     * What is known of the answer that this message is, or that answers it; by default the newest. `unknown`: it is an
     * answer of which nothing is known any more; `undefined`: it is none.
     */
    async find(session: SessionKey, id?: string): Promise<AnswerProvenance | 'unknown' | undefined> {
      const stored = await recordsOf(session);
      if (id === undefined) {
        const own = [...recent.entries()].flatMap(([name, answer]) =>
          name.startsWith(`${sessionName(session)} `) ? [answer] : [],
        );
        return [...stored, ...own].toSorted((a, b) => (a.at < b.at ? -1 : 1)).at(-1);
      }
      const answered = await questionOf(session, id);
      const question = answered ?? id;
      const found =
        recent.get(nameOf(session, question)) ??
        stored.findLast(({ messageIds }) => messageIds.includes(question));
      if (found !== undefined) return found;
      return answered !== undefined || (await log.logged(session, id)) !== undefined ? 'unknown' : undefined;
    },
  };
}

function goneIn({ messages }: Withdrawn): ReadonlySet<string> {
  return new Set(
    messages.flatMap(({ before, now }) => {
      if (before.role === 'assistant') return before.replyTo;
      return now === undefined ? [before.id] : [];
    }),
  );
}

function keyOf(session: SessionKey): string {
  return `${sessionFolder(session)}/answers.jsonl`;
}

function nameOf(session: SessionKey, messageId: string): string {
  return `${sessionName(session)} ${messageId}`;
}
