import { clip, clipAtWord, flatten, normalizeText } from '../../core/text.ts';
import {
  leastShare,
  memoryPieces,
  offlineLabel,
  recalledPassages,
  rememberedItems,
  shareOf,
  type Words,
} from './matching.ts';
import { isTelling, memoryWishIn, statementsIn, toSecondPerson, type MemoryWish } from './phrases.ts';
import type { ReadRequest, ToolRun } from './read-request.ts';
import { realModel, topicOf, whatItIs } from './topics.ts';

/** What the stand-in does with a turn: says something, or calls tools first. */
export type ChatReply =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tools'; readonly calls: readonly Call[] };

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

/** What the rules know beside the request: words as recall reads them, and what a message asks of memory in plain words [K13]. */
export interface Knowledge {
  readonly words: Words;
  readonly wishesIn: (texts: readonly string[]) => ReadonlySet<string>;
}

const aboutMe =
  /\bwhat (?:all )?(?:do|did|have) you (?:know|remember|learned?|stored?|saved?)(?: about me)?(?: so far)?\s*\??$|\bwho am I\b|\bwhat(?:['’]?s| is) my name\b|\b(?:everything|all) you (?:know|remember)\b/iu;
const aboutUs =
  /\b(?:what|where) (?:were|was|are|have|did) we (?:just |been |last )*(?:talk\w*|discuss\w*|say\w*|doing|do|at)?|\bsummar(?:y|i[sz]e)\b|\bcatch me up\b/iu;
const greeting = /^\W*(?:hi|hey|hello|hiya|yo|good (?:morning|evening|day))\b/iu;
const thanks = /^\W*(?:thanks|thank you|thx|cheers)\b/iu;
const aboutSpeaker = /\b(?:I|me|my|mine)\b/iu;
const questionForm =
  /\?\s*$|^\W*(?:(?:who|what)s?|when|where|which|why|how|do|does|did|is|are|can|could|tell me|show me|write|explain)\b/iu;

const listed = '`!memory show` lists what I know about you.';
const tellMe = 'Say “remember that I like green tea”, then ask “what do I like?”; “help” says more.';
/** Statements kept of one message at most. */
const mostStatements = 3;

/**
 * Answers a turn from memory alone, by rules: equal requests get equal replies [M2]. The label is not yet on the text. Attached files are
 * named, since they were seen; what is in them is nothing to the rules.
 */
export function chatReply(request: ReadRequest, knowledge: Knowledge): ChatReply {
  const { files, message } = request;
  const seen = `I see ${files.map((name) => `“${name}”`).join(', ')}, but I cannot look into files.`;
  if (files.length > 0 && message.text === '') return say(`${seen} ${whatItIs} ${realModel}`);
  const reply = replyToWords(request, knowledge);
  return reply.type === 'tools' || files.length === 0 ? reply : say(`${seen}\n${reply.text}`);
}

function replyToWords(request: ReadRequest, { words, wishesIn }: Knowledge): ChatReply {
  const { toolRuns, tools, message } = request;
  const { text } = message;
  if (toolRuns.length > 0) return say(afterTools(request, words));
  const wish = memoryWishIn(text);
  if (wish !== undefined) return answerWish(wish, request, words);
  const [asked] = wishesIn([text]);
  const action = asked === 'this' || asked === 'forget' ? 'undo' : asked;
  if (action !== undefined && action !== 'show' && tools.has('memory_control'))
    return call('memory_control', [{ action }]);
  const known = new Set(rememberedItems(request).map((item) => normalizeText(item.text)));
  const statements = statementsIn(text).filter((said) => !known.has(normalizeText(said.text)));
  if (statements.length > 0 && tools.has('remember_item'))
    return call('remember_item', statements.slice(0, mostStatements));

  const answer = answerTo(text, request, words);
  if (answer !== undefined) return say(answer);
  const isQuestion = questionForm.test(text);
  if (isQuestion && tools.has('recall_memory') && words.read(text).some(isTelling))
    return call('recall_memory', [{ query: clip(flatten(text), 200) }]);
  const name = message.from === '' ? '' : `, ${message.from}`;
  if (thanks.test(text)) return say(`You are welcome${name}.`);
  if (greeting.test(text)) return say(`Hello${name}. ${tellMe}${hint(request)}`);
  if (isQuestion) return say(unknown(request));
  if (!/^\W*(?:I|my|we|our)\b/iu.test(text))
    return say(`I did not understand that. ${tellMe}${hint(request)}`);
  return say(`I have not kept that. “remember that ${clipAtWord(flatten(text), 200)}” makes me keep it.`);
}

function say(text: string): ChatReply {
  return { type: 'text', text };
}

function call(name: string, inputs: readonly object[]): ChatReply {
  return { type: 'tools', calls: inputs.map((input) => ({ name, input: { ...input } })) };
}

/** What rules and memory say to a message; `undefined` for nothing. */
function answerTo(text: string, request: ReadRequest, words: Words): string | undefined {
  const topic = topicOf(text);
  if (topic !== undefined) return topic;
  if (aboutMe.test(text)) return everythingKnown(request);
  if (aboutUs.test(text)) return conversationSoFar(request);
  const share = shareOf(text, words);
  const fitting = memoryPieces(request)
    .map((piece) => ({ ...piece, share: share(piece.search) }))
    .toSorted((a, b) => b.share - a.share);
  const [best] = fitting;
  if (best === undefined || best.share < leastShare) return undefined;
  const alike = fitting.filter((piece) => piece.kind === best.kind && piece.share > best.share / 2);
  const lines = alike.slice(0, 3).map(({ told }) => told);
  return [...(best.share > 0.5 ? [] : ['This may be it:']), ...lines].join('\n');
}

/** What a real model would add, unless that was said a moment ago. */
function hint({ history }: ReadRequest): string {
  const lately = history.filter(({ name }) => name === undefined).slice(-6);
  return lately.some(({ text }) => text.includes(realModel)) ? '' : `\n${whatItIs} ${realModel}`;
}

function unknown(request: ReadRequest): string {
  return aboutSpeaker.test(request.message.text)
    ? `I don’t know that yet. Tell me, as in “remember that I like green tea”, and I will.${hint(request)}`
    : `I don’t know that: I know only what you have told me. “help” says what I can do.${hint(request)}`;
}

function answerWish(wish: MemoryWish, request: ReadRequest, words: Words): ChatReply {
  if (wish.wish === 'remember') {
    const { kind, text, quote } = wish;
    if (request.tools.has('remember_item')) return call('remember_item', [{ kind, text, quote }]);
    return say(`I cannot save anything from here. \`!memory remember ${clipAtWord(quote, 200)}\` saves it.`);
  }
  const target = forgetTarget(wish.about, request, words);
  if (request.tools.has('forget_item')) return call('forget_item', [{ target }]);
  return say(`I cannot forget anything from here. \`!memory forget ${clipAtWord(target, 200)}\` does it.`);
}

/** The words themselves where they stand in an item, else the text of the item that fits them best. */
function forgetTarget(about: string, request: ReadRequest, words: Words): string {
  const named = about.replace(/^["“'‘]|["”'’]$/gu, '').trim();
  const items = rememberedItems(request);
  if (items.some((item) => normalizeText(item.text).includes(normalizeText(named)))) return named;
  const share = shareOf(named, words);
  const scored = items.map(({ kind, text }) => ({ text, share: share(`${kind} ${text}`) }));
  const [best] = scored.toSorted((a, b) => b.share - a.share);
  return best === undefined || best.share === 0 ? named : best.text;
}

/** What came of the tools; then the answer to what the message asks besides telling something. */
function afterTools(request: ReadRequest, words: Words): string {
  const { toolRuns, message } = request;
  const told = toolRuns.map((run) => tellToolRun(run, request, words));
  const [question] = /[^.!?\n]+\?\s*$/u.exec(message.text) ?? [];
  const isAside = toolRuns.every(({ call: { name } }) => name === 'remember_item');
  if (question !== undefined && isAside && memoryWishIn(message.text) === undefined)
    told.push(answerTo(question, request, words) ?? unknown(request));
  return [...new Set(told)].join('\n');
}

function tellToolRun({ call: { name, input }, result }: ToolRun, request: ReadRequest, words: Words): string {
  const done = !result.isError;
  switch (name) {
    case 'remember_item': {
      if (result.text.startsWith('Not stored yet')) return 'You decide below whether I may remember that.';
      const text = inputOf(input, 'text');
      const told = toSecondPerson(text)?.replace(/^Y/u, 'y') ?? `“${text}”`;
      return done
        ? `I will remember: ${told}. ${listed}`
        : `I could not save that: ${told}. \`!memory remember <text>\` saves it as you write it, or says why not.`;
    }
    case 'forget_item':
      return done
        ? `I forgot “${inputOf(input, 'target')}”. ${listed}`
        : `I have nothing that I could forget as “${inputOf(input, 'target')}”. ${listed}`;
    case 'memory_control': {
      const action = inputOf(input, 'action');
      if (done) return 'Done, as the line below says.';
      return action === 'export' || action === 'erase'
        ? `Nothing is done yet: press the button below, or write \`!memory ${action}\`. Before anything is erased, you see how much that is.`
        : `There is nothing to ${action} now. \`!memory show\` lists what I know, \`!memory forget <words>\` deletes from it, \`!memory pause\` stops it.`;
    }
    case 'recall_memory': {
      const share = shareOf(inputOf(input, 'query'), words);
      const found = done ? recalledPassages(result.text, request.message.from, share) : [];
      if (found.length === 0) return unknown(request);
      return clipAtWord(['I looked through what was said before:', ...found].join('\n'), 1_500);
    }
    default:
      return done ? 'Done.' : 'That did not work.';
  }
}

function inputOf(input: unknown, field: string): string {
  const value: unknown = Object.entries(input ?? {}).find(([name]) => name === field)?.[1];
  return typeof value === 'string' ? flatten(value) : '';
}

function everythingKnown(request: ReadRequest): string {
  const told = memoryPieces(request).filter(({ kind }) => kind === 'item' || kind === 'profile');
  if (told.length === 0) return `I know nothing about you yet. ${tellMe}${hint(request)}`;
  return ['What I know about you:', ...told.map((piece) => `- ${piece.told}`)].join('\n');
}

function conversationSoFar({ sections, history }: ReadRequest): string {
  const summary = sections.get('conversation_summary') ?? [];
  const last = history.slice(-6).map(({ name, text }) => {
    return `- ${name ?? 'I'}: ${clipAtWord(flatten(text.replaceAll(offlineLabel, '')), 160)}`;
  });
  const told = [
    ...(summary.length === 0 ? [] : ['What we talked about so far:', ...summary]),
    ...(last.length === 0 ? [] : ['The last messages here:', ...last]),
  ];
  return told.length === 0 ? 'I have nothing of an earlier conversation here.' : told.join('\n');
}
