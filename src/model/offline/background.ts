import type { ModelRequest } from '../../core/model.ts';
import { clipAtSentence, clipAtWord, normalizeText } from '../../core/text.ts';
import { offlineLabel } from './matching.ts';
import { memoryWishIn, statementsIn } from './phrases.ts';
import { readRequest, requestText } from './read-request.ts';
import type { Knowledge, Reply } from './reply.ts';

const lineMaxChars = 200;
const defaultMaxChars = 2_000;
/** A summary has fewer than 600 words [R2]. */
const maxWords = 590;

/**
 * A summary made of what was said: the lines of the previous one, then each person's words with their day, clipped. Where they do not all fit the limit
 * that the request states, the oldest go. The stand-in's own replies only repeat memory and are left out, and so is what people asked to
 * be remembered or forgotten: items hold that, and a summary would bring it back.
 */
export function summarize(request: ModelRequest, { shareOf }: Knowledge): string {
  const { sections, turns } = readRequest(request);
  const previous = sections.get('previous_summary') ?? [];
  const said = turns
    .filter(({ text }) => !text.startsWith(offlineLabel) && memoryWishIn(text) === undefined)
    .filter(({ text }) => shareOf(text)(text) > 0)
    .map(({ day, name, text }) => `${name} (${day}): ${clipAtWord(text, lineMaxChars)}`);
  const lines = [...new Set([...previous, ...said])].filter((line) => line.trim() !== '');
  const summary = newestThatFit(lines, '\n', maxCharsOf(request));
  return summary === '' ? 'Only small talk so far.' : summary;
}

/** The previous summary, shortened by whole sentences, the oldest first, to the limit that the request states. */
export function condense(request: ModelRequest): string {
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
  let characters = -separator.length;
  let words = 0;
  const kept = parts.toReversed().filter((part) => {
    characters += separator.length + part.length;
    words += part.split(/\s+/u).length;
    return characters <= maxChars && words <= maxWords;
  });
  if (kept.length > 0) return kept.toReversed().join(separator);
  const newest = (parts.at(-1) ?? '').split(/(?<=\s)/u).slice(0, maxWords);
  return clipAtSentence(newest.join(''), maxChars);
}

/** What the person says about themselves in the turns, as the JSON that extraction asks for; quotes are literal. */
export function extractItems(request: ModelRequest): string {
  const items = readRequest(request).turns.flatMap(({ text, messageId }) =>
    statementsIn(text).map((statement) => ({ ...statement, messageId })),
  );
  return JSON.stringify({ items });
}

/**
 * A reflection by rules: what the person said of themselves and no facts file says yet is added to facts/user.md, where there are facts files at all.
 * What they asked to be remembered or forgotten is left to items. A conversation begins with the person, so the first turn tells their name.
 */
export function reflect(request: ModelRequest): Reply {
  const { sections, tools, toolRuns, turns } = readRequest(request);
  if (toolRuns.length > 0) return 'Done.';
  if (!tools.has('memory_append') || !requestText(request).includes('facts/')) return 'Nothing new.';
  const known = normalizeText((sections.get('facts') ?? []).join('\n'));
  const said = turns.flatMap(({ name, text }) =>
    name === turns[0]?.name && memoryWishIn(text) === undefined ? statementsIn(text) : [],
  );
  const lines = new Set(
    said.flatMap(({ text }) => (known.includes(normalizeText(text)) ? [] : [`- ${text}`])),
  );
  if (lines.size === 0) return 'Nothing new.';
  const entry = [...lines].join('\n');
  return [{ name: 'memory_append', input: { path: 'facts/user.md', entry } }];
}

/** Keeps the beginning of a profile, as far as the limit that the request states goes, and moves the lines after it to a topic. */
export function trimProfile(request: ModelRequest): string {
  const lines = readRequest(request).sections.get('user_profile') ?? [];
  const [, stated] = /under (\d+) characters/u.exec(requestText(request)) ?? [];
  const limit = Number(stated ?? 0);
  let used = 0;
  const kept = lines.filter((line, at) => (used += line.length + 1) <= limit || at === 0);
  const moved = lines.slice(kept.length);
  const topics = moved.length === 0 ? [] : [{ path: 'topics/profile.md', content: moved.join('\n') }];
  return JSON.stringify({ userMd: kept.join('\n'), topics });
}
