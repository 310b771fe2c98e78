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
  /** The line that closes it. */
  readonly closer: string;
}

/** How much of the rest a chunk shows, and the fence that is open where it ends. */
interface Cut {
  readonly end: number;
  readonly fence: Fence | undefined;
}

/**
 * Splits a reply into messages of at most `max` characters (at least 44) [G3]: at a paragraph if that leaves the chunk half full,
 * else at a line, a sentence, a word, and only then between two code points. A code fence that a cut runs through is closed and
 * opened again, with its language or, of a table, its head; one that is never closed is closed at the end. A spoiler is closed and
 * opened again, too. What is lost is white space around a cut, nothing else; what Discord cannot show becomes what it can [G9].
 * No chunk is blank.
 */
export function splitReply(text: string, max: number = sentMaxChars): readonly string[] {
  const formed = discordForm(fencedLines(text.trimEnd()));
  const chunks = splitFormed(formed, formed.includes(spoilerMark) ? max - spoilerChars : max);
  return withSpoilersClosed(chunks.map(shownForm));
}

/** For the marks that close a spoiler and open it again. */
const spoilerChars = 4;

/** The lines of a text, and which of them belong to code blocks. */
function fencedLines(text: string): readonly FencedLine[] {
  let fence: Fence | undefined;
  return text.split('\n').map((line) => {
    const before = fence;
    fence = afterLine(line, before, Math.floor(sentMaxChars / 5));
    return { line, isCode: before !== undefined || fence !== undefined };
  });
}

function splitFormed(text: string, max: number): readonly string[] {
  const chunks: string[] = [];
  let rest = withoutBlankLines(text);
  let fence: Fence | undefined;
  while (rest !== '') {
    const cut = chooseCut(rest, fence, max);
    const chunk = render(rest.slice(0, cut.end), fence, cut.fence);
    if (chunk.trim() !== '') chunks.push(chunk);
    ({ rest, fence } = afterCut(rest, cut, max));
  }
  return chunks;
}

function render(body: string, before: Fence | undefined, after: Fence | undefined): string {
  const opened = before === undefined ? body : `${before.opener}\n${body}`;
  return after === undefined ? opened.trimEnd() : `${opened}\n${after.closer}`;
}

/** What the next chunk goes on with. Where the text itself would close the fence next, the chunk before has done so. */
function afterCut(
  rest: string,
  { end, fence }: Cut,
  max: number,
): { rest: string; fence: Fence | undefined } {
  const atLineEnd = rest.charAt(end) === '\n';
  const tail = rest.slice(atLineEnd ? end + 1 : end);
  if (fence === undefined) return { rest: withoutBlankLines(atLineEnd ? tail : tail.trimStart()), fence };
  if (!atLineEnd || fenceAfter(firstLine(tail), fence, max) === fence) return { rest: tail, fence };
  return { rest: withoutBlankLines(tail.slice(firstLine(tail).length)), fence: undefined };
}

function withoutBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/u, '');
}

function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end === -1 ? text : text.slice(0, end);
}

function chooseCut(rest: string, before: Fence | undefined, max: number): Cut {
  if (rest.length <= max) {
    const whole = { end: rest.length, fence: fenceAfter(rest, before, max) };
    if (fits(rest, before, whole, max)) return whole;
  }
  const { paragraph, line } = lineCuts(rest, before, max);
  if (paragraph !== undefined && paragraph.end > max / 2) return paragraph;
  if (line !== undefined && (line.fence !== undefined || line.end > max / 4)) return line;
  return cutInLine(rest, before, max);
}

function fits(rest: string, before: Fence | undefined, cut: Cut, max: number): boolean {
  return render(rest.slice(0, cut.end), before, cut.fence).length <= max;
}

/** The last places where the chunk can end with a paragraph and with a line; never right after a line that opens a fence. */
function lineCuts(rest: string, before: Fence | undefined, max: number): { paragraph?: Cut; line?: Cut } {
  const found: { paragraph?: Cut; line?: Cut } = {};
  let fence = before;
  let start = 0;
  const completeLines = rest
    .slice(0, max + 1)
    .split('\n')
    .slice(0, -1);
  for (const line of completeLines) {
    const previous = fence;
    fence = fenceAfter(line, previous, max);
    const cut = { end: start + line.length, fence };
    start = cut.end + 1;
    if (previous === undefined && fence !== undefined) continue;
    if (cut.end === 0 || !fits(rest, before, cut, max)) continue;
    found.line = cut;
    if (fence === undefined && firstLine(rest.slice(start)).trim() === '') found.paragraph = cut;
  }
  return found;
}

/**
 * A cut inside a line that is too long for the chunk, as late as possible; one that makes a fence of its halves, or half a mark of a spoiler,
 * only if there is no other.
 */
function cutInLine(rest: string, before: Fence | undefined, max: number): Cut {
  const whole = findCut(
    rest,
    before,
    max,
    (cut) => !makesFence(rest, before, cut, max) && rest.slice(cut.end - 1, cut.end + 1) !== spoilerMark,
  );
  const cut = whole ?? findCut(rest, before, max, () => true);
  if (cut === undefined) throw new RangeError(`No chunk of ${max} characters can be made`);
  return cut;
}

