import type { MessageChange } from '../../core/changes.ts';
import type { SessionKey } from '../../core/place.ts';
import { maskSecrets } from '../../core/secrets.ts';
import type { LogEntry } from '../../core/store.ts';
import { stopTerms } from '../../core/stop-words.ts';
import { terms } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import { exceeds } from '../../core/visibility.ts';
import type { WithdrawnMessage } from '../layer.ts';
import { foldLog, idsOf, type AssistantMessage, type LogRecord, type SequencedMessage } from './records.ts';
import type { LogTails } from './tails.ts';

/**
 * The messages of one session that an edit or deletion concerns [G5], as they were before, while the log's own lines hold that. Those that it has taken
 * back already, but still holds on disk, are among them: a kill may have come between.
 *
 * A reply sent as several messages goes as a whole when one of them is deleted, since nobody knows which words were in which. It goes with a
 * question that is deleted, whose words it may repeat, and with one that is edited if it does repeat what the edit took out. Replies are logged
 * when they are whole, so edits of them are the bot's own streaming and change nothing.
 *
 * An edit widens nothing [V1]: where the new words may not be told wherever the message may, they are not taken in, and the message goes as if deleted.
 */
export async function affectedMessages(
  tails: LogTails,
  session: SessionKey,
  change: MessageChange,
): Promise<readonly WithdrawnMessage[]> {
  const changes = textsOf(change);
  const entries = await tails.covering(session, [...changes.keys()]);
  const present = new Map(foldLog(entries).messages.map(({ sequence, message }) => [sequence, message.text]));
  const held = heldMessages(entries);
  for (const { sequence, message } of held) {
    if (change.kind !== 'edited' || change.reach === undefined || message.id !== change.messageId) continue;
    const isSame = present.get(sequence) === changes.get(message.id);
    if (!isSame && exceeds(message, change.reach)) changes.set(message.id, undefined);
  }
  return changedBy(held, changes, present).map(({ sequence, message }) => {
    const now = message.role === 'user' ? changes.get(message.id) : undefined;
    return { sequence, before: message, now };
  });
}

/** Messages with every text that the log's lines still hold of them: several, where an earlier edit could not be finished. */
export function heldMessages(entries: readonly LogEntry<LogRecord>[]): readonly SequencedMessage[] {
  const texts = new Map<number, Set<string>>();
  for (const { sequence, record } of entries) {
    if (record.type === 'message') texts.set(sequence, new Set([record.text]));
    else if (record.type === 'edit') texts.get(record.of)?.add(record.text);
  }
  return entries.flatMap(({ sequence, record: message }) => {
    if (message.type !== 'message') return [];
    const text = [...(texts.get(sequence) ?? [])].join('\n');
    return [{ sequence, message: { ...message, text } }];
  });
}

/** The lines that say so: from now on the messages are read as they are now. */
export async function appendChanges(
  tails: LogTails,
  session: SessionKey,
  messages: readonly WithdrawnMessage[],
  at: string,
): Promise<void> {
  const entries = await tails.covering(
    session,
    messages.map(({ before }) => before.id),
  );
  const present = new Map(foldLog(entries).messages.map(({ sequence, message }) => [sequence, message.text]));
  await tails.appendAll(
    session,
    messages.flatMap(({ sequence, before, now }): readonly LogRecord[] => {
      if (present.get(sequence) === now) return [];
      const record = { id: before.id, of: sequence, at };
      return [now === undefined ? { type: 'delete', ...record } : { type: 'edit', ...record, text: now }];
    }),
  );
}

/** Takes out of the log's own lines, on disk, what the messages said and say no more; a deletion's line stays. */
export async function eraseChanges(
  tails: LogTails,
  session: SessionKey,
  messages: readonly WithdrawnMessage[],
): Promise<void> {
  const texts = new Map(messages.map(({ sequence, now }) => [sequence, now]));
  const entries = await tails.covering(
    session,
    messages.map(({ before }) => before.id),
  );
  const newest = new Map(
    entries.flatMap(({ sequence, record }) => (record.type === 'edit' ? [[record.of, sequence]] : [])),
  );
  await tails.rewrite(session, ({ sequence, record }) => {
    const target = record.type === 'message' ? sequence : record.of;
    if (!texts.has(target)) return record;
    const text = texts.get(target);
    if (text === undefined) return record.type === 'delete' ? record : undefined;
    if (record.type === 'message') return { ...record, text };
    // Lines of earlier edits hold what it said before.
    return record.type === 'edit' && sequence !== newest.get(target) ? undefined : record;
  });
}

