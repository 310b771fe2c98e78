import type { SessionKey } from '../../core/place.ts';
import type { LogEntry } from '../../core/store.ts';
import { foldLog } from './fold-log.ts';
import type { SequencedMessage } from './fold-log.ts';
import { idsOf } from './log-record.ts';
import type { LogRecord, LoggedMessage } from './log-record.ts';
import type { LogTails } from './log-tails.ts';

/** What happened to messages, by id: the new text of an edited one, `undefined` for a deleted one. */
export type MessageChanges = ReadonlyMap<string, string | undefined>;

/**
 * Edits and deletes messages of one session [G5]; resolves with those that it held, as they were before. The line that says so is on disk
 * first: after a crash in between, the fold hides what its own line still holds. Runs as a job of the user's queue.
 *
 * A reply sent as several messages goes as a whole when one of them is deleted, since nobody knows which words were in which. Replies are logged when they are
 * whole, so edits of them are the bot's own streaming and change nothing.
 */
export async function changeMessages(
  tails: LogTails,
  session: SessionKey,
  changes: MessageChanges,
  at: string,
): Promise<readonly SequencedMessage[]> {
  const entries = await tails.covering(session, [...changes.keys()]);
  const affected = foldLog(entries).messages.filter(({ message }) => isChanged(message, changes));
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

function isChanged(message: LoggedMessage, changes: MessageChanges): boolean {
  if (message.role === 'assistant')
    return idsOf(message).some((id) => changes.has(id) && changes.get(id) === undefined);
  return changes.has(message.id) && changes.get(message.id) !== message.text;
}

function targetOf({ sequence, record }: LogEntry<LogRecord>): number {
  return record.type === 'message' ? sequence : record.of;
}

/** An edited message with its new text; lines of earlier edits go, since they hold what it said before. */
function withText(
  { sequence, record }: LogEntry<LogRecord>,
  edit: { readonly text: string; readonly line: number },
): LogRecord | undefined {
  if (record.type === 'message') return { ...record, text: edit.text };
  return record.type === 'edit' && sequence !== edit.line ? undefined : record;
}
