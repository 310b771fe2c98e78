import { sentMaxChars } from '../../core/reply.ts';
import { clip } from '../../core/text.ts';
import {
  discordForm,
  mayBeRow,
  plainForm,
  shownForm,
  spoilerMark,
  spoilerMarks,
  withSpoilersClosed,
  type EmojiNamed,
  type FencedLine,
} from './discord-form.ts';

interface Fence {
  readonly opener: string;
  readonly closer: string;
}

/** At most `max` characters each (at least 44) [G3], and the last. Loses nothing but white space; reopens fences and spoilers. */
export function splitReply(text: string, max: number = sentMaxChars, lastMax = max): readonly string[] {
  const formed = discordForm(fencedLines(text.trimEnd()));
  const closing = formed.includes(spoilerMark) ? spoilerChars : 0;
  const chunks = splitLines(formed, max - closing);
  const last = chunks.slice(-1).flatMap((chunk) => splitLines(chunk, lastMax - closing));
  return withSpoilersClosed([...chunks.slice(0, -1), ...last].map(shownForm));
}

/** What a model wrote, in Markdown that Discord has [G9]. Tables follow when it is split. */
export function withoutForeignMarks(text: string, emojiNamed: EmojiNamed): string {
  return plainForm(fencedLines(text), emojiNamed);
}

/** Small print of a model's own shows its sign `-#`, so that nothing poses as a footer [K6]. */
export function withSignsShown(text: string): string {
  if (!text.includes(smallSign)) return text;
  return fencedLines(text)
    .map(({ line, isCode }) =>
      isCode || !isSmallPrint(line) ? line : line.replace(smallSign, `\\${smallSign}`),
    )
    .join('\n');
}

const smallSign = '-#';

function isSmallPrint(line: string): boolean {
  return line.trimStart().startsWith(smallSign);
}

/** To close a spoiler and open it again. */
const spoilerChars = 4;

function fencedLines(text: string): readonly FencedLine[] {
  let fence: Fence | undefined;
  return text.split('\n').map((line) => {
    const before = fence;
    fence = fenceAfter(line, before);
    return { line, isCode: before !== undefined || fence !== undefined };
  });
}

/** A chunk ends at the best place before the line that does not fit. */
function splitLines(text: string, max: number): readonly string[] {
  const chunks: string[] = [];
  let chunk = '';
  let fence: Fence | undefined;
  let isJustOpened = false;
  let paragraphEnd = 0;

  /** Only outside of code. */
  function endAt(end: number): void {
    add(chunk.slice(0, end));
    chunk = chunk.slice(end).replace(/^(?:[^\S\n]*\n)+/u, '');
    paragraphEnd = 0;
  }

  function endHere(): void {
    add(fence === undefined ? chunk : `${chunk}\n${fence.closer}`);
    chunk = fence?.opener ?? '';
    paragraphEnd = 0;
  }

  function add(whole: string): void {
    if (whole.trim() !== '') chunks.push(whole.trimEnd());
  }

  const lines = text.split('\n').toReversed();
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const isBlank = line.trim() === '';
    if (isBlank && chunk === '') continue;
    const after = fenceAfter(line, fence, max);
    const start = chunk === '' ? '' : `${chunk}\n`;
    const longer = start + (fence !== undefined && after === undefined ? fence.closer : line);
    if (longer.length + closingChars(after) <= max) {
      if (isBlank && fence === undefined) paragraphEnd = chunk.length;
      isJustOpened = fence === undefined && after !== undefined;
      chunk = longer;
      fence = after;
      continue;
    }
    const lastLine = chunk.lastIndexOf('\n');
    if (paragraphEnd > max / 2) endAt(paragraphEnd);
    else if (isJustOpened && lastLine > 0) endAt(lastLine);
    else if (fence === undefined ? chunk.length > max / 4 : chunk !== fence.opener) endHere();
    else {
      const cut = cutIn(line, fence, max - start.length - closingChars(fence), max);
      const head = line.slice(0, cut);
      const tail = line.slice(cut);
      chunk = start + head;
      fence = fenceAfter(head, fence, max);
      endHere();
      lines.push(fence === undefined ? tail.trimStart() : tail);
      continue;
    }
    lines.push(line);
  }
  endHere();
  return chunks;
}

function closingChars(fence: Fence | undefined): number {
  return fence === undefined ? 0 : fence.closer.length + 1;
}

