import { compatible } from '../../core/text.ts';
import {
  adverbs,
  askingEnd,
  attributes,
  bonds,
  copulas,
  firstPerson,
  hearsay,
  interrogatives,
  jokes,
  moreFillers,
  neutralWords,
  openings,
  otherPerson,
  plainVerbs,
  politeConditions,
  possessives,
  speech,
  supposition,
  tags,
  tasks,
  thirdPersonVerbs,
  turningWords,
  turns,
  unreal,
  type Turn,
} from './clause-words.ts';

/** A part of a text that can be true or denied by itself. Everything is lower case and plain, as {@link plain} makes it. */
export interface Clause {
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
  /** Whether it is told as something that is so: no question, condition, wish, joke, task, and nothing that somebody else says. */
  readonly isStated: boolean;
  /** Whether it is about the speaker; otherwise these are the words for whom or what it is about. */
  readonly subject: Subject;
  /** The kinds of words in it that turn its meaning. */
  readonly turns: ReadonlySet<Turn>;
  /** What it has to do with a place, as a position in `bonds`; -1 for nothing that is known. */
  readonly bond: number;
  /** What the speaker does, where that is a word of its own: `refuse` in `I refuse to use Windows`. */
  readonly verb?: string;
}

export type Subject = 'speaker' | ReadonlySet<string>;

/**
 * A text as plain words: lower case, contractions in full, no signs but white space and `@` for a mention. What Latin letters leave out is put
 * back: `dont`, `im`, `j'habite`.
 */
