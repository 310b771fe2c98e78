import type { ModelRequest } from '../../core/model.ts';
import { clipAtWord, isQuestion, saysWords } from '../../core/text.ts';
import { requestText } from './read-request.ts';

const decision =
  /\b(?:decided|decision|agreed|settled|approved|we(?:['’]ll| will)|let['’]?s (?:go|do|take|use))\b/iu;
const promise =
  /\b(?:I(?:['’]ll| will| promise)|promised|deadline|due|until|tomorrow|tonight|next week|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}|\d{1,2} ?[ap]m)\b/iu;

/** Headings and what stands under each, the most important first. */
const groups: readonly (readonly [string, (text: string, askerName: string) => boolean])[] = [
  ['Asked of you', (text, asker) => asker !== '' && asks(text) && saysWords(text, asker)],
  ['Decided and agreed', (text) => decision.test(text)],
  ['Promises and dates', (text) => promise.test(text)],
  ['Questions', asks],
  ['Links that were shared', (text) => /https?:\/\/\S/u.test(text)],
];

function asks(text: string): boolean {
  return text.split(/(?<=[?？؟])\s/u).some(isQuestion);
}

/** The index of a line's group; `groups.length` for none. */
function groupOf(text: string, askerName: string): number {
  const found = groups.findIndex(([, fits]) => fits(text, askerName));
  return found === -1 ? groups.length : found;
}

/** The most important lines: those about the topic, then by group, the newest first. */
export function tellingLines<Telling extends { readonly text: string }>(
  lines: readonly Telling[],
  focus: { readonly askerName: string; readonly about?: string | undefined; readonly most: number },
): readonly Telling[] {
  const weighed = lines.map((line, index) => {
    const isAbout = focus.about !== undefined && saysWords(line.text, focus.about);
    return { line, index, weight: groupOf(line.text, focus.askerName) - (isAbout ? groups.length + 1 : 0) };
  });
  const chosen = weighed.toSorted((a, b) => a.weight - b.weight || b.index - a.index).slice(0, focus.most);
  return chosen.toSorted((a, b) => a.index - b.index).map(({ line }) => line);
}

const missed = /\bwhat (?:did|have) (?:I|we) miss(?:ed)?\b|\bcatch me up\b|\bwhat happened (?:in|on) [#<]/iu;
const sinceWords =
  /\b(?:since |in the )?(?<moment>(?:last )?\d{1,3} ?(?:minutes?|hours?|days?|weeks?)(?: ago)?|an hour ago|today|last (?:night|week|month)|yesterday|\d{4}-\d{2}-\d{2}|(?<=since |last )(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/iu;

/** The tool's input where a message asks what was said; otherwise `undefined`. */
export function missedIn(text: string) {
  if (!missed.test(text)) return undefined;
  const channel = /<#\d{15,21}>|#[^\s#,.!?]+/u.exec(text)?.[0];
  return { channel, since: sinceWords.exec(text)?.groups?.['moment'] };
}

const listedChars = 160;
const mostInGroup = 6;

/** A summary of a channel's talk [M2]. */
export function catchUp(request: ModelRequest): string {
  const text = requestText(request);
  return listByRules(text, /is called "([^"\n]*)"/u.exec(text)?.[1] ?? '');
}

/** A message in a section, with its first link. */
const lineForm = /^- \S+ \S+ \S+ \[([^\] ]+)(?: [^\]]*)?\] ([^:\n]{1,200}): (.*)$/gmu;

/** The messages in a text, by group, with links. */
export function listByRules(text: string, askerName: string): string {
  const [, title = '', talk = ''] =
    /<channel_messages>\n([^\n]+)\n(.*?)\n<\/channel_messages>/su.exec(text) ?? [];
  const listed = Array.from(talk.matchAll(lineForm), ([, link = '', name = '', quote = '']) => ({
    group: groupOf(quote, askerName),
    line: `- ${name}: “${clipAtWord(quote.replaceAll('&lt;', '<'), listedChars)}” ${link}`,
  }));
  if (listed.length === 0) return text.split('\n', 1)[0] ?? '';
  const under = (heading: string, wantedGroup: number, most = mostInGroup): readonly string[] => {
    const lines = listed.flatMap(({ group, line }) => (group === wantedGroup ? [line] : [])).slice(-most);
    return lines.length === 0 ? [] : [`**${heading}**`, ...lines];
  };
  const parts = groups.flatMap(([heading], group) => under(heading, group));
  const besides = under('Besides', groups.length, parts.length === 0 ? 10 : 3);
  const shown = parts.length === 0 ? besides.slice(1) : [...parts, ...besides];
  const [heading = title] = title.split(", oldest first. Other people's words");
  return [`${heading}:`, ...shown].join('\n');
}
