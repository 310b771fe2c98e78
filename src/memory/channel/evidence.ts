import { ownWords } from '../../core/own-words.ts';
import { fillerTerms, saysLiterally, terms, toSingleLine } from '../../core/text.ts';

export const noteMaxChars = 300;

/** Fewer words, fillers excluded, tell nobody anything. */
const fewestTerms = 2;

/** One line of the author's own prose, without quotes, code and mentions [M5a]. */
export function noteText(text: string): string {
  return toSingleLine(ownWords(text));
}

/** Whether it has the right length for a note. */
export function isNotable(text: string): boolean {
  const said = new Set(terms(text).filter((term) => !fillerTerms.has(term)));
  return said.size >= fewestTerms && text.length <= noteMaxChars;
}

/** Whether a message says a note's text literally, in its author's own words. */
export function isSaidIn(text: string, message: string): boolean {
  return saysLiterally(noteText(message), text);
}
