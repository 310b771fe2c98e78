import { z } from 'zod';

import type { Writes } from '../core/writes.ts';
import { lruCache, limits } from '../core/limits.ts';
import { usedMemorySchema, type UsedMemory } from '../core/memory-source.ts';
import { sessionName, type Place, type SessionKey } from '../core/place.ts';
import type { AnswerSize } from '../core/section.ts';
import type { Store } from '../core/store.ts';
import { saysWords } from '../core/text.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import { reachFields, reachOf } from '../core/visibility.ts';
import { personOf, type MemoryLayer, type Withdrawn } from './layer.ts';
import { sessionFolder } from './log/session-state.ts';
import type { SessionLog } from './log/session-log.ts';
import { readWithheld } from './withheld.ts';

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

/** Conversations whose answers are found also where nothing of them may be stored. */
const knownSessions = 1000;
type UnstoredAnswer = { readonly ids: ReadonlySet<string>; readonly answer: AnswerProvenance };

export type Provenance = ReturnType<typeof createProvenance>;

/**
 * What each answer was made from, by reference [K7]: `sessions/<channelId>/<userId>/answers.jsonl`, written before the
 * answer is sent. Rejects with `StoreError`.
 */
export function createProvenance({
  store,
  writes,
  log,
}: {
  readonly store: Store;
  readonly writes: Writes;
  readonly log: Pick<SessionLog, 'logged' | 'sessionsOfPerson'>;
}) {
  /** What may not be stored, by session, with the ids of what was answered and of the answer's messages. */
  const unstored = lruCache<string, readonly UnstoredAnswer[]>(knownSessions);
  /** By person, the newest last. */
  const sizes = lruCache<string, readonly SizedAnswer[]>(limits.answerSizes.people);

  async function recordsOf(session: SessionKey): Promise<readonly AnswerProvenance[]> {
    const records: AnswerProvenance[] = [];
    for await (const { record } of store.scan(keyOf(session), answerSchema)) records.push(record);
    return toldOf(session.userId, records.slice(-limits.answerSources));
  }

  /** Without answers to what is withheld. */
  async function toldOf<Answer extends { readonly messageIds: readonly string[] }>(
    userId: string,
    answers: readonly Answer[],
  ): Promise<readonly Answer[]> {
    const { hasMessage } = await readWithheld(store, userId);
    return answers.filter(({ messageIds }) => !messageIds.some(hasMessage));
  }

  function dropSizes(userId: string, isGone: (answer: SizedAnswer) => boolean): void {
    const kept = (sizes.get(userId) ?? []).filter((answer) => !isGone(answer));
    if (kept.length === 0) sizes.delete(userId);
    else sizes.set(userId, kept);
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
    const own = unstored.get(sessionName(session));
    if (own !== undefined)
      unstored.set(
        sessionName(session),
        own.map(({ ids, answer }) => ({ ids, answer: cleaned(answer) })),
      );
    await store.rewrite(keyOf(session), answerSchema, ({ record }) => cleaned(record));
  }

  const layer: MemoryLayer = {
    name: 'provenance',
    sections: () => Promise.resolve([]),
    async delete(deletion) {
      const userId = personOf(deletion);
      switch (deletion.kind) {
        case 'messages': {
          const gone = goneIn(deletion);
          const isGone = ({ messageIds }: Pick<SizedAnswer, 'messageIds'>): boolean =>
            messageIds.some((id) => gone.has(id));
          dropSizes(userId, isGone);
          return store.rewrite(keyOf(deletion.session), answerSchema, ({ record }) =>
            isGone(record) ? undefined : record,
          );
        }
        case 'words':
          for (const session of await log.sessionsOfPerson(userId))
            await withoutPaths(session, deletion.words);
          return;
        case 'record':
          return;
        case 'conversations':
        case 'person': {
          for (const session of deletion.sessions) await store.remove(keyOf(session));
          const isWhole = deletion.kind === 'person';
          const names = new Set(deletion.sessions.map(sessionName));
          const isOfOne = ({ place: { channelId } }: SizedAnswer): boolean =>
            names.has(sessionName({ channelId, userId }));
          dropSizes(userId, (answer) => isWhole || isOfOne(answer));
          evict((session) => names.has(session) || (isWhole && session.endsWith(`:${userId}`)));
        }
      }
    },
    async *export(userId) {
      for (const session of await log.sessionsOfPerson(userId)) {
        const answers = await recordsOf(session);
        if (answers.length === 0) continue;
        const text = JSON.stringify(answers, undefined, 2);
        yield { path: `conversations/${session.channelId}/answers.json`, text };
      }
    },
    evict(userId) {
      sizes.delete(userId);
      evict((session) => session.endsWith(`:${userId}`));
    },
  };

  function evict(isGone: (session: string) => boolean): void {
    for (const name of Array.from(unstored.keys())) if (isGone(name)) unstored.delete(name);
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
      if (!isStored) {
        const known = unstored.get(sessionName(session)) ?? [];
        const added = [...known, { ids: new Set(messageIds), answer }].slice(-limits.answerSources);
        unstored.set(sessionName(session), added);
        return;
      }
      await writes.run(turn.work, async () => {
        if (size !== undefined) knowSize(turn, size);
        const key = keyOf(session);
        const last = await store.append(key, answer);
        if (last % limits.answerSources !== 0) return;
        const first = last - limits.answerSources;
        await store.rewrite(key, answerSchema, ({ sequence, record }) =>
          sequence > first ? record : undefined,
        );
      });
    },
    /** The newest answers to a person since the start, as far as they are stored, the newest first [Y2a]. */
    sizesOf: async (userId: string): Promise<readonly SizedAnswer[]> =>
      (await toldOf(userId, sizes.get(userId) ?? [])).toReversed(),
    /** The answer was sent as these messages. */
    sent(turn: TurnContext, answerIds: readonly string[]): void {
      const name = sessionName(sessionOf(turn));
      const question = turn.messages.at(-1)?.id ?? '';
      const answers = unstored.get(name)?.map(({ ids, answer }) => ({
        ids: ids.has(question) ? new Set([...ids, ...answerIds]) : ids,
        answer,
      }));
      if (answers !== undefined) unstored.set(name, answers);
    },
    /**
     * What is known of the answer that this message is, or that answers it; by default the newest. `unknown`: it is an
     * answer of which nothing is known any more; `undefined`: it is none.
     */
    async find(session: SessionKey, id?: string): Promise<AnswerProvenance | 'unknown' | undefined> {
      const stored = await recordsOf(session);
      const own = unstored.get(sessionName(session)) ?? [];
      if (id === undefined)
        return [...stored, ...own.map(({ answer }) => answer)]
          .toSorted((a, b) => (a.at < b.at ? -1 : 1))
          .at(-1);
      const known = own.findLast(({ ids }) => ids.has(id));
      if (known !== undefined) return known.answer;
      const message = await log.logged(session, id);
      const question = message?.role === 'assistant' ? message.replyTo.at(-1) : id;
      const found = stored.findLast(({ messageIds }) => messageIds.includes(question ?? id));
      return found ?? (message === undefined ? undefined : 'unknown');
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
