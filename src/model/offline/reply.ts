import { clipAtWord, isQuestion, sameItemForm, toSingleLine } from '../../core/text.ts';
import { memoryWishIn, reminderWishIn, statementsIn, toSecondPerson } from './phrases.ts';
import type { ReadRequest } from './read-request.ts';

/** What the stand-in does: says something, or calls tools first. */
export type Reply = string | readonly Call[];

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, string | undefined>>;
}

/** What the rules know beside the request: which share of a question's words a text has. */
export interface Knowledge {
  readonly shareOf: (question: string) => (text: string) => number;
}

const aboutMe =
  /\bwhat (?:do|did|have) you (?:know|remember|store|save)(?: about me)?\s*\??$|\bwho am I\b|\b(?:everything|all) you know\b/iu;
const greeting = /^\W*(?:hi|hey|hello|hiya|yo|good (?:morning|evening|day))\b/iu;
const thanks = /^\W*(?:thanks|thank you|thx|cheers)\b/iu;
const aboutSpeaker = /\b(?:I|me|my|mine)\b/iu;
/** How people ask where they leave out the sign. */
const questionForm =
  /^\W*(?:(?:who|what)s?|when|where|which|why|how|do|does|did|is|are|can|could|tell me)\b/iu;

const listed = '`!memory show` lists what I know about you.';
const tellMe = 'Say “remember that I like green tea”, then ask “what do I like?”; “help” says more.';

/** From memory alone, by rules: equal requests get equal replies [M2]. The label is not yet on the text. */
export function chatReply(request: ReadRequest, knowledge: Knowledge): Reply {
  const { toolRuns, tools, items } = request;
  const { text, from } = request.message;
  if (toolRuns.length > 0) return toolRuns.map(tellToolRun).join('\n');
  const wish = memoryWishIn(text);
  if (wish !== undefined)
    return tools.has(wish.name)
      ? [{ name: wish.name, input: wish.input }]
      : `I cannot change memory from here. \`!memory ${clipAtWord(wish.command, 200)}\` does it.`;
  const reminder = tools.has('set_reminder') ? reminderWishIn(text) : undefined;
  if (reminder !== undefined) return [{ name: 'set_reminder', input: reminder }];
  const missed = tools.has('read_channel') ? missedIn(text) : undefined;
  if (missed !== undefined) return [{ name: 'read_channel', input: missed }];
  const known = new Set(items.map((item) => sameItemForm(item.text)));
  const statements = statementsIn(text).filter(({ quote }) => !known.has(sameItemForm(quote)));
  if (statements.length > 0 && tools.has('remember_item'))
    return statements.map((input) => ({ name: 'remember_item', input }));

  const answer = answerTo(text, request, knowledge);
  if (answer !== undefined) return answer;
  const isAsked = isQuestion(text) || questionForm.test(text);
  const name = from === '' ? '' : `, ${from}`;
  if (thanks.test(text)) return `You are welcome${name}.`;
  if (greeting.test(text)) return `Hello${name}. ${tellMe}${hint(request)}`;
  if (isAsked) return unknown(request);
  if (!/^\W*(?:I|my|we|our)\b/iu.test(text)) return `I did not understand that. ${tellMe}${hint(request)}`;
  return 'I have not kept that. Begin with “remember that” to make me keep it.';
}

/** The least share of a question's words that an answer has. */
const leastShare = 0.25;

/** What rules and memory say to a message; `undefined` for nothing. */
function answerTo(text: string, request: ReadRequest, knowledge: Knowledge): string | undefined {
  const topic = topicOf(text);
  if (topic !== undefined) return topic;
  const share = knowledge.shareOf(text);
  const isOpen = aboutSpeaker.test(text) && isQuestion(text) && share(text) === 0;
  if (isOpen || aboutMe.test(text)) {
    const line = request.items.map((item) => `- ${tellItem(item)}`);
    if (line.length === 0) return `I know nothing about you yet. ${tellMe}${hint(request)}`;
    return ['What I know about you:', ...line].join('\n');
  }
  const fitting = request.items
    .map((item) => ({ item, share: share(`${item.kind} ${item.text}`) }))
    .toSorted((one, other) => other.share - one.share);
  const [best] = fitting;
  if (best === undefined || best.share < leastShare) return undefined;
  const lines = fitting.filter((each) => each.share > best.share / 2).map(({ item }) => tellItem(item));
  return [...(best.share > 0.5 ? [] : ['Perhaps this:']), ...lines.slice(0, 3)].join('\n');
}

function tellItem({ text, channel, date, when, isOver }: ReadRequest['items'][number]): string {
  const place = channel === undefined ? '' : ` in #${channel}`;
  const at = date === undefined ? '' : ` on ${date}`;
  const onDay = when === undefined ? '' : ` (${when}${isOver ? ', over' : ''})`;
  return `${toSecondPerson(text)}${onDay} — you told me${place}${at}.`;
}

/** What a real model would add, unless that was said a moment ago. */
function hint({ ownWords }: ReadRequest): string {
  return ownWords.slice(-6).some((text) => text.includes(realModel)) ? '' : `\n${whatItIs} ${realModel}`;
}

