import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { SessionKey } from '../core/place.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import { sameItemForm } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import { unconditional, type Writes } from '../core/writes.ts';
import type { AnswerKeeper } from './changes.ts';
import { readDurable, type DurableItem } from './durable/document.ts';
import { sentencesOf } from './durable/evidence.ts';
import { sourcesOf } from './durable/items.ts';
import type { ExportedFile, MemoryLayer, Withdrawn, WithdrawnMessage } from './layer.ts';
import { idsOf } from './log/records.ts';
import type { SessionLog } from './log/session-log.ts';
import { undoForMs, type MessagesByChannel, type UndoablePart, type UndoLog } from './undo.ts';
import {
  hashOf,
  markOf,
  readWithheld,
  recordsWaitedFor,
  withheld,
  withheldKey,
  withheldKind,
  withoutSentences,
  workspaceId,
  type NoteLines,
  type WithheldRecord,
} from './withheld.ts';

const partSchema = z.object({ withheld: z.string() });

/** What is to be forgotten, as it was resolved when it was said. */
interface ToForget {
  readonly userId: string;
  /** The snowflake of who said so. */
  readonly commandId: string;
  readonly words: string;
  readonly forgotten: readonly DurableItem[];
  /** What these had corrected. */
  readonly past: readonly DurableItem[];
  /** The person's other active items: their sentences stay. */
  readonly others: readonly DurableItem[];
  readonly messages: MessagesByChannel;
}

export interface ForgettingPorts {
  readonly store: Pick<Store, 'read' | 'readText' | 'update' | 'remove' | 'list'>;
  /** The users' write queue [S3]. */
  readonly writes: Pick<Writes, 'run' | 'runInWorkspace'>;
  readonly log: Pick<SessionLog, 'affected' | 'held'>;
  readonly undo: Pick<UndoLog, 'noting'>;
  /** Lines of notes and summaries that say what some messages of a conversation said. */
  readonly notesSaying: (withdrawn: Pick<Withdrawn, 'session' | 'messages'>) => Promise<NoteLines>;
  /** Marks of what waits for the person's yes and says the words, or came from the messages. */
  readonly proposalsOf: (forgotten: {
    readonly userId: string;
    readonly words: string;
    readonly commandId: string;
    readonly messageIds: readonly string[];
  }) => Promise<readonly string[]>;
  /** All of them, the log first. */
  readonly layers: Pick<readonly MemoryLayer[], 'toReversed'>;
  readonly answers: Pick<AnswerKeeper, 'hide' | 'markHandled'>;
  /** Has `finish` called for a person from a time on. Rejects with `StoreError`. */
  readonly expireAt: (userId: string, time?: Date) => Promise<void>;
  /** What may be told of a person has changed; with the conversations that it touches. */
  readonly changed: (userId: string, sessions: readonly SessionKey[]) => void;
  readonly clock: Clock;
}

export type Forgetting = ReturnType<typeof createForgetting>;

/**
 * What people have forgotten [K4] [K5]. It is resolved once, when it is said, into a record of what it covers, and
 * nothing else is touched: readers leave out what a record covers, and undo removes the record. Ten minutes later every
 * layer deletes it, and only then the record goes. Rejects with `StoreError`.
 */
