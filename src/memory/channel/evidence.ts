import { ownWords } from '../../core/own-words.ts';
import { flatten, saysLiterally, terms } from '../../core/text.ts';
import { fillerTerms } from '../../core/stop-words.ts';

/** Characters of a note. */
export const noteMaxChars = 300;

/** Words that a note has besides fillers at least: fewer tell nobody anything. */
const fewestTerms = 2;

/** A text as a note keeps it: one line of its author's own prose; what they quote, code and mentions are not theirs [M5a]. */
export function noteText(text: string): string {
  return flatten(ownWords(text));
}

/** Whether it is long enough to say something, and short enough for a note. */
export function isNotable(text: string): boolean {
  const said = new Set(terms(text).filter((term) => !fillerTerms.has(term)));
  return said.size >= fewestTerms && text.length <= noteMaxChars;
}

/** Whether a message says a note's text literally, in its author's own words. */
export function isSaidIn(text: string, message: string): boolean {
  return saysLiterally(noteText(message), text);
}
