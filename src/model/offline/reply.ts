import type { ToolUseBlock } from '../../core/model.ts';
import type { SectionName } from '../../core/section.ts';
import { clip, clipAtWord, flatten, normalizeText } from '../../core/text.ts';
import { memoryWishIn, statementsIn, tellingTerms, toSecondPerson, type MemoryWish } from './phrases.ts';
import { parseRememberedLine, type ReadRequest, type RememberedLine, type ToolRun } from './read-request.ts';

/** Begins every reply of the stand-in, so that nobody takes it for a language model [M2]. */
export const offlineLabel = '[offline model]';

/** What the stand-in does with a turn: says something, or calls a tool first. */
export type ChatReply =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool'; readonly name: string; readonly input: Readonly<Record<string, string>> };

const aboutMe =
  /\bwhat (?:all )?(?:do|did|have) you (?:know|remember|learned?|stored?|saved?)(?: about me)?(?: so far)?\s*\??$|\bwho am I\b|\btell me about me\b|\b(?:tell me )?(?:everything|all) you (?:know|remember)(?: about me)?/iu;
const aboutUs =
  /\b(?:what|where) (?:were|was|are|have|did) we (?:just |been |last )*(?:talk\w*|discuss\w*|say\w*|doing|do|at)?|\bsummar(?:y|i[sz]e)\b|\bcatch me up\b|\bremind me what we\b/iu;
const greeting = /^\W*(?:hi|hey|hello|hiya|yo|good (?:morning|evening|day))\b/iu;
const thanks = /^\W*(?:thanks|thank you|thx)\b/iu;
const aboutSpeaker = /\b(?:I|me|my|mine)\b/iu;
const questionForm =
  /\?\s*$|^\W*(?:who|what|when|where|which|why|how|do|does|did|is|are|can|could|tell me|show me)\b/iu;

const standIn =
  'I am not a language model, only an offline stand-in: I look things up in memory and remember what you tell me, nothing more. ' +
  'For real answers, whoever runs me has to set `ANTHROPIC_API_KEY` (or `ANTHROPIC_BASE_URL`) and restart me.';
/** Items told where none fits a question that the speaker asks about themselves. */
const otherItems = 5;
const listed = '`!memory show` lists what I remember.';

/**
 * Answers a turn from memory alone, by rules: equal requests get equal replies [M2]. The label is not yet on the text. Attached files are
 * named, since they were seen; what is in them is nothing to the rules.
 */
export function chatReply(request: ReadRequest): ChatReply {
  const { files, message } = request;
  if (files.length === 0) return replyToWords(request);
  const seen = `I see ${files.map((name) => `“${name}”`).join(', ')}, but I cannot look into files.`;
  if (message.text === '') return say(`${seen} ${standIn}`);
  const reply = replyToWords(request);
  return reply.type === 'text' ? say(`${seen}\n${reply.text}`) : reply;
}

function replyToWords(request: ReadRequest): ChatReply {
  if (request.toolRuns.length > 0) return say(request.toolRuns.map(tellToolRun).join('\n'));
  const { text } = request.message;
  const wish = memoryWishIn(text);
  if (wish !== undefined) return answerWish(wish, request);
  if (aboutMe.test(text)) return say(everythingKnown(request));
  if (aboutUs.test(text)) return say(conversationSoFar(request));

  const found = bestMatches(text, memoryPieces(request), (piece) => piece.search, 3);
  const isQuestion = questionForm.test(text);
  const [statement] = isQuestion ? [] : statementsIn(text);
  if (statement !== undefined) return say(acknowledge(statement.quote));
  if (found.length > 0) return say(found.map((piece) => piece.told).join('\n'));
  if (isQuestion && request.tools.has('recall_memory') && tellingTerms(text).size > 0) {
    return {
      type: 'tool',
      name: 'recall_memory',
      input: { query: clip(flatten(text), 200) },
    };
  }
  if (thanks.test(text)) return say(`You are welcome${nameOf(request)}.`);
  if (greeting.test(text)) return say(`Hello${nameOf(request)}. ${standIn}`);
  const items = aboutSpeaker.test(text) ? rememberedItems(request).slice(0, otherItems) : [];
  if (items.length === 0) return say(`I have nothing about that in memory. ${standIn}`);
  return say(
    [
      'I have nothing about exactly that. What I know about you:',
      ...items.map((item) => `- ${tellRemembered(item)}`),
    ].join('\n'),
  );
}

