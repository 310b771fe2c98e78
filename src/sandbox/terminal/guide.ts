import type { Transcript } from './transcript.ts';

/** Something to try in the chat, as it is typed. */
export interface Suggestion {
  readonly lead: string;
  readonly line: string;
}

/** So many other lines show that somebody finds their own way. */
const mostOthers = 3;

/**
 * Leads a newcomer through things to try: the next is shown when one was done. Says no more after the last, or once something else was done
 * three times.
 */
export function createGuide(suggestions: readonly Suggestion[], transcript: Pick<Transcript, 'note'>) {
  let left = suggestions;
  let others = 0;
  const show = (): void => {
    const [next] = left;
    transcript.note(
      next === undefined
        ? 'That was all: /demo plays more, /help lists the rest.'
        : `→ ${next.lead} ${next.line}`,
    );
  };
  return {
    /** Shows what to try first. */
    begin(): void {
      if (left.length > 0) show();
    },
    /** Whether the line, as it was typed, did what was suggested, so that `show` has something new. */
    took(line: string): boolean {
      const [next, ...rest] = left;
      if (next === undefined || sameWords(line, '')) return false;
      if (sameWords(line, next.line)) left = rest;
      else if ((others += 1) === mostOthers) left = [];
      return sameWords(line, next.line);
    },
    show,
  };
}

function sameWords(a: string, b: string): boolean {
  return wordsOf(a) === wordsOf(b);
}

/** Without case, and without signs and white space at the ends. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[\s“”"'.?!/]+/gu, ' ')
    .trim();
}
