import { clip } from '../core/text/clip.ts';
import { flatten } from '../core/text/normalize.ts';

const quotedMaxChars = 600;

/** Somebody's words inside an answer: one line, in quotation marks, clipped where they are very long. */
export function quoted(text: string): string {
  const line = flatten(text);
  return line.length <= quotedMaxChars ? `"${line}"` : `"${clip(line, quotedMaxChars - 1)}…"`;
}