export function createForgetting(ports: ForgettingPorts) {
  const { store, writes, log, undo, layers, answers, expireAt, changed, clock } = ports;

  async function recordsOf(id: string): Promise<readonly WithheldRecord[]> {
    return (await store.read(withheldKey(id), withheldKind))?.records ?? [];
  }

  async function change(
    id: string,
    make: (records: readonly WithheldRecord[]) => readonly WithheldRecord[],
  ): Promise<void> {
    const left = await store.update(withheldKey(id), withheldKind, (before) => ({
      version: 1 as const,
      records: make(before?.records ?? []),
    }));
    if (left?.records.length === 0) await store.remove(withheldKey(id));
  }

  /** The owners' notes first: a record of theirs without its person's is none. */
  async function add(userId: string, record: WithheldRecord): Promise<void> {
    const shared = record.notes.filter(({ key }) => key.startsWith('workspace/'));
    if (shared.length > 0) {
      const part = { ...record, waiting: [], messages: [], sentences: [], items: [], notes: shared };
      await writes.runInWorkspace(() => change(workspaceId, (all) => [...all, part]));
    }
    await change(userId, (all) => [...all, record]);
  }

  async function remove(userId: string, record: WithheldRecord): Promise<void> {
    const others = (all: readonly WithheldRecord[]) => all.filter(({ id }) => id !== record.id);
    await change(userId, others);
    if ((await recordsOf(workspaceId)).some(({ id }) => id === record.id))
      await writes.runInWorkspace(() => change(workspaceId, others));
    changed(userId, sessionsOf(userId, record));
  }

  /** As part of a job of the person's queue. Resolves with what undoes it, and how many messages it covers. */
  async function withhold(
    toForget: ToForget,
  ): Promise<{ readonly withdrawn: number; readonly undoId?: string | undefined }> {
    const { userId, commandId, words, forgotten, past } = toForget;
    const now = clock();
    const taken = await messagesTaken(toForget);
    const all = taken.flatMap(({ messages }) => messages);
    const gone = all.filter((message) => message.now === undefined).flatMap(({ before }) => idsOf(before));
    const notes = (await Promise.all(taken.map(ports.notesSaying))).flat();
    const proposals = await ports.proposalsOf({ userId, words, commandId, messageIds: gone });
    const until = new Date(now.getTime() + undoForMs);
    const waiting = taken.flatMap(({ session, messages }) => (messages.length > 0 ? session.channelId : []));
    const earlier = withheld(await recordsOf(userId));
    const isOfThese = (each: WithheldRecord): boolean => each.waiting.some((id) => waiting.includes(id));
    const [waited] = recordsWaitedFor(earlier, now, isOfThese);
    const record: WithheldRecord = {
      id: randomUUID().slice(0, 8),
      userId,
      at: now.toISOString(),
      until: until.toISOString(),
      waitingSince: waited?.waitingSince ?? now.toISOString(),
      waiting,
      commandId,
      messages: taken.map(({ session, ids }) => ({ channelId: session.channelId, messageIds: ids })),
      sentences: taken.flatMap(({ session, messages }) =>
        messages.flatMap((message) => sentencesTaken(session, message)),
      ),
      items: [...[...forgotten, ...past].map(markOf), ...proposals],
      notes,
    };
    if (record.items.length + record.messages.length + record.sentences.length === 0) return { withdrawn: 0 };
    const part = { withheld: record.id };
    const { undoId } = await undo.noting({ userId, what: 'forget', part }, async () => {
      await expireAt(userId, until);
      await add(userId, record);
    });
    for (const { session, ids, messages } of taken) {
      const replies = messages.map(({ before }) => (before.role === 'user' ? [] : before.replyTo));
      const answered = new Set(replies.flat());
      const waiting = ids.filter((id) => !answered.has(id));
      if (waiting.length > 0) await answers.markHandled(session.channelId, waiting);
    }
    changed(userId, sessionsOf(userId, record));
    return { withdrawn: all.length, undoId };
  }

  /** The messages that it came from, with the answers to them; of those that another item came from, what that does not say. */
  async function messagesTaken({ userId, forgotten, others, messages }: ToForget) {
    const sources = sourcesOf(forgotten);
    const ids = new Map<string, Set<string>>();
    for (const { channelId, messageIds } of [...messages, ...sources])
      ids.set(channelId, new Set([...(ids.get(channelId) ?? []), ...messageIds]));
    const whole = new Set(messages.flatMap(({ messageIds }) => messageIds));
    const taken: { session: SessionKey; ids: readonly string[]; messages: WithdrawnMessage[] }[] = [];
    for (const [channelId, messageIds] of ids) {
      const session = { channelId, userId };
      const deleted: string[] = [];
      const found: WithdrawnMessage[] = [];
      for (const messageId of messageIds) {
        const isFromIt = ({ source }: DurableItem): boolean => source.messageId === messageId;
        const staying = whole.has(messageId) ? [] : others.filter(isFromIt);
        const [held] = staying.length === 0 ? [] : await log.held(session, [messageId]);
        const text = held && textWithout(held.text, forgotten.filter(isFromIt), staying);
        if (text === undefined) deleted.push(messageId);
        else found.push(...(await log.affected(session, { kind: 'edited', channelId, messageId, text })));
      }
      if (deleted.length > 0)
        found.push(...(await log.affected(session, { kind: 'deleted', channelId, messageIds: deleted })));
      const distinct = [...new Map(found.map((each) => [each.sequence, each])).values()];
      const gone = distinct.filter(({ now }) => now === undefined).flatMap(({ before }) => idsOf(before));
      taken.push({ session, ids: [...new Set([...deleted, ...gone])], messages: distinct });
    }
    return taken;
  }

  /** Deletes what can no longer be undone [S7]; where a layer cannot follow it stays withheld, and this rejects. */
  function finish(userId: string): Promise<void> {
    return writes.run(unconditional(userId), async () => {
      await dropStrays(userId);
      for (const record of await recordsOf(userId))
        if (Date.parse(record.until) <= clock().getTime()) {
          await deleteFor(userId, record);
          await remove(userId, record);
        }
      const [next] = (await recordsOf(userId)).map(({ until }) => until).toSorted();
      if (next !== undefined) await expireAt(userId, new Date(next));
    });
  }

  /** A kill came before the person's own record was there, or after it had gone. */
  async function dropStrays(userId: string): Promise<void> {
    const shared = await recordsOf(workspaceId);
    const own = new Set((await recordsOf(userId)).map(({ id }) => id));
    const isStray = ({ id, userId: of }: WithheldRecord): boolean => of === userId && !own.has(id);
    if (shared.some(isStray))
      await writes.runInWorkspace(() => change(workspaceId, (all) => all.filter((each) => !isStray(each))));
  }

  async function deleteFor(userId: string, record: WithheldRecord): Promise<void> {
    const sessions = sessionsOf(userId, record);
    const withdrawals: Withdrawn[] = [];
    for (const session of sessions) withdrawals.push(...(await withdrawnBy(session, record)));
    const changes = [...withdrawals, { kind: 'forgotten', userId, record } as const];
    for (const layer of layers.toReversed())
      for (const each of changes)
        for (const stage of ['hide', 'delete'] as const) await layer.follow(each, stage);
    // They stay on Discord, where they would be read again.
    for (const { channelId } of sessions) await answers.hide(channelId, idsIn(record, channelId));
  }

  /** What a record takes out of one conversation. */
  async function withdrawnBy(session: SessionKey, record: WithheldRecord): Promise<readonly Withdrawn[]> {
    const { channelId } = session;
    const { message } = withheld([record]);
    const whole = record.messages.flatMap((each) => (each.channelId === channelId ? each.messageIds : []));
    const causes: Withdrawn['cause'][] =
      whole.length === 0 ? [] : [{ kind: 'deleted', channelId, messageIds: whole }];
    for (const { messageId } of record.sentences.filter((each) => each.channelId === channelId)) {
      const [held] = await log.held(session, [messageId]);
      const text = held && message(messageId, held.text);
      if (text !== undefined) causes.push({ kind: 'edited', channelId, messageId, text });
      else causes.push({ kind: 'deleted', channelId, messageIds: [messageId] });
    }
    return Promise.all(
      causes.map(async (cause) => ({
        kind: 'withdrawn' as const,
        session,
        messages: await log.affected(session, cause),
        cause,
        isForgetting: true as const,
        isResolved: true as const,
      })),
    );
  }

  /** Undoing removes the record: nothing else was touched, so everything is as it was. */
  const part: UndoablePart = {
    async stateOf({ userId, part: noted }) {
      const id = partSchema.safeParse(noted).data?.withheld;
      if (id === undefined) return undefined;
      return (await recordsOf(userId)).some((record) => record.id === id) ? 'made' : 'reverted';
    },
    async revert({ userId, part: noted }) {
      const id = partSchema.safeParse(noted).data?.withheld;
      const record = (await recordsOf(userId)).find((each) => each.id === id);
      if (record !== undefined) await remove(userId, record);
    },
  };

  /** What is withheld, with all its words: it is still the person's [K10]. */
  async function* exported(userId: string): AsyncGenerator<ExportedFile> {
    for (const record of await recordsOf(userId)) {
      const { id, at, until } = record;
      const { hasItem, hasLine } = withheld([record]);
      const items = (await readDurable(store, userId)).items.filter((item) => hasItem(markOf(item)));
      const sessions = sessionsOf(userId, record);
      const messages = await Promise.all(
        sessions.map((session) => log.held(session, idsIn(record, session.channelId))),
      );
      const notes = await Promise.all(
        record.notes.map(async ({ key }) => {
          const text = key.endsWith('.md') ? ((await store.readText(key)) ?? '') : '';
          return { key, lines: text.split('\n').filter((line) => line !== '' && hasLine(key, line)) };
        }),
      );
      const text = { forgottenAt: at, goesAt: until, items, messages: messages.flat(), notes };
      yield { path: `forgotten/${id}.json`, text: JSON.stringify(text, undefined, 2) };
    }
  }

  const layer: MemoryLayer = {
    name: 'forgotten',
    sections: () => Promise.resolve([]),
    follow: () => Promise.resolve(),
    export: exported,
    async erase({ userId, isWhole }) {
      if (!isWhole) return;
      await store.remove(withheldKey(userId));
      await dropStrays(userId);
    },
  };

  return {
    layer,
    part,
    withhold,
    finish,
    /** Whether work on a conversation waits until what was forgotten there is final or taken back. */
    async isWaitedFor(this: void, { userId, channelId }: SessionKey): Promise<boolean> {
      const own = await readWithheld(store, userId);
      return recordsWaitedFor(own, clock(), ({ waiting }) => waiting.includes(channelId)).length > 0;
    },
    /** Up to which snowflake nothing of a person is noticed until they can take nothing back any more. */
    async unnoticedUpTo(this: void, userId: string): Promise<string | undefined> {
      const own = await readWithheld(store, userId);
      const waited = recordsWaitedFor(own, clock(), ({ items }) => items.length > 0);
      return waited
        .map(({ commandId }) => commandId)
        .toSorted(compareSnowflakes)
        .at(-1);
    },
    /** After a start: everybody of whom something is withheld. Rejects with `StoreError`. */
    async people(this: void): Promise<readonly string[]> {
      const shared = (await recordsOf(workspaceId)).map(({ userId }) => userId);
      const files = await store.list('changes');
      const own = files.flatMap(({ path }) => /^(?<id>\d+)\.json$/u.exec(path)?.groups?.['id'] ?? []);
      return [...new Set([...own, ...shared])];
    },
  };
}

