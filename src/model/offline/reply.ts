import { clip, clipAtWord, toSingleLine, sameItemForm, searchForm } from '../../core/text.ts';
import { missedIn, toldByRules } from './catch-up.ts';
import { leastShare, memoryPieces, offlineLabel, recalledPassages, rememberedItems } from './matching.ts';
import { actionIn, memoryWishIn, statementsIn, toSecondPerson } from './phrases.ts';
import type { ReadRequest } from './read-request.ts';
import { realModel, topicOf, whatItIs } from './topics.ts';

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

/** From memory alone, by rules: equal requests get equal replies [M2]. The label is not yet on the text. */
export function chatReply(request: ReadRequest, knowledge: Knowledge): Reply {
  const reply = replyToWords(request, knowledge);
  if (typeof reply !== 'string' || request.files.length === 0) return reply;
  const names = request.files.map((name) => `“${name}”`).join(', ');
  return `I see ${names}, but I cannot look into files.\n${reply}`;
}

function replyToWords(request: ReadRequest, knowledge: Knowledge): Reply {
  const { toolRuns, tools } = request;
  const { text, from } = request.message;
  if (toolRuns.length > 0) return afterTools(request, knowledge);
  const wish = memoryWishIn(text);
  if (wish !== undefined) {
    const { name, input, command } = wish;
    if (!tools.has(name))
      return `I cannot change memory from here. \`!memory ${clipAtWord(command, 200)}\` does it.`;
    return [{ name, input: 'target' in input ? forgetTarget(input.target, request, knowledge) : input }];
  }
  const action = actionIn(text);
  if (action !== undefined && tools.has('memory_control'))
    return [{ name: 'memory_control', input: { action } }];
  const missed = tools.has('read_channel') ? missedIn(text) : undefined;
  if (missed !== undefined) return [{ name: 'read_channel', input: missed }];
  const known = new Set(rememberedItems(request).map(({ text: item }) => formOf(item)));
  const statements = statementsIn(text).filter(({ quote }) => !known.has(formOf(quote)));
  if (statements.length > 0 && tools.has('remember_item'))
    return statements.map((input) => ({ name: 'remember_item', input }));

  const answer = answerTo(text, request, knowledge);
  if (answer !== undefined) return answer;
  const isQuestion = questionForm.test(text);
  if (isQuestion && tools.has('recall_memory') && knowledge.shareOf(text)(text) > 0)
    return [{ name: 'recall_memory', input: { query: clip(toSingleLine(text), 200) } }];
  const name = from === '' ? '' : `, ${from}`;
  if (thanks.test(text)) return `You are welcome${name}.`;
  if (greeting.test(text)) return `Hello${name}. ${tellMe}${hint(request)}`;
  if (isQuestion) return unknown(request);
  if (!/^\W*(?:I|my|we|our)\b/iu.test(text)) return `I did not understand that. ${tellMe}${hint(request)}`;
  return 'I have not kept that. Begin with “remember that” to make me keep it.';
}

/** What items that say the same have in common, whether in the first or the third person. */
function formOf(text: string): string {
  return sameItemForm(toSecondPerson(text) ?? text);
}

/** What rules and memory say to a message; `undefined` for nothing. */
function answerTo(text: string, request: ReadRequest, knowledge: Knowledge): string | undefined {
  const topic = topicOf(text);
  if (topic !== undefined) return topic;
  const isOpen = aboutSpeaker.test(text) && text.endsWith('?') && knowledge.shareOf(text)(text) === 0;
  if (isOpen || aboutMe.test(text)) return everythingKnown(request);
  if (aboutUs.test(text)) return conversationSoFar(request);
  const share = knowledge.shareOf(text);
  const fitting = memoryPieces(request)
    .map((piece) => ({ ...piece, share: share(piece.search) }))
    .toSorted((a, b) => b.share - a.share);
  const [best] = fitting;
  if (best === undefined || best.share < leastShare) return undefined;
  const alike = fitting.filter((piece) => piece.kind === best.kind && piece.share > best.share / 2);
  const lines = alike.slice(0, 3).map(({ told }) => told);
  return [...(best.share > 0.5 ? [] : ['Perhaps this:']), ...lines].join('\n');
}

/** What a real model would add, unless that was said a moment ago. */
function hint({ history }: ReadRequest): string {
  const lately = history.filter(({ name }) => name === undefined).slice(-6);
  return lately.some(({ text }) => text.includes(realModel)) ? '' : `\n${whatItIs} ${realModel}`;
}