/** As late as possible, not through a spoiler's mark, nor so that a part looks like a fence or a footer. */
function cutIn(line: string, fence: Fence | undefined, room: number, max: number): number {
  for (let size = room; size > 1; size -= 1) {
    const head = clip(line, size);
    const ends = fence === undefined ? [...readableEnds(head), head.length] : [head.length];
    const good = ends.find(
      (end) =>
        line.slice(end - 1, end + 1) !== spoilerMark &&
        !isSmallPrint(line.slice(end)) &&
        fenceAfter(line.slice(0, end), fence, max) === fence &&
        fenceAfter(line.slice(end), fence, max) === fence,
    );
    if (good !== undefined) return good;
  }
  return clip(line, room).length;
}

/** The last sentence if it fills half, and the last word if it fills a quarter. */
function readableEnds(head: string): readonly number[] {
  const sentence = lastEnd(head, /[.!?…][\p{Pe}\p{Pf}"'*_]*(?=\s)|[。！？]/gu);
  const word = lastEnd(head, /\S(?=\s)/gu);
  return [...(sentence > head.length / 2 ? [sentence] : []), ...(word > head.length / 4 ? [word] : [])];
}

function lastEnd(text: string, pattern: RegExp): number {
  const last = [...text.matchAll(pattern)].at(-1);
  return last === undefined ? 0 : last.index + last[0].length;
}

const openerPattern = /^(?<indent>[ \t]*)(?<marker>`{3,}|~{3,})(?<info>[\s\S]*)$/u;
const closerPattern = /^[ \t]*(?<marker>`{3,}|~{3,})[ \t]*$/u;

/** Returns the same object if nothing changed. What is repeated may fill a fifth of a chunk. */
function fenceAfter(line: string, before: Fence | undefined, max = sentMaxChars): Fence | undefined {
  if (before !== undefined) return closes(line, before) ? undefined : before;
  const { indent = '', marker = '', info = '' } = openerPattern.exec(line)?.groups ?? {};
  // "```x```" is inline code.
  const isInline = marker.startsWith('`') && info.includes('`');
  const maxLine = max / 5;
  if (marker === '' || isInline || marker.length > maxLine) return undefined;
  const closer = indent.length + marker.length > maxLine ? marker : indent + marker;
  return { opener: line.length > maxLine ? closer : line, closer };
}

function closes(line: string, fence: Fence): boolean {
  const marker = closerPattern.exec(line)?.groups?.['marker'] ?? '';
  const opening = fence.closer.trimStart();
  return marker.startsWith(opening.charAt(0)) && marker.length >= opening.length;
}

/** Where possible rows of a growing table begin; the text's end where there are none. */
function openTableStart(text: string): number {
  const lines = fencedLines(text);
  let start = text.length;
  for (const { line, isCode } of lines.toReversed()) {
    if (isCode || !mayBeRow(line)) break;
    start = Math.max(0, start - line.length - 1);
  }
  return start;
}

/** A line that may become a code fence. */
const possibleFence = /^[ \t]*(?:`{1,2}|~{1,2}|`{3,}[^`]*|~{3,}[\s\S]*)$/u;

/** All but an open spoiler, an open table, a possible fence, half a character. */
export function visiblePart(text: string): string {
  const decided = decidedPart(text);
  const marks = spoilerMarks(decided);
  return marks.length % 2 === 0 ? decided : decided.slice(0, marks.at(-1));
}

function decidedPart(text: string): string {
  // The widest row may be still to come.
  const table = openTableStart(text);
  if (table < text.length) return text.slice(0, table);
  const start = text.lastIndexOf('\n') + 1;
  if (possibleFence.test(text.slice(start))) return text.slice(0, start);
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd8_00 && last <= 0xdb_ff ? text.slice(0, -1) : text;
}

/** How each line of a footer begins; a model's own line never does in an answer [K6]. */
const sign = '-# ';

export function withFooter(text: string, lines: readonly string[]): string {
  return [text, ...lines.map((line) => sign + line)].join('\n');
}

/** The text of a message of the bot's own, and the lines of its footer, without their sign. */
export function splitFooter(content: string): { readonly text: string; readonly lines: readonly string[] } {
  const all = content.split('\n');
  const start = all.findLastIndex((line) => !line.startsWith(sign)) + 1;
  // What consists of small lines alone is a message of its own.
  if (start === 0) return { text: content, lines: [] };
  const text = all.slice(0, start).join('\n');
  return { text, lines: all.slice(start).map((line) => line.slice(sign.length)) };
}