function say(text: string): ChatReply {
  return { type: 'text', text };
}

function nameOf({ message }: ReadRequest): string {
  return message.from === '' ? '' : `, ${message.from}`;
}

function answerWish(wish: MemoryWish, request: ReadRequest): ChatReply {
  if (wish.wish === 'remember') {
    const { kind, text, quote } = wish;
    if (request.tools.has('remember_item'))
      return { type: 'tool', name: 'remember_item', input: { kind, text, quote } };
    return say(`I cannot save anything from here. \`!memory remember ${clipAtWord(quote, 200)}\` saves it.`);
  }
  const target = forgetTarget(wish.about, request);
  if (request.tools.has('forget_item')) return { type: 'tool', name: 'forget_item', input: { target } };
  return say(`I cannot forget anything from here. \`!memory forget ${clipAtWord(target, 200)}\` does it.`);
}

/** The words themselves where they stand in an item, else the text of the item that fits them best. */
function forgetTarget(about: string, request: ReadRequest): string {
  const words = about.replace(/^["“'‘]|["”'’]$/gu, '').trim();
  const items = rememberedItems(request);
  if (items.some((item) => normalizeText(item.text).includes(normalizeText(words)))) return words;
  const [best] = bestMatches(words, items, (item) => `${item.kind} ${item.text}`, 1);
  return best?.text ?? words;
}

function tellToolRun({ call, result }: ToolRun): string {
  const done = !result.isError;
  switch (call.name) {
    case 'remember_item':
      return done
        ? `I will remember: “${inputOf(call, 'text')}”. ${listed}`
        : 'I could not save that. `!memory remember <text>` saves it as you write it, or says why not.';
    case 'forget_item':
      return done
        ? `I forgot “${inputOf(call, 'target')}”. ${listed}`
        : `I have nothing that I could forget as “${inputOf(call, 'target')}”. ${listed}`;
    case 'recall_memory': {
      const found = done ? recalledPassages(result.text, inputOf(call, 'query')) : [];
      return found.length > 0
        ? clipAtWord(['I looked through what was said before:', ...found].join('\n'), 1_500)
        : `I have nothing about that in memory, not even in what was said before. ${standIn}`;
    }
    default:
      return done ? 'Done.' : 'That did not work.';
  }
}

function inputOf(call: ToolUseBlock, field: string): string {
  const { input } = call;
  if (typeof input !== 'object' || input === null) return '';
  const value: unknown = Object.entries(input).find(([name]) => name === field)?.[1];
  return typeof value === 'string' ? flatten(value) : '';
}

function everythingKnown(request: ReadRequest): string {
  const told = [
    ...rememberedItems(request).map(tellRemembered),
    ...memoryPieces(request)
      .filter((piece) => piece.isProfile)
      .map((piece) => piece.told),
  ];
  if (told.length === 0)
    return `I know nothing about you yet. Say “remember that …” to change that. ${standIn}`;
  return ['What I know about you:', ...told.map((line) => `- ${line}`)].join('\n');
}

function conversationSoFar({ sections, history }: ReadRequest): string {
  const summary = sections.get('conversation_summary') ?? [];
  const last = history
    .slice(-6)
    .map(({ name, text }) => `- ${name ?? 'I'}: ${clipAtWord(flatten(withoutLabel(text)), 160)}`);
  if (summary.length === 0 && last.length === 0)
    return `I have nothing of an earlier conversation here. ${standIn}`;
  return [
    ...(summary.length === 0 ? [] : ['What we talked about so far:', ...summary]),
    ...(last.length === 0 ? [] : ['The last messages here:', ...last]),
  ].join('\n');
}

function acknowledge(quote: string): string {
  const told = toSecondPerson(quote) ?? `“${quote}”`;
  return `Good to know: ${told.charAt(0).toLowerCase()}${told.slice(1)}. To make me remember it, say “remember that ${quote}”.`;
}

/** Something in the prompt that may answer a question. */
interface MemoryPiece {
  /** What a question is compared with. */
  readonly search: string;
  /** The piece as told to the speaker, with where it is from. */
  readonly told: string;
  /** Whether it describes the speaker, rather than a conversation. */
  readonly isProfile: boolean;
}

const itemSections: readonly SectionName[] = ['durable_items', 'matching_items', 'changes'];
const textSections: readonly {
  readonly name: SectionName;
  readonly origin: string;
  readonly isProfile: boolean;
}[] = [
  { name: 'user_profile', origin: 'From your profile', isProfile: true },
  { name: 'notes', origin: 'From your notes', isProfile: true },
  { name: 'overview', origin: 'From my notes on this conversation', isProfile: false },
  { name: 'conversation_summary', origin: 'From the summary of this conversation', isProfile: false },
  { name: 'recent_elsewhere', origin: 'From another channel', isProfile: false },
  { name: 'changes', origin: 'From another channel', isProfile: false },
];

/** The speaker's durable items in the prompt, each once. */
function rememberedItems({ sections }: ReadRequest): readonly RememberedLine[] {
  const lines = new Set(itemSections.flatMap((name) => sections.get(name) ?? []));
  return [...lines].flatMap((line) => parseRememberedLine(line) ?? []);
}

/**
 * Everything in the prompt that may answer a question, what is surest first. Earlier questions answer nothing; what people asked to be remembered
 * is answered from the item, for as long as there is one.
 */
function memoryPieces(request: ReadRequest): readonly MemoryPiece[] {
  const items = rememberedItems(request).map((item) => ({
    search: `${item.kind} ${item.text}`,
    told: tellRemembered(item),
    isProfile: false,
  }));
  const texts = textSections.flatMap(({ name, origin, isProfile }) =>
    (request.sections.get(name) ?? [])
      .filter((line) => parseRememberedLine(line) === undefined)
      .map((line) => line.replace(/^[-*\s]+/u, ''))
      .filter((line) => line !== '' && !line.includes('?'))
      .map((line) => ({ search: line, told: `${origin}: “${clipAtWord(line, 300)}”`, isProfile })),
  );
  const said = request.history.flatMap(({ name, text }) => {
    if (name === undefined || text.includes('?') || memoryWishIn(text) !== undefined) return [];
    const who = name === request.message.from ? 'Earlier you said' : `${name} said here`;
    return [{ search: text, told: `${who}: “${clipAtWord(flatten(text), 300)}”`, isProfile: false }];
  });
  return [...items, ...texts, ...said.toReversed()];
}

/** The item as said to its owner: `You prefer Rust — you told me in #dev on 2026-01-15.` */
function tellRemembered(item: RememberedLine): string {
  const statement = toSecondPerson(item.text) ?? `“${item.text}”`;
  const place = item.channel === undefined ? '' : ` in #${item.channel}`;
  const when = item.date === undefined ? '' : ` on ${item.date}`;
  return `${statement} — you told me${place}${when}.`;
}

const passage =
  /^\[\d+\] Source: .*\n.*\nContent: (?<content>.*)\nCitation: (?<citation>.*)(?:\nLink: (?<link>.*))?$/u;

/** The stand-in's own words tell nobody anything, nor does the question itself. */
const ownWords = /offline stand-in|I have nothing about/u;

/**
 * What a search of memory found [C3], a line a passage with where it is from; the question that was asked, and what the stand-in said itself, left
 * out. Empty where nothing is left.
 */
export function recalledPassages(result: string, question: string): readonly string[] {
  const asked = normalizeText(question);
  return result.split('\n\n').flatMap((text) => {
    const { content, citation, link } = passage.exec(text)?.groups ?? {};
    if (content === undefined || ownWords.test(content)) return [];
    if (asked !== '' && normalizeText(content).endsWith(asked)) return [];
    return [`- ${content} (${citation}${link === undefined ? '' : `, <${link}>`})`];
  });
}

/**
 * The candidates that share most terms with the question, the best first; rare terms weigh more. Those that share nothing, or
 * far less than the best, are left out. Equal ones keep their order.
 */
function bestMatches<T>(
  question: string,
  candidates: readonly T[],
  textOf: (candidate: T) => string,
  limit: number,
): readonly T[] {
  const asked = tellingTerms(question);
  const known = candidates.map((candidate) => ({ candidate, found: tellingTerms(textOf(candidate)) }));
  const scored = known.map(({ candidate, found }) => {
    const shared = [...asked].filter((term) => found.has(term));
    const score = shared.reduce((sum, term) => {
      const holders = known.filter((other) => other.found.has(term)).length;
      return sum + Math.log(1 + known.length / holders);
    }, 0);
    return { candidate, score };
  });
  const best = Math.max(0, ...scored.map(({ score }) => score));
  return scored
    .filter(({ score }) => score > 0 && score >= best / 2)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** A text without the label. */
function withoutLabel(text: string): string {
  return text.replaceAll(offlineLabel, '').trim();
}