function unknown(request: ReadRequest): string {
  return aboutSpeaker.test(request.message.text)
    ? `I don’t know that yet. Tell me, as in “remember that I like green tea”, and I will.${hint(request)}`
    : `I don’t know that: I know only what you have told me; more takes a real model. “help” says what I can do.${hint(request)}`;
}

/** The words themselves where they stand in an item, else the text of the item that fits them best. */
function forgetTarget(about: string, request: ReadRequest, { shareOf }: Knowledge) {
  const named = about.replace(/^["“'‘]|["”'’]$/gu, '').trim();
  const items = rememberedItems(request);
  if (items.some((item) => searchForm(item.text).includes(searchForm(named)))) return { target: named };
  const shareIn = shareOf(named);
  const scored = items.map(({ kind, text }) => ({ text, share: shareIn(`${kind} ${text}`) }));
  const [best] = scored.filter(({ share }) => share > 0).toSorted((a, b) => b.share - a.share);
  return { target: best?.text ?? named };
}

/** What came of the tools; then the answer to what the message asks besides telling something. */
function afterTools(request: ReadRequest, knowledge: Knowledge): string {
  const { toolRuns, message } = request;
  const told = toolRuns.map((run) => tellToolRun(run, request, knowledge));
  if (told.some((line) => line.startsWith('I will remember'))) told.push(listed);
  const question = message.text.split(/(?<=[.!?])\s+/u).at(-1) ?? '';
  const share = knowledge.shareOf(question);
  const isOther = toolRuns.every(({ call }) => share(inputOf(call.input, 'quote')) < leastShare);
  const isTelling = toolRuns.every(({ call }) => call.name === 'remember_item');
  if (question.endsWith('?') && isTelling && isOther && memoryWishIn(message.text) === undefined)
    told.push(answerTo(question, request, knowledge) ?? unknown(request));
  return told.join('\n');
}

function tellToolRun(
  { call, result }: ReadRequest['toolRuns'][number],
  request: ReadRequest,
  { shareOf }: Knowledge,
): string {
  const done = !result.isError;
  const named = (field: string): string => inputOf(call.input, field);
  switch (call.name) {
    case 'remember_item': {
      if (!done)
        return 'I could not save that. `!memory remember <text>` saves it as you write it, or says why not.';
      const isAsked = result.text.startsWith('Not stored yet');
      const told = toSecondPerson(named('quote'))?.replace(/^Y/u, 'y') ?? `“${named('quote')}”`;
      return `${isAsked ? 'Decide below whether I may remember' : 'I will remember'}: ${told}.`;
    }
    case 'forget_item':
      return `${done ? 'I forgot' : 'I have nothing that I could forget as'} “${named('target')}”. ${listed}`;
    case 'memory_control':
      if (named('action') === 'export')
        return 'The button below sends it to you as a file, and so does `!memory export`.';
      if (named('action') === 'erase')
        return 'Nothing is erased yet: the button below, or `!memory erase`, first shows how much that would be.';
      return done ? 'Done, as the line below says.' : `There is nothing to ${named('action')} now. ${listed}`;
    case 'read_channel':
      return toldByRules(result.text, request.message.from);
    default: {
      const found = done ? recalledPassages(result.text, request.message.from, shareOf(named('query'))) : [];
      if (found.length === 0) return unknown(request);
      return clipAtWord(['I looked through what was said before:', ...found].join('\n'), 1_500);
    }
  }
}

function inputOf(input: unknown, field: string): string {
  const value: unknown = Object.entries(input ?? {}).find(([name]) => name === field)?.[1];
  return typeof value === 'string' ? toSingleLine(value) : '';
}

function everythingKnown(request: ReadRequest): string {
  const told = memoryPieces(request).filter(({ kind }) => kind === 'item' || kind === 'profile');
  if (told.length === 0) return `I know nothing about you yet. ${tellMe}${hint(request)}`;
  return ['What I know about you:', ...told.map((piece) => `- ${piece.told}`)].join('\n');
}

function conversationSoFar({ sections, history }: ReadRequest): string {
  const summary = sections.get('conversation_summary') ?? [];
  const last = history.slice(-6).map(({ name, text }) => {
    return `- ${name ?? 'I'}: ${clipAtWord(toSingleLine(text.replaceAll(offlineLabel, '')), 160)}`;
  });
  if (summary.length + last.length === 0) return 'I have nothing of an earlier conversation here.';
  return ['What we talked about so far:', ...summary, ...last].join('\n');
}
