import { clip } from '../../core/text.ts';
import { fenceAfter, type Fence } from './fence.ts';

/** Discord's limit for a message, in characters (UTF-16 units). */
const maxMessageChars = 2000;

/** How much of the rest a chunk shows, and the fence that is open where it ends. */
interface Cut {
  readonly end: number;
  readonly fence: Fence | undefined;
}

/**
 * Splits a reply into messages of at most `max` characters (at least 40) [G3]: at a paragraph if that leaves the chunk half full,
 * else at a line, a sentence, a word, and only then between two code points. A code fence that a cut runs through is closed and
 * opened again, with its language; one that is never closed is closed at the end. What is lost is white space around a cut,
 * nothing else. No chunk is blank.
 */
export function splitReply(text: string, max: number = maxMessageChars): readonly string[] {
  const chunks: string[] = [];
  let rest = withoutBlankLines(text.trimEnd());
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
  if (!atLineEnd || stateAfter(firstLine(tail), fence, max) === fence) return { rest: tail, fence };
  return { rest: withoutBlankLines(tail.slice(firstLine(tail).length)), fence: undefined };
}

function withoutBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/u, '');
}

function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end === -1 ? text : text.slice(0, end);
}

function stateAfter(lines: string, before: Fence | undefined, max: number): Fence | undefined {
  return fenceAfter(lines, before, Math.floor(max / 5));
}

function chooseCut(rest: string, before: Fence | undefined, max: number): Cut {
  if (rest.length <= max) {
    const whole = { end: rest.length, fence: stateAfter(rest, before, max) };
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
    fence = stateAfter(line, previous, max);
    const cut = { end: start + line.length, fence };
    start = cut.end + 1;
    if (previous === undefined && fence !== undefined) continue;
    if (cut.end === 0 || !fits(rest, before, cut, max)) continue;
    found.line = cut;
    if (fence === undefined && firstLine(rest.slice(start)).trim() === '') found.paragraph = cut;
  }
  return found;
}

/** A cut inside a line that is too long for the chunk, as late as possible; one that makes a fence of its halves only if there is no other. */
function cutInLine(rest: string, before: Fence | undefined, max: number): Cut {
  const whole = findCut(rest, before, max, (cut) => !makesFence(rest, before, cut, max));
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
    const isCode = stateAfter(head, before, max) !== undefined;
    for (const end of isCode ? [head.length] : [...readableEnds(head), head.length]) {
      const cut = { end, fence: stateAfter(rest.slice(0, end), before, max) };
      if (fits(rest, before, cut, max) && isGood(cut)) return cut;
    }
  }
  return undefined;
}

/** Whether a half of the line that is cut would be taken for one that opens or closes a fence. */
function makesFence(rest: string, before: Fence | undefined, { end, fence }: Cut, max: number): boolean {
  const lineStart = rest.lastIndexOf('\n', end - 1) + 1;
  const around = stateAfter(rest.slice(0, lineStart), before, max);
  if (fence?.opener !== around?.opener) return true;
  const tail = firstLine(rest.slice(end));
  return stateAfter(fence === undefined ? tail.trimStart() : tail, fence, max) !== fence;
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