function unknown(request: ReadRequest): string {
  return aboutSpeaker.test(request.message.text)
    ? `I don’t know that yet. Tell me, as in “remember that I like green tea”, and I will.${hint(request)}`
    : `I don’t know that: I know only what you have told me; more takes a real model. “help” says what I can do.${hint(request)}`;
}

/** What came of a tool. */
function tellToolRun({ call, result }: ReadRequest['toolRuns'][number]): string {
  const done = !result.isError;
  const named = (field: string): string => inputOf(call.input, field);
  switch (call.name) {
    case 'remember_item': {
      if (!done)
        return 'I could not save that. `!memory remember <text>` saves it as you write it, or says why not.';
      const isAsked = result.text.startsWith('Not stored yet');
      const line = toSecondPerson(named('quote')).replace(/^Y/u, 'y');
      return `${isAsked ? 'Decide below whether I may remember' : 'I will remember'}: ${line}. ${listed}`;
    }
    case 'set_reminder':
      if (result.text.startsWith('Not set yet')) return 'Decide below whether I shall remind you.';
      return done ? 'I will.' : result.text;
    case 'forget_item':
      return `${done ? 'I forgot' : 'I have nothing that I could forget as'} “${named('target')}”. ${listed}`;
    default:
      return listTalk(result.text);
  }
}

function inputOf(input: unknown, field: string): string {
  const value: unknown = Object.entries(input ?? {}).find(([name]) => name === field)?.[1];
  return typeof value === 'string' ? toSingleLine(value) : '';
}

const whatItIs =
  'I am not a language model, only an offline stand-in: I answer by rules, from what you told me.';
const realModel =
  'A real model would understand all that you say, answer and write: set `ANTHROPIC_API_KEY` (or `ANTHROPIC_BASE_URL`) in `.env` and start me again.';

/** Answers to questions about the bot itself, by how people ask them. */
const topics: readonly (readonly [asked: RegExp, answer: string])[] = [
  [
    /\b(?:what|who) are you\b|\bare you (?:an? )?(?:bot|human|real|ai|chatgpt|gpt|claude)\b|\bhow\b.*\b(?:real model|api key)\b/iu,
    `I am Discoclaw, a bot with a memory that you can see and correct. ${whatItIs} ${realModel}`,
  ],
  [
    /\b(?:who|anyone|anybody|others|people)\b.*\b(?:read|see|access|tell)\b.*\b(?:data|memor(?:y|ies)|you)\b|\b(?:you|this|data|memory|bot)\b.*\b(?:private|safe|stored)\b/iu,
    'Nobody’s memory is used for anybody else. What you say in a DM I use only in our DM, what you say in a private channel only there and in our DM, what you say in a public one only in that server and in our DM. The operator who runs me can read my files. `!memory privacy` says it all, and `!memory pause` stops all storing.',
  ],
  [
    /^\W*(?:help|commands|start)\W*$|\bwhat can (?:you|i) (?:do|ask|say)\b|\bhow\b.*\b(?:you|your memory|delete|forget|undo)\b|\b(?:delete|erase|forget) (?:everything|all)\b/iu,
    'Tell me something about you, such as “remember that I like green tea”, then ask “what do I like?”, here or in another channel. `!memory show` lists what I know, `!memory forget <words>` deletes from it, `!memory erase` everything, and `!memory help` shows all commands.',
  ],
];

/** The answer to a question about the bot itself; `undefined` for any other message. */
function topicOf(text: string): string | undefined {
  // A few words say too little about a longer message.
  return text.length > 80 ? undefined : topics.find(([asked]) => asked.test(text))?.[1];
}

const missed = /\bwhat (?:did|have) (?:I|we) miss(?:ed)?\b|\bcatch me up\b|\bwhat happened (?:in|on) [#<]/iu;
const sinceWords =
  /\b(?:since |in the )?(?<moment>(?:last )?\d{1,3} ?(?:minutes?|hours?|days?|weeks?)(?: ago)?|an hour ago|today|last (?:night|week|month)|yesterday|\d{4}-\d{2}-\d{2}|(?<=since |last )(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/iu;

/** The tool's input where a message asks what was said; otherwise `undefined`. */
function missedIn(text: string) {
  if (!missed.test(text)) return undefined;
  const channel = /<#\d{15,21}>|#[^\s#,.!?]+/u.exec(text)?.[0];
  return { channel, since: sinceWords.exec(text)?.groups?.['moment'] };
}

const listedChars = 160;
const mostListed = 10;

/** A message in a section, with its first link. */
const lineForm = /^- \S+ \S+ \S+ \[([^\] ]+)(?: [^\]]*)?\] ([^:\n]{1,200}): (.*)$/gmu;

/** The newest messages of a channel's talk, with links [M2]; what a text without any begins with. */
export function listTalk(text: string): string {
  const [, title = '', talk = ''] =
    /<channel_messages>\n([^\n]+)\n(.*?)\n<\/channel_messages>/su.exec(text) ?? [];
  const lines = Array.from(
    talk.matchAll(lineForm),
    ([, link = '', name = '', quote = '']) =>
      `- ${name}: “${clipAtWord(quote.replaceAll('&lt;', '<'), listedChars)}” ${link}`,
  );
  if (lines.length === 0) return text.split('\n', 1)[0] ?? '';
  const [heading = title] = title.split(", oldest first. Other people's words");
  return [`${heading}:`, ...lines.slice(-mostListed)].join('\n');
}
