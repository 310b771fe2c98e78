import type { ModelRequest } from '../../core/model.ts';
import { clipAtSentence, clipAtWord } from '../../core/text.ts';
import { memoryWishIn } from './memory-wish.ts';
import { offlineLabel } from './offline-label.ts';
import { readRequest, requestText } from './read-request.ts';
import { tellingTerms } from './telling-terms.ts';
import { parseTurnLine } from './turn-line.ts';

const lineMaxChars = 200;
const defaultMaxChars = 2_000;
/** A summary has fewer than 600 words [R2]. */
const maxWords = 590;

/**
 * A summary made of what was said: the lines of the previous one, then each person's words, clipped. Where they do not all fit the limit
 * that the request states, the oldest go. The stand-in's own replies only repeat memory and are left out, and so is what people asked to
 * be remembered or forgotten: items hold that, and a summary would bring it back.
 */
export function composeSummary(request: ModelRequest): string {
  const { sections } = readRequest(request);
  const previous = sections.get('previous_summary') ?? [];
  const said = (sections.get('turns') ?? []).flatMap((line) => {
    const turn = parseTurnLine(line);
    if (turn === undefined || turn.text.startsWith(offlineLabel)) return [];
    if (memoryWishIn(turn.text) !== undefined) return [];
    return tellingTerms(turn.text).size === 0 ? [] : [`${turn.name}: ${clipAtWord(turn.text, lineMaxChars)}`];
  });
  const lines = [...new Set([...previous, ...said])].filter((line) => line.trim() !== '');
  const summary = newestThatFit(lines, '\n', maxCharsOf(request));
  return summary === '' ? 'Only small talk so far.' : summary;
}

/** The previous summary, shortened by whole sentences, the oldest first, to the limit that the request states. */
export function condenseSummary(request: ModelRequest): string {
  const previous = (readRequest(request).sections.get('previous_summary') ?? []).join('\n');
  const sentences = previous
    .split(/(?<=[.!?…])\s+|(?<=[。！？])|\n+/u)
    .filter((sentence) => sentence.trim() !== '');
  return newestThatFit(sentences, ' ', maxCharsOf(request));
}

function maxCharsOf(request: ModelRequest): number {
  const [, stated] = /Keep the summary under (\d+) characters/u.exec(requestText(request)) ?? [];
  return stated === undefined ? defaultMaxChars : Number(stated) - 1;
}

/** The last of the parts that together stay within the limits; the newest is cut where it alone is too long. */
function newestThatFit(parts: readonly string[], separator: string, maxChars: number): string {
  const kept: string[] = [];
  let characters = 0;
  let words = 0;
  for (const part of parts.toReversed()) {
    characters += part.length + (kept.length === 0 ? 0 : separator.length);
    words += part.split(/\s+/u).length;
    if (characters > maxChars || words > maxWords) break;
    kept.unshift(part);
  }
  const newest = parts.at(-1);
  if (kept.length > 0 || newest === undefined) return kept.join(separator);
  return clipAtSentence(
    newest
      .split(/(?<=\s)/u)
      .slice(0, maxWords)
      .join(''),
    maxChars,
  );
}