function sessionsOf(userId: string, { messages, sentences }: WithheldRecord): readonly SessionKey[] {
  const channels = new Set([...messages, ...sentences].map(({ channelId }) => channelId));
  return Array.from(channels, (channelId) => ({ channelId, userId }));
}

function idsIn({ messages, sentences }: WithheldRecord, channelId: string): readonly string[] {
  const whole = messages.flatMap((each) => (each.channelId === channelId ? each.messageIds : []));
  const partly = sentences.flatMap((each) => (each.channelId === channelId ? each.messageId : []));
  return [...new Set([...whole, ...partly])];
}

/** The sentences that a message says no more. */
function sentencesTaken({ channelId }: SessionKey, { before, now }: WithdrawnMessage) {
  if (now === undefined) return [];
  const left = new Set(sentencesOf(now).map(({ segment }) => segment.trim()));
  const hashes = sentencesOf(before.text)
    .map(({ segment }) => segment.trim())
    .filter((sentence) => !left.has(sentence))
    .map(hashOf);
  return [{ channelId, messageId: before.id, hashes }];
}

/** A message without what only the forgotten items say of it; `undefined` where it is nothing else. */
function textWithout(
  text: string,
  forgotten: readonly DurableItem[],
  staying: readonly DurableItem[],
): string | undefined {
  const isSaid = sentencesOf(text).some(({ segment }) => says(forgotten, segment) && !says(staying, segment));
  // Where its words are not found there, all goes that no other item says.
  return withoutSentences(text, (each) => (isSaid ? says(forgotten, each) : true) && !says(staying, each));
}

function says(items: readonly DurableItem[], sentence: string): boolean {
  return items.some((item) => sameItemForm(item.text).includes(sameItemForm(sentence)));
}
