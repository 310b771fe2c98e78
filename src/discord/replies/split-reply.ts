import { sentMaxChars } from '../../core/chat.ts';
import { clip } from '../../core/text.ts';
import {
  discordForm,
  mayBeRow,
  shownForm,
  spoilerMark,
  spoilerMarks,
  withSpoilersClosed,
  type FencedLine,
} from './discord-form.ts';

/** An open code fence, as a reader of the text sees it. */
interface Fence {
  /** The line that opens it again in the next chunk: the opening line itself, language included. */
  readonly opener: string;
  readonly closer: string;
}

/**
 * Splits a reply into messages of at most `max` characters (at least 44) [G3]: at a paragraph if that leaves one half full, else at a line, a
 * sentence, a word. Fences and spoilers are closed and opened again; nothing but white space is lost.
 */
export function splitReply(text: string, max: number = sentMaxChars): readonly string[] {
  const formed = discordForm(fencedLines(text.trimEnd()));
  const chunks = splitLines(formed, formed.includes(spoilerMark) ? max - spoilerChars : max);
  return withSpoilersClosed(chunks.map(shownForm));
}

/** For the marks that close a spoiler and open it again. */
const spoilerChars = 4;

function fencedLines(text: string): readonly FencedLine[] {
  let fence: Fence | undefined;
  return text.split('\n').map((line) => {
    const before = fence;
    fence = fenceAfter(line, before);
    return { line, isCode: before !== undefined || fence !== undefined };
  });
}

/** Puts one line after another into a chunk; where one does not fit, the chunk ends at the best place, and the line is tried again. */
function splitLines(text: string, max: number): readonly string[] {
  const chunks: string[] = [];
  let chunk = '';
  let fence: Fence | undefined;
  /** Whether the chunk ends with the line that opened its fence. */
  let isJustOpened = false;
  let paragraphEnd = 0;

  /** Ends the chunk before a place outside of code, and begins the next one with what stands behind it. */
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

/** Where a line that is too long is cut: as late as possible, and if possible through no mark of a spoiler, nor so that a half looks like a fence. */
function cutIn(line: string, fence: Fence | undefined, room: number, max: number): number {
  for (let size = room; size > 1; size -= 1) {
    const head = clip(line, size);
    const ends = fence === undefined ? [...readableEnds(head), head.length] : [head.length];
    const good = ends.find(
      (end) =>
        line.slice(end - 1, end + 1) !== spoilerMark &&
        fenceAfter(line.slice(0, end), fence, max) === fence &&
        fenceAfter(line.slice(end), fence, max) === fence,
    );
    if (good !== undefined) return good;
  }
  return clip(line, room).length;
}

/** Where the last sentence ends that fills half of the text, and the last word that fills a quarter. */
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

/** The fence that is open after a line; the same object where nothing changed. What is repeated may fill a fifth of a chunk. */
function fenceAfter(line: string, before: Fence | undefined, max = sentMaxChars): Fence | undefined {
  if (before !== undefined) return closes(line, before) ? undefined : before;
  const { indent = '', marker = '', info = '' } = openerPattern.exec(line)?.groups ?? {};
  // Backticks after the marker make it inline code, as in "```x``` is a fence".
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

/** A file that a reply hands over instead of showing it all. */
export interface ReplyFile {
  readonly name: string;
  readonly text: string;
}

/** Code that would fill more than three messages is handed over as a file. */
const longestCode = 3 * sentMaxChars;
const previewLines = 12;
const previewMaxChars = 800;

/** A reply as it is shown, and its code blocks over 6,000 characters as files [G3]: their beginning stands in the text. It may still grow. */
export function withLongCodeAsFiles(text: string): {
  readonly text: string;
  readonly files: readonly ReplyFile[];
} {
  if (text.length <= longestCode) return { text, files: [] };
  const files: ReplyFile[] = [];
  const shown: string[] = [];
  let fence: Fence | undefined;
  let code: string[] = [];

  function showCode(opener: string, end: string): void {
    const whole = code.join('\n') + end;
    if (whole.length > longestCode) {
      const name = `code-${files.length + 1}.${endingFor(opener)}`;
      files.push({ name, text: whole });
      const preview = clip(code.slice(0, previewLines).join('\n'), previewMaxChars).split('\n');
      shown.push(...preview, `… ${code.length - preview.length} more lines in ${name}`);
    } else shown.push(...code);
    code = [];
  }

  for (const line of text.split('\n')) {
    const after = fenceAfter(line, fence);
    if (fence !== undefined && after !== undefined) {
      code.push(line);
      continue;
    }
    if (fence !== undefined) showCode(fence.opener, '\n');
    shown.push(line);
    fence = after;
  }
  if (fence !== undefined) showCode(fence.opener, '');
  return { text: shown.join('\n'), files };
}

/** By the names that code blocks are commonly given; a short name that is not listed is an ending already, as `go` or `sql`. */
const endings: Readonly<Record<string, string>> = {
  bash: 'sh',
  csharp: 'cs',
  haskell: 'hs',
  javascript: 'js',
  kotlin: 'kt',
  markdown: 'md',
  perl: 'pl',
  powershell: 'ps1',
  python: 'py',
  ruby: 'rb',
  rust: 'rs',
  shell: 'sh',
  typescript: 'ts',
};

function endingFor(opener: string): string {
  const language = /^[\s`~]*(?<language>[^\s`~]*)/u.exec(opener)?.groups?.['language']?.toLowerCase() ?? '';
  return endings[language] ?? (/^[a-z0-9]{1,5}$/u.test(language) ? language : 'txt');
}

/** Where the lines at the end of a text begin that are, or may become, rows of a table that still grows; its end where there are none. */
function openTableStart(text: string): number {
  const lines = fencedLines(text);
  let start = text.length;
  for (const { line, isCode } of lines.toReversed()) {
    if (isCode || !mayBeRow(line)) break;
    start = Math.max(0, start - line.length - 1);
  }
  return start;
}

/** A line that may still turn out to open or close a code fence. */
const possibleFence = /^[ \t]*(?:`{1,2}|~{1,2}|`{3,}[^`]*|~{3,}[\s\S]*)$/u;

/** What can be shown of a text that still grows: all but an open spoiler, an open table, a line that may become a fence, half a character. */
export function visiblePart(text: string): string {
  const decided = decidedPart(text);
  const marks = spoilerMarks(decided);
  return marks.length % 2 === 0 ? decided : decided.slice(0, marks.at(-1));
}

function decidedPart(text: string): string {
  // Its columns are as wide as the widest row, which may be still to come.
  const table = openTableStart(text);
  if (table < text.length) return text.slice(0, table);
  const start = text.lastIndexOf('\n') + 1;
  if (possibleFence.test(text.slice(start))) return text.slice(0, start);
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd8_00 && last <= 0xdb_ff ? text.slice(0, -1) : text;
}
