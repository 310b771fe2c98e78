import type { SessionKey } from '../../core/place.ts';
import { stopTerms } from '../../core/stop-words.ts';
import type { LogEntry } from '../../core/store.ts';
import { terms } from '../../core/text.ts';
import { foldLog, idsOf } from './records.ts';
import type { AssistantMessage, LogRecord, LoggedMessage, SequencedMessage } from './records.ts';
import type { LogTails } from './tails.ts';

/** What happened to messages, by id: the new text of an edited one, `undefined` for a deleted one. */
export type MessageChanges = ReadonlyMap<string, string | undefined>;

export interface ChangingLog {
  readonly tails: LogTails;
  readonly withdrawing: Withdrawing;
}

/** What the log's lines say of earlier ones: deleted, or edited by which line to which text. */
interface Settlement {
  readonly deleted: Set<number>;
  readonly edited: Map<number, { readonly text: string; readonly line: number }>;
}

/**
 * Edits and deletes messages of one session [G5]; resolves with those that it held, as they were before. The lines that say so are on disk
 * first: after a crash in between, the fold hides what its own line still holds. Runs as a job of the user's queue.
 *
 * A reply sent as several messages goes as a whole when one of them is deleted, since nobody knows which words were in which. It goes with a
 * question that is deleted, whose words it may repeat, and with one that is edited if it does repeat what the edit took out. Replies are logged
 * when they are whole, so edits of them are the bot's own streaming and change nothing.
 */
export async function changeMessages(
  log: ChangingLog,
  session: SessionKey,
  changes: MessageChanges,
  at: string,
): Promise<readonly SequencedMessage[]> {
  const { tails } = log;
  const entries = await tails.covering(session, [...changes.keys()]);
  const affected = changedBy(foldLog(entries).messages, changes);
  if (affected.length === 0) return [];

  const settlement: Settlement = { deleted: new Set(), edited: new Map() };
  for (const { sequence, message } of affected) {
    const text = message.role === 'user' ? changes.get(message.id) : undefined;
    const record = { id: message.id, of: sequence, at };
    if (text === undefined) {
      await tails.append(session, { type: 'delete', ...record });
      settlement.deleted.add(sequence);
    } else {
      const line = await tails.append(session, { type: 'edit', ...record, text });
      settlement.edited.set(sequence, { text, line });
    }
  }
  await settle(log, session, affected, settlement);
  return affected;
}

/** Edits and deletions that are to be finished lie this near to the end of the log, in lines: a whole bulk deletion does. */
const lookBack = 256;

/** Does again what a kill came between: lines that an edit or deletion is about no longer hold what they held. Runs as a job of the user's queue. */
export async function finishChanges(log: ChangingLog, session: SessionKey, last: number): Promise<void> {
  const recent = await log.tails.after(session, Math.max(0, last - lookBack));
  const ids = recent.flatMap(({ record }) => (record.type === 'message' ? [] : [record.id]));
  if (ids.length === 0) return;
  const entries = await log.tails.covering(session, ids);
  const settlement: Settlement = { deleted: new Set(), edited: new Map() };
  for (const { sequence, record } of entries) {
    if (record.type === 'delete') settlement.deleted.add(record.of);
    else if (record.type === 'edit') settlement.edited.set(record.of, { text: record.text, line: sequence });
  }
  const unsettled = entries.filter((entry) => textOf(settled(entry, settlement)) !== textOf(entry.record));
  if (unsettled.length === 0) return;
  const messages = unsettled.flatMap(({ sequence, record }) =>
    record.type === 'message' ? [{ sequence, message: record }] : [],
  );
  await settle(log, session, messages, settlement);
}

/** Takes out of the notes, and then out of the log's own lines, what the messages said and say no more. */
async function settle(
  { tails, withdrawing }: ChangingLog,
  session: SessionKey,
  before: readonly SequencedMessage[],
  settlement: Settlement,
): Promise<void> {
  const sequences = new Map(before.map(({ sequence, message }) => [message, sequence]));
  const present = (message: LoggedMessage): string | undefined =>
    settlement.edited.get(sequences.get(message) ?? 0)?.text;
  const stillSaid = async (wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> =>
    wordsSaid(wanted, foldLog(await tails.after(session, 0)).messages);
  await withdrawing(session, { ...wordsOf(before, present), stillSaid });
  await tails.rewrite(session, (entry) => settled(entry, settlement));
}

function settled(entry: LogEntry<LogRecord>, { deleted, edited }: Settlement): LogRecord | undefined {
  const { sequence, record } = entry;
  const target = record.type === 'message' ? sequence : record.of;
  if (deleted.has(target)) return record.type === 'delete' ? record : undefined;
  const edit = edited.get(target);
  return edit === undefined ? record : withText(entry, edit);
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

/** What edited and deleted messages of a session said and say no more. */
export interface WithdrawnWords {
  /** Of the person's own messages; words as `terms` gives them. */
  readonly own: ReadonlySet<string>;
  /** Of the bot's answers too. */
  readonly all: ReadonlySet<string>;
  /** Which of some words are said in the conversation still. Reads the whole log. */
  readonly stillSaid: (wanted: ReadonlySet<string>) => Promise<ReadonlySet<string>>;
}

/**
 * Called while the log still holds the messages on disk, so that it is called again after a kill. Runs as a job of the user's queue. Must not
 * reject.
 */
export type Withdrawing = (session: SessionKey, words: WithdrawnWords) => Promise<void>;

/** The words that a text said and does not say any more, stemmed; all of them where it is gone. Words that tell nothing are left out. */
export function withdrawnTerms(before: string, now: string = ''): ReadonlySet<string> {
  const present = new Set(terms(now));
  return new Set(terms(before).filter((term) => !present.has(term) && !stopTerms.has(term)));
}

/** Whether a text says any of the words. */
export function saysAny(text: string, wanted: ReadonlySet<string>): boolean {
  return wanted.size > 0 && terms(text).some((term) => wanted.has(term));
}

/** The words of messages as they were, of which `present` tells what is left. */
export function wordsOf(
  messages: readonly SequencedMessage[],
  present: (message: LoggedMessage) => string | undefined,
): Pick<WithdrawnWords, 'own' | 'all'> {
  const of = (each: readonly SequencedMessage[]): ReadonlySet<string> =>
    new Set(each.flatMap(({ message }) => [...withdrawnTerms(message.text, present(message))]));
  return { own: of(messages.filter(({ message }) => message.role === 'user')), all: of(messages) };
}

/** Those of the words that any of the messages says. */
export function wordsSaid(
  wanted: ReadonlySet<string>,
  messages: readonly SequencedMessage[],
): ReadonlySet<string> {
  const said = new Set<string>();
  for (const { message } of messages)
    for (const term of terms(message.text)) if (wanted.has(term)) said.add(term);
  return said;
}