/**
 * Takes back that messages were deleted, as far as their own lines hold them still: from now on they are read again. Resolves with the places in the
 * log of those that are.
 */
export async function takeBackDeletions(
  tails: LogTails,
  session: SessionKey,
  messageIds: readonly string[],
): Promise<readonly number[]> {
  const entries = await tails.covering(session, messageIds);
  const held = new Set(
    entries.flatMap(({ sequence, record }) =>
      record.type === 'message' && idsOf(record).some((id) => messageIds.includes(id)) ? [sequence] : [],
    ),
  );
  if (held.size > 0)
    await tails.rewrite(session, ({ record }) =>
      record.type === 'delete' && held.has(record.of) ? undefined : record,
    );
  return [...held];
}

/** By message id the text after the change, as the log has it: with secrets masked [K14]; `undefined` where it is deleted. */
function textsOf(change: MessageChange): Map<string, string | undefined> {
  return change.kind === 'edited'
    ? new Map([[change.messageId, maskSecrets(change.text)]])
    : new Map(change.messageIds.map((id) => [id, undefined]));
}

/** What changes, replies included that go with their question. `present` are the texts as the log reads now. */
function changedBy(
  messages: readonly SequencedMessage[],
  changes: ReadonlyMap<string, string | undefined>,
  present: ReadonlyMap<number, string>,
): readonly SequencedMessage[] {
  const withdrawn = new Map<string, ReadonlySet<string>>();
  return messages.filter(({ sequence, message }) => {
    if (message.role === 'assistant') return isWithdrawn(message, changes, withdrawn);
    if (!changes.has(message.id)) return false;
    const text = changes.get(message.id);
    if (text !== undefined) withdrawn.set(message.id, withdrawnTerms(message.text, text));
    return text !== message.text || text !== present.get(sequence);
  });
}

function isWithdrawn(
  message: AssistantMessage,
  changes: ReadonlyMap<string, string | undefined>,
  withdrawn: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const isDeleted = (id: string): boolean => changes.has(id) && changes.get(id) === undefined;
  if ([...idsOf(message), ...message.replyTo].some(isDeleted)) return true;
  return message.replyTo.some((id) => saysAny(message.text, withdrawn.get(id) ?? new Set()));
}

/** The words that a text said and does not say any more, stemmed; all of them where it is gone. Words that tell nothing are left out. */
export function withdrawnTerms(before: string, now: string = ''): ReadonlySet<string> {
  const present = new Set(terms(now));
  return new Set(terms(before).filter((term) => !present.has(term) && !stopTerms.has(term)));
}

/** Whether a text says any of the words. */
export function saysAny(text: string, wanted: ReadonlySet<string>): boolean {
  return wanted.size > 0 && terms(text).some((term) => wanted.has(term));
}

/** What messages said and say no more, in words as `terms` gives them: the person's own, and those of the bot's answers too. */
export async function withdrawnWords(messages: readonly WithdrawnMessage[]): Promise<{
  readonly own: ReadonlySet<string>;
  readonly all: ReadonlySet<string>;
}> {
  const own = new Set<string>();
  const all = new Set<string>();
  const pause = createTimeSlice();
  for (const { before, now } of messages) {
    for (const term of withdrawnTerms(before.text, now)) {
      all.add(term);
      if (before.role === 'user') own.add(term);
    }
    await pause();
  }
  return { own, all };
}

/** Those of the words that any of the messages says. */
export async function wordsSaid(
  wanted: ReadonlySet<string>,
  messages: readonly SequencedMessage[],
): Promise<ReadonlySet<string>> {
  const said = new Set<string>();
  const pause = createTimeSlice();
  for (const { message } of messages) {
    for (const term of terms(message.text)) if (wanted.has(term)) said.add(term);
    await pause();
  }
  return said;
}
