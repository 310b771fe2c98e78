import { ModelError, withReference } from '../core/errors.ts';

/**
 * The one clear line people get when a turn fails [M7]. `reference` stands in the log too; what went wrong inside never
 * reaches the channel.
 */
export function failureLine(error: unknown, reference: string): string {
  return withReference(`⚠️ ${whatHappened(error)}`, reference);
}

/** The line under a reply that broke off: the part that came was sent before it. */
export function brokenOffLine(reference: string): string {
  return `⚠️ My answer broke off here. Ask me to go on, or ask again. (reference ${reference})`;
}

/** The line under a reply that reached the output limit. */
export const lengthLimitLine = '⚠️ My answer reached its length limit. Ask me to go on.';

/** Under a reply whose author wanted no more of it, or in its place. */
export const stoppedLine = '⏹️ Stopped.';

/** Under the beginning of a reply that a restart has cut off, and that is too old to be finished. */
export const interruptedLine = '⚠️ I was restarted here. Ask me to go on, or ask again.';

/** Instead of an answer that was made for fewer readers than it would have now [V2]. */
export const keptBackLine =
  '⚠️ This channel became visible to more people while I was answering, so I kept the answer back. Please ask again.';

function whatHappened(error: unknown): string {
  if (!(error instanceof ModelError))
    return 'Something went wrong on my side. Your message is kept; please ask again.';
  switch (error.failure) {
    case 'rate-limited':
    case 'overloaded':
    case 'busy':
      return 'I have too much to do right now. Please ask again in a minute.';
    case 'stalled':
    case 'timeout':
      return 'My language model took too long. Please ask again.';
    case 'unavailable':
    case 'broken':
    case 'aborted':
      return 'I cannot reach my language model right now. Please ask again in a moment.';
    case 'rejected':
      return 'My language model refused this. If that goes on, whoever runs me finds the reason in my log.';
    case 'invalid':
      return 'My language model gave no usable answer. Please ask again, perhaps in other words.';
  }
}
