import { z } from 'zod';

import type { Writes } from '../core/writes.ts';
import { lruCache, limits } from '../core/limits.ts';
import { usedMemorySchema, type UsedMemory } from '../core/memory-source.ts';
import type { Place, SessionKey } from '../core/place.ts';
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

/** An answer since the start, whose messages have these ids: those that were answered, and its own. */
interface RecentAnswer {
  readonly channelId: string;
  readonly ids: readonly string[];
  /** Of what may not be stored. */
  readonly unstored?: AnswerProvenance;
  readonly size?: SizedAnswer | undefined;
}

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
  /** By person, the newest last. */
  const recent = lruCache<string, readonly RecentAnswer[]>(limits.answerSizes.people);
  const recentOf = (userId: string): readonly RecentAnswer[] => recent.get(userId) ?? [];

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

  function know(userId: string, answer: RecentAnswer): void {
    recent.set(userId, [...recentOf(userId), answer].slice(-limits.answerSources));
  }

  function drop(userId: string, isGone: (answer: RecentAnswer) => boolean): void {
    const left = recentOf(userId).filter((answer) => !isGone(answer));
    recent.set(userId, left);
  }

  function dropStored(session: SessionKey, isGone: (answer: AnswerProvenance) => boolean): Promise<void> {
    return store.rewrite(keyOf(session), answerSchema, ({ record }) => (isGone(record) ? undefined : record));
  }

  const layer: MemoryLayer = {
    name: 'provenance',
    sections: () => Promise.resolve([]),
    async delete(deletion) {
      const userId = personOf(deletion);
      switch (deletion.kind) {
        case 'messages': {
          const gone = goneIn(deletion);
          drop(userId, ({ ids }) => ids.some((id) => gone.has(id)));
          return dropStored(deletion.session, ({ messageIds }) => messageIds.some((id) => gone.has(id)));
        }
        case 'words': {
          // Names of files are words too.
          const isSaying = ({ prompt, tools }: AnswerProvenance): boolean =>
            [...prompt, ...tools.flatMap(({ sources }) => sources)].some(
              (source) => source.kind === 'file' && saysWords(source.path, deletion.words),
            );
          drop(userId, ({ unstored }) => unstored !== undefined && isSaying(unstored));
          for (const session of await log.sessionsOfPerson(userId)) await dropStored(session, isSaying);
          return;
        }
        case 'record':
          return;
        case 'conversations':
        case 'person': {
          for (const session of deletion.sessions) await store.remove(keyOf(session));
          const channels = new Set(deletion.sessions.map(({ channelId }) => channelId));
          if (deletion.kind === 'person') recent.delete(userId);
          else drop(userId, ({ channelId }) => channels.has(channelId));
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
    evict: (userId) => void recent.delete(userId),
  };

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
      const { channelId, userId } = session;
      const messageIds = turn.messages.map(({ id }) => id);
      const at = turn.now.toISOString();
      const answer = { messageIds, at, ...reachOf(turn.place), ...used };
      if (!isStored) return know(userId, { channelId, ids: messageIds, unstored: answer });
      await writes.run(turn.work, async () => {
        const sized = size && { ...size, messageIds, at, place: turn.place };
        know(userId, { channelId, ids: messageIds, size: sized });
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
    async sizesOf(userId: string): Promise<readonly SizedAnswer[]> {
      const sized = recentOf(userId).flatMap(({ size }) => size ?? []);
      return (await toldOf(userId, sized.slice(-limits.answerSizes.answers))).toReversed();
    },
    /** The answer was sent as these messages. */
    sent(turn: TurnContext, answerIds: readonly string[]): void {
      const { userId } = sessionOf(turn);
      const question = turn.messages.at(-1)?.id ?? '';
      const withIds = (answer: RecentAnswer): RecentAnswer =>
        answer.ids.includes(question) ? { ...answer, ids: [...answer.ids, ...answerIds] } : answer;
      recent.set(userId, recentOf(userId).map(withIds));
    },
    /**
     * What is known of the answer that this message is, or that answers it; by default the newest. `unknown`: it is an
     * answer of which nothing is known any more; `undefined`: it is none.
     */
    async find(session: SessionKey, id?: string): Promise<AnswerProvenance | 'unknown' | undefined> {
      const stored = await recordsOf(session);
      const own = recentOf(session.userId).filter(({ channelId }) => channelId === session.channelId);
      if (id === undefined)
        return [...stored, ...own.flatMap(({ unstored }) => unstored ?? [])]
          .toSorted((a, b) => (a.at < b.at ? -1 : 1))
          .at(-1);
      const known = own.findLast(({ ids, unstored }) => unstored !== undefined && ids.includes(id));
      if (known !== undefined) return known.unstored;
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