export function plain(text: string): string {
  let words = compatible(text)
    .toLowerCase()
    .replace(/[’‘`´]/gu, "'")
    .replaceAll('ё', 'е');
  for (const [short, long] of contractions) words = words.replace(short, long);
  return words
    .replace(/[^\p{L}\p{M}\p{N}@\s]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
}

const contractions: readonly (readonly [RegExp, string])[] = [
  [/\b(?:can't|cannot|cant) (?:stand|bear)\b/gu, 'dislike'],
  [/терпеть не мо(?:гу|жет)/gu, 'ненавижу'],
  [/\bwon't\b/gu, 'will not'],
  [/\bcan't\b|\bcannot\b|\bcant\b/gu, 'can not'],
  [/n't\b/gu, ' not'],
  [/(?<=\b(?:do|does|did|is|are|was|were|has|have|had|would|could|should))nt\b/gu, ' not'],
  [/\bi'?m\b/gu, 'i am'],
  [/\b(i|you|we|they|he|she|it)'d\b|\b(i)d(?= (?:love|like|rather|prefer|be|want)\b)/gu, '$1$2 would'],
  [/\b(i|you|we|they|who)'?ve\b/gu, '$1 have'],
  [/\b(i|you|we|they|he|she|it)'ll\b/gu, '$1 will'],
  [/\b(you|we|they)'re\b/gu, '$1 are'],
  [/'s\b(?= \p{L})/gu, ' is'],
  [/\bwanna\b/gu, 'want to'],
  [/\bgonna\b/gu, 'going to'],
  [/\bwould (?:rather|prefer)\b/gu, 'prefer'],
  [/\b(c|d|j|l|m|n|s|t|qu)'(?=\p{L})/gu, '$1e '],
  [/\bchuis\b/gu, 'je suis'],
];

/** Where one clause ends and another begins. */
const clauseEnd = new RegExp(
  [
    String.raw`(?:[!?…。！？\n¿¡]|\.(?!\S))+`,
    String.raw`(?:(?<!\d)[,:]|[,:](?!\d)|[;()—–、，；：])+`,
    String.raw`(?<=\s)-(?=\s)`,
    String.raw`(?<!\p{L})(?:(?<!\bme )and|(?<!\banything )but|however|though|although|because|но|а|и|und|aber|denn|weil|et|mais|car|y|e|pero|porque)(?!\p{L})`,
    String.raw`(?<=\b(?:in|at|to|from|with|use|prefer|like|love|speak|eat|drink)\s\S{1,40}\s)(?=(?:not|nicht)\s)`,
    String.raw`(?<=\d\s)(?=(?:not|nicht|pas|no|не)\s)`,
    String.raw`(?<!\p{L})so(?=\s(?:i|pls|please|no|don['’]?t|can|could|what|my|we)\s)`,
    String.raw`(?<=\s)(?=who\s)`,
    String.raw`(?<=\s)(?=(?:what|how|where|which|why)\s(?:can|could|should|do|does|is|are|would|will)\s)`,
    String.raw`(?<=\p{L}\s)(?<!\b(?:if|that|what|how|where|when|why|which|who|because|as|since|while|and|or|than|so|like|until|before|after|whether|wish|do|does|did|am|are|was|have|had|can|could|should|would|will|may|might|must|not)\s)(?=(?:I|i|he|she|we|they)(?:['’](?:m|ve|ll|d|s|re))?\s)`,
  ].join('|'),
  'giu',
);

/** What ends a sentence, among what ends a clause. */
const sentenceEnd = /[.!?…。！？\n¿]/u;
const spoken = /[\p{L}\p{N}@]/u;

interface Part {
  readonly start: number;
  readonly end: number;
  readonly raw: string;
  readonly words: string;
  /** The signs after it. */
  readonly mark: string;
}

/** The clauses of somebody's own words, in order. */
export function clausesOf(text: string): readonly Clause[] {
  let earlier: Subject = 'speaker';
  const clauses: Clause[] = [];
  for (const sentence of sentencesOf(text)) {
    const read = readSentence(sentence, earlier);
    earlier = read.at(-1)?.subject ?? earlier;
    clauses.push(...read);
  }
  return withoutTakenBack(clauses, text);
}

function sentencesOf(text: string): readonly (readonly Part[])[] {
  const sentences: Part[][] = [];
  let sentence: Part[] = [];
  let start = 0;
  const add = (end: number, mark: string): void => {
    const raw = text.slice(start, end);
    const words = plain(raw).replace(openings, '');
    if (spoken.test(raw)) sentence.push({ start, end, raw, words, mark });
    if ((mark === '' && end < text.length) || !sentenceEnd.test(mark)) return;
    if (sentence.length > 0) sentences.push(sentence);
    sentence = [];
  };
  for (const { 0: mark, index } of text.matchAll(clauseEnd)) {
    add(index, mark);
    start = index + mark.length;
  }
  add(text.length, '.');
  return sentences;
}

function readSentence(sentence: readonly Part[], earlier: Subject): readonly Clause[] {
  const asked = firstAsked(sentence);
  const clauses: Clause[] = [];
  let isOpen = true;
  let subject: Subject = 'speaker';
  let before: Clause | undefined;
  let previous: string | undefined;
  let pending: readonly Turn[] = [];
  for (const [index, part] of sentence.entries()) {
    const words = part.words.replace(politeConditions, '').trim();
    const own =
      previous !== undefined && /^who\b/u.test(words)
        ? antecedentOf(previous, before?.subject)
        : subjectOf(words);
    subject = own ?? before?.subject ?? (cjk.test(words) ? earlier : 'speaker');
    previous = words;
    const isSupposed = holds(supposition, words) || holds(hearsay, words) || holds(tasks, words);
    if (isSupposed && before !== undefined && holds(supposition, words)) {
      clauses[clauses.length - 1] = { ...before, isStated: false };
    }
    if (isSupposed || isReport(words, subject)) isOpen = false;
    const isStated = isOpen && index < asked && !holds(unreal, words) && words !== '';
    const found = new Set([...pending, ...turnsIn(words)]);
    const isAdverb =
      own === undefined &&
      contentIn(
        withoutAll(
          passingTurns.map((turn) => turningWords[turn]),
          words,
        ),
      ).length === 0;
    pending = isAdverb ? [...found].filter((turn) => passingTurns.includes(turn)) : [];
    const bond = bonds.findIndex((each) => holds(each, words));
    const isFragment = own === undefined && before !== undefined && found.size === 0 && bond === -1;
    const clause: Clause = {
      start: part.start,
      end: part.end,
      isStated,
      subject,
      turns: isFragment && !isReset.test(words) ? (before?.turns ?? found) : found,
      bond: isFragment ? (before?.bond ?? -1) : bond,
      ...verbIn(words),
    };
    clauses.push(clause);
    before = clause;
  }
  return clauses;
}

/** Kinds of which a word may stand alone before what it turns: `Maybe, I …`. */
const passingTurns: readonly Turn[] = ['maybe', 'almost', 'seldom', 'intent', 'past'];

/** What ends the reach of the words before it. */
const isReset =
  /(?<!\p{L})(?:now|currently|today|jetzt|heute|maintenant|ahora|сейчас|теперь|just|only|rather|instead|sondern|sino|просто)(?!\p{L})/u;
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The position of the first clause of a sentence that asks; beyond its end where it states. */
function firstAsked(sentence: readonly Part[]): number {
  const isMarked =
    /[?？]/u.test(sentence.at(-1)?.mark ?? '') || sentence.some(({ mark }) => mark.includes('¿'));
  const first = sentence.findIndex(
    ({ words }, index) => asks(words) && !(isMarked && index > 0 && tags.test(words)),
  );
  if (first !== -1) return first;
  const wasAskedPolitely =
    sentence.length === 1 && /\byou\b/u.test(plain(sentence[0]?.raw ?? '').match(openings)?.[0] ?? '');
  return isMarked && !wasAskedPolitely ? 0 : sentence.length;
}

function asks(words: string): boolean {
  return interrogatives.test(words) || askingEnd.test(words) || /\p{L} ли(?!\p{L})/u.test(words);
}

/** Whether somebody else says what follows, or the speaker denies having said it. */
function isReport(words: string, subject: Subject): boolean {
  if (!holds(speech, words)) return false;
  return (
    subject !== 'speaker' ||
    /\b(?:never|not) (?:said?|say|tell|told|claim(?:ed)?)\b|(?<!\bi (?:am|was) )(?:saying|claiming)\b/u.test(
      words,
    )
  );
}

/** Whom a clause is about; `undefined` where it does not say. */
function subjectOf(clause: string): Subject | undefined {
  if (startsWith(firstPerson, clause)) return 'speaker';
  const words = clause.replace(/^(?:(?:у|a|à|bei|for|to|both|all|one|some|most|none|two)(?: of)? )+/u, '');
  const verb = indexOf(thirdPersonVerbs, words);
  if (startsWith(possessives, words)) {
    const head = verb === -1 ? words : words.slice(0, verb);
    return holds(firstPerson, head) || holds(attributes, head)
      ? 'speaker'
      : nounsIn(head, verb === -1 ? 1 : 4);
  }
  const [other] = startsWith(otherPerson, words) ? (words.match(otherPerson) ?? []) : [];
  if (other !== undefined) return other.includes(' ') ? unnamed : new Set([other]);
  if (words.startsWith('@')) return unnamed;
  const first = indexOf(firstPerson, words);
  if (first !== -1) {
    const between = verb > 0 && verb < first ? words.slice(verb, first) : '';
    if (!/\S \S+ /u.test(between) || holds(copulas, between)) return 'speaker';
    const named = nounsIn(words.slice(0, verb), 9);
    return named.size > 0 ? named : 'speaker';
  }
  if (verb === 0) return unnamed;
  const at = verb === -1 ? indexOf(plainVerbs, words) : verb;
  const named = nounsIn(words.slice(0, Math.max(at, 0)), 9);
  if (named.size > 0) return holds(possessives, words.slice(at)) ? 'speaker' : named;
  return undefined;
}

/** Whom `who` stands for: `I am somebody who`, `I have a brother who`. */
function antecedentOf(words: string, subject: Subject = 'speaker'): Subject {
  return /\b(?:someone|somebody|person|one|guy|girl|woman|man|kind|type)$/u.test(words)
    ? subject
    : new Set(contentIn(words).slice(-2));
}

/** The verb behind a speaker named as the subject, or what they are to something: `married to a doctor`; none where they only are something. */
function verbIn(words: string): Pick<Clause, 'verb'> {
  const [, behind = ''] = /(?<!\p{L})(?:i|we|ich|wir|je|nous|я) ([^]*)/u.exec(words) ?? [];
  const predicate = withoutAll([adverbs], behind).trim();
  const doing =
    /^(?:am|are|was|were|have been) +(?:(\p{L}+ing(?!\p{L})|\p{L}+(?= (?:of|with|about|to|for|by|in|at)\b)))?/u.exec(
      predicate,
    );
  const verb = doing === null ? predicate.split(/\s+/u)[0] : doing[1];
  return verb === undefined || verb === '' || assumed.test(verb) ? {} : { verb };
}

/** Verbs that an item may leave out: what one thinks is said, and where one moved one is. */
const assumed =
  /^(?:think|believe|guess|mean|know|say|said|moved|relocated|bin|sind|suis|sommes|ai|m|me|finde|glaube|denke|pense|crois|думаю)$/u;

/** Somebody of whom no more is said. */
const unnamed: Subject = new Set<string>();

function nounsIn(words: string, max: number): ReadonlySet<string> {
  return new Set(contentIn(words.replace(turningWords.not, ' ')).slice(0, max));
}

/** The kinds of words in plain words that turn their meaning. */
export function turnsIn(words: string): ReadonlySet<Turn> {
  const meant = words.replace(idleLike, ' ');
  return new Set(turns.filter((turn) => holds(turningWords[turn], meant)));
}

/** `I have like 3 cats`, `it looks like rain`. */
const idleLike =
  /(?<=\b(?:have|has|is|am|are|was|look|looks|feel|feels|sound|sounds|seems|stuff|things?|something|anything) )like\b/gu;

/** The words of a text that say something beyond the kind of statement, in order. */
export function contentIn(words: string): readonly string[] {
  return withoutAll([neutralWords, moreFillers, possessives], words)
    .split(' ')
    .filter((word) => word !== '' && word !== '@');
}

export function withoutAll(expressions: readonly RegExp[], words: string): string {
  return expressions.reduce((rest, expression) => rest.replace(expression, ' '), words);
}

export function holds(expression: RegExp, words: string): boolean {
  return indexOf(expression, words) !== -1;
}

function startsWith(expression: RegExp, words: string): boolean {
  return indexOf(expression, words) === 0;
}

function indexOf(expression: RegExp, words: string): number {
  return words.search(expression);
}

/** A joke takes back what was said before it, and itself. */
function withoutTakenBack(clauses: readonly Clause[], text: string): readonly Clause[] {
  const sarcasm = /\/(?:s|j)(?!\w)/u.exec(text)?.index ?? -1;
  const last = clauses.findLastIndex(({ start, end }) => {
    const words = plain(text.slice(start, end));
    return words === 'not' || holds(jokes, words);
  });
  return clauses.map((clause, index) =>
    index <= last || clause.start < sarcasm ? { ...clause, isStated: false } : clause,
  );
}
