import type { MessageChange } from '../../core/changes.ts';
import type { SessionKey } from '../../core/place.ts';
import { maskSecrets } from '../../core/secrets.ts';
import type { LogEntry } from '../../core/store.ts';
import { contentTerms, terms } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import { exceeds } from '../../core/visibility.ts';
import type { WithdrawnMessage } from '../layer.ts';
import { foldLog, idsOf, type AssistantMessage, type LogRecord, type SequencedMessage } from './records.ts';
import type { LogLines } from './sessions.ts';

/**
 * The messages of one session that a change concerns [G5], with their former texts while the log's own lines
 * hold these; also those already withdrawn but still on disk, as after a kill.
 *
 * A reply of several messages goes as a whole, since nobody knows which words were where. It goes with a
 * deleted question, and with an edited one if it repeats what the edit removed. Edits of replies are the
 * bot's own streaming and change nothing.
 *
 * An edit widens nothing [V1]: new words that may not be told wherever the message may are not taken in, and
 * the message goes as if deleted.
 */
export async function affectedMessages(
  log: LogLines,
  session: SessionKey,
  change: MessageChange,
): Promise<readonly WithdrawnMessage[]> {
  // By message id the new text, secrets masked [K14]; `undefined` where deleted.
  const changes = new Map<string, string | undefined>(
    change.kind === 'edited'
      ? [[change.messageId, maskSecrets(change.text)]]
      : change.messageIds.map((id) => [id, undefined]),
  );
  const entries = await log.covering(session, [...changes.keys()]);
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

/** Messages with every text that the log's lines still hold: several, after an unfinished edit. */
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

/** From now on the messages are read as changed, and what they said and say no more is erased; a deletion's line stays. */
export async function applyChanges(
  log: LogLines,
  session: SessionKey,
  messages: readonly WithdrawnMessage[],
  at: string,
): Promise<void> {
  const ids = messages.map(({ before }) => before.id);
  const fold = foldLog(await log.covering(session, ids));
  const present = new Map(fold.messages.map(({ sequence, message }) => [sequence, message.text]));
  await log.appendAll(
    session,
    messages.flatMap(({ sequence, before, now }): readonly LogRecord[] => {
      if (present.get(sequence) === now) return [];
      const record = { id: before.id, of: sequence, at };
      return [now === undefined ? { type: 'delete', ...record } : { type: 'edit', ...record, text: now }];
    }),
  );
  const texts = new Map(messages.map(({ sequence, now }) => [sequence, now]));
  const newest = new Map(
    (await log.covering(session, ids)).flatMap(({ sequence, record }) =>
      record.type === 'edit' ? [[record.of, sequence]] : [],
    ),
  );
  await log.rewrite(session, ({ sequence, record }) => {
    const target = record.type === 'message' ? sequence : record.of;
    if (!texts.has(target)) return record;
    const text = texts.get(target);
    if (text === undefined) return record.type === 'delete' ? record : undefined;
    if (record.type === 'message') return { ...record, text };
    // Lines of earlier edits hold what it said before.
    return record.type === 'edit' && sequence !== newest.get(target) ? undefined : record;
  });
}

/** What changes, with replies that go along. `present` are the log's present texts. */
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

/** Stemmed words that only `before` says, without words that tell nothing. */
export function withdrawnTerms(before: string, now: string = ''): ReadonlySet<string> {
  const present = new Set(terms(now));
  return new Set(contentTerms(before).filter((term) => !present.has(term)));
}

export function saysAny(text: string, needles: ReadonlySet<string>): boolean {
  return needles.size > 0 && terms(text).some((term) => needles.has(term));
}

/** Terms that messages said and say no more: the person's own, and with the bot's answers. */
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
