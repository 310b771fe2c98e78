import { terms } from '../../core/text.ts';
import type { SessionKey } from '../../core/place.ts';
import { stopTerms } from '../../core/stop-words.ts';
import type { SequencedMessage } from './fold-log.ts';
import type { LoggedMessage } from './log-record.ts';

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
