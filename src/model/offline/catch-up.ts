import type { ModelRequest } from '../../core/model.ts';
import { clipAtWord, saysWords } from '../../core/text.ts';
import { requestText } from './read-request.ts';

const decision =
  /\b(?:decided|decision|agreed|we(?:['’]ll| will| are going to)|let['’]?s (?:go|do|take|use)|settled|approved|final(?:ly)? (?:is|it is)|beschlossen|entschieden|wir nehmen|décidé|decidido|acordado)\b|решили|договорились/iu;
const promise =
  /\b(?:I(?:['’]ll| will| promise| can have)|promised?|deadline|due|until|by (?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|next week|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}|\d{1,2} ?[ap]m|(?:january|february|march|april|june|july|august|september|october|november|december) \d{1,2}|\d{1,2} (?:january|february|march|april|may|june|july|august|september|october|november|december)|versprochen|bis morgen|demain|mañana)\b|завтра|обещаю/iu;

function isQuestion(text: string): boolean {
  return /[?？]/u.test(text.replaceAll(/https?:\/\/\S+/gu, ''));
}

/** Headings and the lines under each, the most important first. */
const groups: readonly (readonly [string, (text: string, askerName: string) => boolean])[] = [
  ['Asked of you', (text, asker) => asker !== '' && isQuestion(text) && saysWords(text, asker)],
  ['Decided and agreed', (text) => decision.test(text)],
  ['Promises and dates', (text) => promise.test(text)],
  ['Questions', isQuestion],
  ['Links that were shared', (text) => /https?:\/\/\S/u.test(text)],
];

/** The index of a line's group; `groups.length` for none. */
function groupOf(text: string, askerName: string): number {
  const found = groups.findIndex(([, fits]) => fits(text, askerName));
  return found === -1 ? groups.length : found;
}

/** The most important lines: those about the topic, then by group, the newest first. */
export function tellingLines<Telling extends { readonly text: string }>(
  lines: readonly Telling[],
  asked: { readonly askerName: string; readonly about?: string | undefined; readonly most: number },
): readonly Telling[] {
  const weighed = lines.map((line, index) => {
    const isAbout = asked.about !== undefined && saysWords(line.text, asked.about);
    return { line, index, weight: groupOf(line.text, asked.askerName) - (isAbout ? groups.length + 1 : 0) };
  });
  const chosen = weighed.toSorted((a, b) => a.weight - b.weight || b.index - a.index).slice(0, asked.most);
  return chosen.toSorted((a, b) => a.index - b.index).map(({ line }) => line);
}

const missed = /\bwhat (?:did|have|has|had) (?:I|we) miss(?:ed)?\b|\bcatch me up\b/iu;
const happened =
  /\bwhat (?:happened|was (?:said|decided|discussed|going on)|(?:did|have) (?:they|people|you all) (?:said?|decided?|discuss(?:ed)?))\b/iu;
const inChannel = /\b(?:in|on) [#<]/iu;
const sinceWords =
  /\b(?:since |in the |over the )?(?<moment>(?:last )?\d{1,3} ?(?:m|h|d|w|minutes?|hours?|days?|weeks?)(?: ago)?|an hour ago|today|this (?:morning|afternoon|week)|last (?:night|week|month)|yesterday|\d{4}-\d{2}-\d{2}|(?<=since |last )(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/iu;

/** The tool's input where a message asks what was said; otherwise `undefined`. */
export function missedIn(text: string) {
  if (!missed.test(text) && !(happened.test(text) && inChannel.test(text))) return undefined;
  const channel = /<#\d{15,21}>|#[^\s#,.!?]+/u.exec(text)?.[0];
  const since = sinceWords.exec(text)?.groups?.['moment'];
  return { channel, since };
}

const listedChars = 160;
const mostInGroup = 6;

/** A summary of a channel's talk [M2]. */
export function catchUp(request: ModelRequest): string {
  const text = requestText(request);
  return toldByRules(text, /is called "([^"\n]*)"/u.exec(text)?.[1] ?? '');
}

/** The messages in a text, by group, with links. */
export function toldByRules(text: string, askerName: string): string {
  const [, title = '', talk = ''] =
    /<channel_messages>\n([^\n]+)\n(.*?)\n<\/channel_messages>/su.exec(text) ?? [];
  const listed = Array.from(talk.matchAll(lineForm), ([, link = '', name = '', said = '']) => ({
    group: groupOf(said, askerName),
    told: `- ${name}: “${clipAtWord(said.replaceAll('&lt;', '<'), listedChars)}” ${link}`,
  }));
  if (listed.length === 0) return text.split('\n', 1)[0] ?? '';
  const inGroup = (wanted: number, most: number): readonly string[] =>
    listed.flatMap(({ group, told }) => (group === wanted ? [told] : [])).slice(-most);
  const parts = groups.flatMap(([heading], group) => under(heading, inGroup(group, mostInGroup)));
  const besides = inGroup(groups.length, parts.length === 0 ? 10 : 3);
  const shown = parts.length === 0 ? besides : [...parts, ...under('Besides', besides)];
  const [heading = title] = title.split(", oldest first. Other people's words");
  return [`${heading}:`, ...shown].join('\n');
}

/** A message in a section, with its first link. */
const lineForm = /^- \S+ \S+ \S+ \[([^\] ]+)(?: [^\]]*)?\] ([^:\n]{1,200}): (.*)$/gmu;

function under(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`**${heading}**`, ...lines];
}
