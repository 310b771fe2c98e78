import { clip, flatten } from '../core/text.ts';

/** Longer than any item. */
const quotedMaxChars = 600;
const briefMaxChars = 100;

/** Remembered words in a list: backticks that would make the rest of it a code block are held apart by invisible joiners. */
export function withoutFences(text: string): string {
  return text.replace(/`(?=``)/gu, '`\u2060');
}

/** Somebody's words inside an answer: one line, in quotation marks, clipped where they are very long. */
export function quoted(text: string, maxChars = quotedMaxChars): string {
  const line = withoutFences(flatten(text));
  return line.length <= maxChars ? `"${line}"` : `"${clip(line, maxChars - 1)}…"`;
}

/** What the asker has just said themselves: only enough of it to be recognised. */
export function brieflyQuoted(text: string): string {
  return quoted(text, briefMaxChars);
}
