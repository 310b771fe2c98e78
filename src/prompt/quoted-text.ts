import { dataText } from '../core/section.ts';
import { clip, clipAtWord, flatten } from '../core/text.ts';

const nameMaxChars = 80;

/** A `<` or `</` at the very end, which the beginning of whatever follows could make a tag. */
const openEnd = /<(?=\s*\/?$)/u;

/**
 * A piece of text as data that forges no tag, not even together with what comes after it [P3]; of at most `max` characters once
 * escaped, cut at a word and marked by `…`.
 */
export function quoted(text: string, max = Number.POSITIVE_INFINITY): string {
  return fitting(text.trim(), max);
}

function fitting(text: string, max: number): string {
  const room = Math.max(0, max);
  let kept = clipAtWord(text, room);
  let rendered = escaped(kept);
  while (rendered.length > room) {
    kept = clipAtWord(kept, kept.length - (rendered.length - room));
    rendered = escaped(kept);
  }
  return rendered;
}

/** A text as lines of data, with its indentation and without empty lines around it; of at most `max` characters once escaped and joined. */
export function quotedLines(text: string, max = Number.POSITIVE_INFINITY): readonly string[] {
  const shown = visible(text).replace(/^(?:[^\S\n]*\n)+/u, '');
  return fitting(shown.trimEnd(), max).split('\n');
}

function escaped(text: string): string {
  return dataText(text).replace(openEnd, '&lt;');
}

/** Keeps lines and indentation, drops control and invisible format characters but the joiners that scripts and emoji need. */
export function visible(text: string): string {
  return text.replace(/\r\n?|[\p{Zl}\p{Zp}]/gu, '\n').replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, '');
}

/**
 * A Discord name as a label: one line of at most 80 characters without what sets names off from words (`:`), attributes (`"`)
 * or tags (`<`, `>`), so that nobody speaks as somebody else by their name.
 */
export function label(name: string): string {
  const plain = flatten(flatten(name).replace(/[:：<>"]/gu, ' '));
  return clip(plain, nameMaxChars).trim() || 'someone';
}

/** Names the attached files, or says nothing where there are none. */
export function attachmentNote(attachments: readonly string[]): string {
  return attachments.length === 0 ? '' : `[attached: ${attachments.map(label).join(', ')}]`;
}
