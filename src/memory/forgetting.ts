import type { SessionKey } from '../core/place.ts';
import type { Store } from '../core/store.ts';
import { sameItemForm } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import type { ChangeLedger } from './changes.ts';
import { readDurable, type DurableItem } from './durable/document.ts';
import { sentencesOf } from '../core/sentences.ts';
import { saysEarlier, sourcesOf, type ToForget } from './durable/items.ts';
import type { ExportedFile, MemoryLayer, Withdrawn, WithdrawnMessage } from './layer.ts';
import type { AnswerKeeper } from './deleting.ts';
import type { SessionLog } from './log/session-log.ts';
import { undoForMs, type UndoablePart } from './undo.ts';
import {
  coverOf,
  emptyRecord,
  markOf,
  sessionsIn,
  wholly,
  withheld,
  withoutSentences,
  type NoteLines,
  type WithheldRecord,
} from './withheld.ts';

export interface ForgettingPorts {
  readonly store: Pick<Store, 'read' | 'readText'>;
  readonly log: Pick<SessionLog, 'affected' | 'held'>;
  readonly changes: Pick<ChangeLedger, 'enter' | 'leave' | 'recordsOf'>;
  /** Lines of notes and summaries that say what some messages of a conversation said. */
  readonly notesSaying: (withdrawn: Pick<Withdrawn, 'session' | 'messages'>) => Promise<NoteLines>;
  readonly answers: Pick<AnswerKeeper, 'markHandled'>;
  /** What may be told of a person has changed; with the conversations that it touches. */
  readonly changed: (userId: string, sessions: readonly SessionKey[]) => void;
  readonly clock: Clock;
}

/**
 * What people have forgotten [K4] [K5]. It is resolved once, when it is said, into a record of what it covers, and
 * nothing else is touched: undo removes the record. Rejects with `StoreError`.
 */
export function createForgetting(ports: ForgettingPorts) {
  const { store, log, changes, answers, changed, clock } = ports;

  /** As part of a job of the person's queue. Resolves with what undoes it, and how many messages it covers. */
  async function withhold(
    toForget: ToForget,
  ): Promise<{ readonly withdrawn: number; readonly undoId?: string | undefined }> {
    const { userId, commandId, words, forgotten, past } = toForget;
    const taken = await messagesTaken(toForget);
    const all = taken.flatMap(({ messages }) => messages);
    const messages = taken.flatMap((each) => [
      ...wholly(each.session.channelId, each.deleted),
      ...coverOf(each.session, each.messages),
    ]);
    const whole = messages.filter(({ sentences }) => sentences === undefined);
    const messageIds = new Set(whole.map(({ messageId }) => messageId));
    const isSaying = words === '' ? () => false : saysEarlier(words, commandId);
    const proposed = toForget.proposed.filter(
      (item) => messageIds.has(item.source.messageId) || isSaying(item),
    );
    const now = clock();
    const record: WithheldRecord = {
      ...emptyRecord(userId, now.toISOString(), { kind: 'forgotten', commandId }),
      until: new Date(now.getTime() + undoForMs).toISOString(),
      messages,
      items: [...forgotten, ...past, ...proposed].map(markOf),
      notes: (await Promise.all(taken.map(ports.notesSaying))).flat(),
    };
    if (record.items.length + messages.length === 0) return { withdrawn: 0 };
    await changes.enter(userId, record);
    // They get no answer any more, which could repeat it.
    const answered = new Set(all.flatMap(({ before }) => (before.role === 'user' ? [] : before.replyTo)));
    for (const { channelId } of sessionsIn(record)) {
      const own = whole.filter((each) => each.channelId === channelId).map(({ messageId }) => messageId);
      const unanswered = own.filter((id) => !answered.has(id));
      if (unanswered.length > 0) await answers.markHandled(channelId, unanswered);
    }
    changed(userId, sessionsIn(record));
    return { withdrawn: all.length, undoId: record.id };
  }

  /** The messages that it came from, with the answers to them; of those that another item came from, what that does not say. */
  async function messagesTaken({ userId, forgotten, others, messages }: ToForget) {
    const sources = sourcesOf(forgotten);
    const ids = new Map<string, Set<string>>();
    for (const { channelId, messageIds } of [...messages, ...sources])
      ids.set(channelId, new Set([...(ids.get(channelId) ?? []), ...messageIds]));
    const whole = new Set(messages.flatMap(({ messageIds }) => messageIds));
    const taken: { session: SessionKey; deleted: readonly string[]; messages: WithdrawnMessage[] }[] = [];
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
      taken.push({ session, deleted, messages: distinct });
    }
    return taken;
  }

  const isUndoable = ({ change, until }: WithheldRecord): boolean =>
    change.kind === 'forgotten' && Date.parse(until) > clock().getTime();

  /** Undoing removes the record: nothing else was touched, so everything is as it was. */
  const part: UndoablePart = {
    async list(userId) {
      const records = (await changes.recordsOf(userId)).filter(isUndoable);
      return records.map(({ id, at }) => ({ id, what: 'forget', at }));
    },
    async undo(userId, id) {
      const record = (await changes.recordsOf(userId)).find((each) => each.id === id);
      if (record === undefined) return false;
      await changes.leave(userId, record);
      changed(userId, sessionsIn(record));
      return true;
    },
  };

  /** What is withheld, with all its words: it is still the person's [K10]. */
  async function* exported(userId: string): AsyncGenerator<ExportedFile> {
    for (const record of await changes.recordsOf(userId)) {
      const { id, at, until } = record;
      const { hasItem, hasLine } = withheld([record]);
      const { items: all } = await readDurable(store, userId);
      const items = all.filter((item) => hasItem(markOf(item)));
      const ids = [...new Set(record.messages.map(({ messageId }) => messageId))];
      const messages = await Promise.all(sessionsIn(record).map((session) => log.held(session, ids)));
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
    // The ledger deletes what its records cover, and then the records.
    delete: () => Promise.resolve(),
    export: exported,
  };

  return {
    layer,
    part,
    withhold,
    /** Whether work on a conversation waits, since something in its log was forgotten and can be taken back. */
    async isWaitedFor(this: void, session: SessionKey): Promise<boolean> {
      const records = (await changes.recordsOf(session.userId)).filter(isUndoable);
      const covered = records.flatMap(({ messages }) => messages);
      const ids = covered.flatMap((each) => (each.channelId === session.channelId ? each.messageId : []));
      return ids.length > 0 && (await log.held(session, ids)).length > 0;
    },
  };
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