function findCut(
  rest: string,
  before: Fence | undefined,
  max: number,
  isGood: (cut: Cut) => boolean,
): Cut | undefined {
  for (let size = max; size > 1; size -= 1) {
    const head = clip(rest, size);
    const isCode = fenceAfter(head, before, max) !== undefined;
    for (const end of isCode ? [head.length] : [...readableEnds(head), head.length]) {
      const cut = { end, fence: fenceAfter(rest.slice(0, end), before, max) };
      if (fits(rest, before, cut, max) && isGood(cut)) return cut;
    }
  }
  return undefined;
}

/** Whether a half of the line that is cut would be taken for one that opens or closes a fence. */
function makesFence(rest: string, before: Fence | undefined, { end, fence }: Cut, max: number): boolean {
  const lineStart = rest.lastIndexOf('\n', end - 1) + 1;
  const around = fenceAfter(rest.slice(0, lineStart), before, max);
  if (fence?.opener !== around?.opener) return true;
  const tail = firstLine(rest.slice(end));
  return fenceAfter(fence === undefined ? tail.trimStart() : tail, fence, max) !== fence;
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

/**
 * The fence that is open after some lines, given the one before them; the very same object where nothing changed. Indented fences
 * count, since Discord shows them as such. Lines that will be repeated may fill a fifth of a chunk: a longer opening line is opened again
 * without its language, and a marker of that length is no fence.
 */
function fenceAfter(lines: string, before: Fence | undefined, max: number): Fence | undefined {
  const maxLine = Math.floor(max / 5);
  let fence = before;
  for (const line of lines.split('\n')) fence = afterLine(line, fence, maxLine);
  return fence;
}

function afterLine(line: string, before: Fence | undefined, maxLine: number): Fence | undefined {
  if (before !== undefined) return closes(line, before) ? undefined : before;
  const { indent = '', marker = '', info = '' } = openerPattern.exec(line)?.groups ?? {};
  // Backticks after the marker make it inline code, as in "```x``` is a fence".
  const isInline = marker.startsWith('`') && info.includes('`');
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
/** What is shown of it. */
const previewLines = 12;
const previewMaxChars = 800;

/**
 * A reply as it is shown, and the files that it hands over with it [G3]: of each code block over 6,000 characters the beginning stands in the
 * text, and the whole block in a file. Everything else stays as it is, also while the block still grows.
 */
export function withLongCodeAsFiles(text: string): {
  readonly text: string;
  readonly files: readonly ReplyFile[];
} {
  if (text.length <= longestCode) return { text, files: [] };
  const files: ReplyFile[] = [];
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, language } of codeBlocks(text)) {
    const code = text.slice(start, end);
    if (code.length <= longestCode) continue;
    const name = `code-${files.length + 1}.${endingFor(language)}`;
    files.push({ name, text: code });
    parts.push(text.slice(from, start), preview(code, name));
    from = end;
  }
  return { text: [...parts, text.slice(from)].join(''), files };
}

function preview(code: string, name: string): string {
  const lines = code.split('\n');
  const shown = clip(lines.slice(0, previewLines).join('\n'), previewMaxChars);
  const left = lines.length - shown.split('\n').length - (code.endsWith('\n') ? 1 : 0);
  return `${shown}\n… ${left} more lines in ${name}${code.endsWith('\n') ? '\n' : ''}`;
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

function endingFor(language: string): string {
  return endings[language] ?? (/^[a-z0-9]{1,5}$/u.test(language) ? language : 'txt');
}

/** Where the insides of a text's code blocks stand, from after the opening line to before the closing one; the last one may still be open. */
function codeBlocks(
  text: string,
): readonly { readonly start: number; readonly end: number; readonly language: string }[] {
  const blocks: { start: number; end: number; language: string }[] = [];
  let open: { readonly fence: Fence; readonly start: number } | undefined;
  let at = 0;
  const close = (end: number) => {
    const language =
      /^[\s`~]*(?<language>[^\s`~]*)/u.exec(open?.fence.opener ?? '')?.groups?.['language'] ?? '';
    if (open !== undefined) blocks.push({ start: open.start, end, language: language.toLowerCase() });
  };
  for (const line of text.split('\n')) {
    const next = at + line.length + 1;
    const fence = afterLine(line, open?.fence, Math.floor(sentMaxChars / 5));
    if (open !== undefined && fence === undefined) close(at);
    if (fence === undefined) open = undefined;
    else if (open === undefined) open = { fence, start: next };
    at = next;
  }
  if (open !== undefined && open.start < text.length) close(text.length);
  return blocks;
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

/**
 * What can be shown of a text that is still growing: all but a spoiler that is not closed, a table that is not over, a last line whose meaning
 * is not decided yet, as "``" or "```typ", and the first half of a character.
 */
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
