import type { SessionKey } from '../../core/place.ts';
import type { LogEntry } from '../../core/store.ts';
import { foldLog } from './fold-log.ts';
import type { SequencedMessage } from './fold-log.ts';
import { idsOf } from './log-record.ts';
import type { AssistantMessage, LogRecord } from './log-record.ts';
import type { LogTails } from './log-tails.ts';
import { saysAny, withdrawnTerms } from './withdrawn-terms.ts';

/** What happened to messages, by id: the new text of an edited one, `undefined` for a deleted one. */
export type MessageChanges = ReadonlyMap<string, string | undefined>;

/**
 * Edits and deletes messages of one session [G5]; resolves with those that it held, as they were before. The lines that say so are on disk
 * first: after a crash in between, the fold hides what its own line still holds. Runs as a job of the user's queue.
 *
 * A reply sent as several messages goes as a whole when one of them is deleted, since nobody knows which words were in which. It goes with a
 * question that is deleted, whose words it may repeat, and with one that is edited if it does repeat what the edit took out. Replies are logged
 * when they are whole, so edits of them are the bot's own streaming and change nothing.
 */
export async function changeMessages(
  tails: LogTails,
  session: SessionKey,
  changes: MessageChanges,
  at: string,
): Promise<readonly SequencedMessage[]> {
  const entries = await tails.covering(session, [...changes.keys()]);
  const affected = changedBy(foldLog(entries).messages, changes);
  if (affected.length === 0) return [];

  const edited = new Map<number, { readonly text: string; readonly line: number }>();
  const deleted = new Set<number>();
  for (const { sequence, message } of affected) {
    const text = message.role === 'user' ? changes.get(message.id) : undefined;
    const record = { id: message.id, of: sequence, at };
    if (text === undefined) {
      await tails.append(session, { type: 'delete', ...record });
      deleted.add(sequence);
    } else {
      edited.set(sequence, { text, line: await tails.append(session, { type: 'edit', ...record, text }) });
    }
  }

  await tails.rewrite(session, (entry) => {
    const target = targetOf(entry);
    const edit = edited.get(target);
    if (edit !== undefined) return withText(entry, edit);
    return deleted.has(target) && entry.record.type !== 'delete' ? undefined : entry.record;
  });
  return affected;
}

/** Edits and deletions that are to be finished lie this near to the end of the log, in lines: a whole bulk deletion does. */
const lookBack = 256;

/** Does again what a kill came between: lines that an edit or deletion is about no longer hold what they held. Runs as a job of the user's queue. */
export async function finishChanges(tails: LogTails, session: SessionKey, last: number): Promise<void> {
  const recent = await tails.after(session, Math.max(0, last - lookBack));
  const ids = recent.flatMap(({ record }) => (record.type === 'message' ? [] : [record.id]));
  if (ids.length === 0) return;
  const entries = await tails.covering(session, ids);
  const deleted = new Set<number>();
  const edited = new Map<number, { readonly text: string; readonly line: number }>();
  for (const { sequence, record } of entries) {
    if (record.type === 'delete') deleted.add(record.of);
    else if (record.type === 'edit') edited.set(record.of, { text: record.text, line: sequence });
  }
  const settled = (entry: LogEntry<LogRecord>): LogRecord | undefined => {
    const target = targetOf(entry);
    if (deleted.has(target)) return entry.record.type === 'delete' ? entry.record : undefined;
    const edit = edited.get(target);
    return edit === undefined ? entry.record : withText(entry, edit);
  };
  if (entries.some((entry) => textOf(settled(entry)) !== textOf(entry.record)))
    await tails.rewrite(session, settled);
}

/** What changes, replies included that go with their question. */
function changedBy(
  messages: readonly SequencedMessage[],
  changes: MessageChanges,
): readonly SequencedMessage[] {
  const withdrawn = new Map<string, ReadonlySet<string>>();
  return messages.filter(({ message }) => {
    if (message.role === 'assistant') return isWithdrawn(message, changes, withdrawn);
    if (!changes.has(message.id)) return false;
    const text = changes.get(message.id);
    withdrawn.set(message.id, withdrawnTerms(message.text, text));
    return text !== message.text;
  });
}

function isWithdrawn(
  message: AssistantMessage,
  changes: MessageChanges,
  withdrawn: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const isDeleted = (id: string): boolean => changes.has(id) && changes.get(id) === undefined;
  if ([...idsOf(message), ...message.replyTo].some(isDeleted)) return true;
  return message.replyTo.some((id) => saysAny(message.text, withdrawn.get(id) ?? new Set()));
}

function targetOf({ sequence, record }: LogEntry<LogRecord>): number {
  return record.type === 'message' ? sequence : record.of;
}

function textOf(record: LogRecord | undefined): string | undefined {
  return record === undefined || record.type === 'delete' ? undefined : record.text;
}

/** An edited message with its new text; lines of earlier edits go, since they hold what it said before. */
function withText(
  { sequence, record }: LogEntry<LogRecord>,
  edit: { readonly text: string; readonly line: number },
): LogRecord | undefined {
  if (record.type === 'message') return { ...record, text: edit.text };
  return record.type === 'edit' && sequence !== edit.line ? undefined : record;
}
