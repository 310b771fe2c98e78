import type { ModelRequest } from '../../core/model.ts';
import { clipAtWord, saysWords } from '../../core/text.ts';
import { requestText } from './read-request.ts';

/** A message of a channel as requests and tool results show it. */
interface Line {
  /** In condensing its id, in results its link; where it rests on several, the first. */
  readonly reference: string;
  readonly name: string;
  readonly text: string;
}

const lineForm = /^- \S+ \S+ \S+ \[([^\]]+)\] ([^:]{1,200}): (.*)$/u;

/** What somebody who was away would look for, in this order. */
const groups = [
  'Asked of you',
  'Decided and agreed',
  'Promises and dates',
  'Questions',
  'Links that were shared',
] as const;
type Group = (typeof groups)[number];

const decision =
  /\b(?:decided|decision|agreed|we(?:['’]ll| will| are going to)|let['’]?s (?:go|do|take|use)|settled|approved|final(?:ly)? (?:is|it is)|beschlossen|entschieden|wir nehmen|décidé|decidido|acordado)\b|решили|договорились/iu;
const promise =
  /\b(?:I(?:['’]ll| will| promise| can have)|promised?|deadline|due|until|by (?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|next week|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}|\d{1,2} ?[ap]m|(?:january|february|march|april|june|july|august|september|october|november|december) \d{1,2}|\d{1,2} (?:january|february|march|april|may|june|july|august|september|october|november|december)|versprochen|bis morgen|demain|mañana)\b|завтра|обещаю/iu;
const address = /https?:\/\/\S/u;

function groupOf(text: string, askerName: string): Group | undefined {
  const isQuestion = /[?？]/u.test(text.replaceAll(/https?:\/\/\S+/gu, ''));
  if (isQuestion && askerName !== '' && saysWords(text, askerName)) return 'Asked of you';
  if (decision.test(text)) return 'Decided and agreed';
  if (promise.test(text)) return 'Promises and dates';
  if (isQuestion) return 'Questions';
  return address.test(text) ? 'Links that were shared' : undefined;
}

/** Those lines, at most so many and in order, that tell most by rules: what fits what is asked about, then by their group, the newest first. */
export function tellingLines<Telling extends Pick<Line, 'text'>>(
  lines: readonly Telling[],
  asked: { readonly askerName: string; readonly about?: string | undefined; readonly most: number },
): readonly Telling[] {
  const weight = ({ text }: Telling): number => {
    const group = groupOf(text, asked.askerName);
    const rank = group === undefined ? groups.length : groups.indexOf(group);
    const isAbout = asked.about !== undefined && saysWords(text, asked.about);
    return isAbout ? rank - groups.length - 1 : rank;
  };
  const weighed = lines.map((line, index) => ({ line, index, weight: weight(line) }));
  const chosen = weighed.toSorted((a, b) => a.weight - b.weight || b.index - a.index).slice(0, asked.most);
  return chosen.toSorted((a, b) => a.index - b.index).map(({ line }) => line);
}

const aboutLine = 'They ask about: "';

/** What was said in a channel, by rules [M2]: for condensing the lines that tell most, as the JSON that is asked for; else a list of them in groups. */
export function catchUp(request: ModelRequest): string {
  const text = requestText(request);
  const askerName = /is called "([^"\n]*)"/u.exec(text)?.[1] ?? '';
  if (request.outputSchema === undefined) return toldByRules(text, askerName);
  const about = text
    .split('\n')
    .find((line) => line.startsWith(aboutLine))
    ?.slice(aboutLine.length, -'".'.length);
  const most = Number(/^At most (\d+) points\.$/mu.exec(text)?.[1] ?? 10);
  const points = tellingLines(linesIn(text), { askerName, about, most });
  return JSON.stringify({
    points: points.map((line) => ({ text: line.text, messageIds: [line.reference] })),
  });
}

const missed = /\bwhat (?:did|have|has|had) (?:I|we) miss(?:ed)?\b|\bcatch me up\b/iu;
const happened =
  /\bwhat (?:happened|was (?:said|decided|discussed|going on)|(?:did|have) (?:they|people|you all) (?:said?|decided?|discuss(?:ed)?))\b/iu;
const inChannel = /\b(?:in|on) [#<]/iu;
const sinceWords =
  /\b(?:since |in the |over the )?(?<moment>(?:last )?\d{1,3} ?(?:m|h|d|w|minutes?|hours?|days?|weeks?)(?: ago)?|an hour ago|today|this (?:morning|afternoon|week)|last (?:night|week|month)|yesterday|\d{4}-\d{2}-\d{2}|(?<=since |last )(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/iu;

/** What a message asks to be read of a channel, as the tool takes it; `undefined` where it asks for nothing of the kind. */
export function missedIn(text: string) {
  if (!missed.test(text) && !(happened.test(text) && inChannel.test(text))) return undefined;
  const channel = /<#\d{15,21}>|#[^\s#,.!?]+/u.exec(text)?.[0];
  const since = sinceWords.exec(text)?.groups?.['moment'];
  return { channel, since };
}

const listedChars = 160;
const mostInGroup = 6;

/** What a text that shows the messages of a channel holds, in groups: who said it, where, and what was asked, decided, promised and shared. */
export function toldByRules(text: string, askerName: string): string {
  const [, title] = /<channel_messages>\n(.+)\n/u.exec(text) ?? [];
  const lines = linesIn(text);
  if (title === undefined || lines.length === 0) return text.split('\n', 1)[0] ?? '';
  const listed = lines.map(({ reference, name, text: said }) => ({
    group: groupOf(said, askerName),
    told: `- ${name}: “${clipAtWord(said.replaceAll('&lt;', '<'), listedChars)}” ${reference}`,
  }));
  const inGroup = (wanted: Group | undefined, most: number): readonly string[] =>
    listed.flatMap(({ group, told }) => (group === wanted ? [told] : [])).slice(-most);
  const parts = groups.flatMap((group) => under(group, inGroup(group, mostInGroup)));
  const shown =
    parts.length === 0 ? inGroup(undefined, 10) : [...parts, ...under('Besides', inGroup(undefined, 3))];
  const [heading = title] = title.split(", oldest first. Other people's words");
  return [`${heading}:`, ...shown].join('\n');
}

function under(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`**${heading}**`, ...lines];
}

function linesIn(text: string): readonly Line[] {
  const start = text.indexOf('<channel_messages>\n');
  const end = text.indexOf('\n</channel_messages>', start);
  if (start === -1 || end === -1) return [];
  return text
    .slice(start, end)
    .split('\n')
    .flatMap((line) => {
      const [, reference, name, said] = lineForm.exec(line) ?? [];
      return reference === undefined || name === undefined || said === undefined
        ? []
        : [{ reference: reference.split(' ', 1)[0] ?? '', name, text: said }];
    });
}
