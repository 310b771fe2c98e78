import { stemmer as stemGerman } from '@orama/stemmers/german';
import { stemmer as stemSpanish } from '@orama/stemmers/spanish';
import { stemmer as stemFrench } from '@orama/stemmers/french';

import { ownWords } from '../../core/own-words.ts';
import { fillerTerms } from '../../core/stop-words.ts';
import { compatible, escapePattern, terms } from '../../core/text.ts';
import { interchangeable, irregularForms, turningWords, type Turn } from './clause-words.ts';
import { clausesOf, contentIn, plain, turnsIn, withoutAll, type Clause, type Subject } from './clauses.ts';

const inWord = String.raw`[\p{L}\p{M}\p{N}]`;
const unspacedScript =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Signs that carry meaning: `C++`, `#5`, emoji. */
const meaningfulSign = /[\p{S}#%&]/gu;

/** Whether a message proves an item [M5a], wherever in it that is said. */
export function supports(text: string, message: string): boolean {
  const own = prose(message);
  return proves(text, own, clausesOf(own), { start: 0, end: own.length });
}

/** The content words of an item's text: a message that holds each of them (`toldTerms`) tells what the item says, whoever says it and however. */
export function claimedTerms(text: string): readonly string[] {
  return contentIn(withoutAll([turningWords.like], plain(text)))
    .flatMap(terms)
    .filter((term) => !fillerTerms.has(term));
}

/** The words of a message; of scripts without spaces the single characters too, since an item may be one of them. */
export function toldTerms(message: string): ReadonlySet<string> {
  const said = terms(plain(message));
  return new Set([...said, ...said.flatMap((term) => (unspacedScript.test(term) ? Array.from(term) : []))]);
}

/**
 * Whether a quote stands literally in one of the messages, as whole words; case, white space and width of characters (NFKC) aside.
 * What a message itself quotes from others does not count, nor do mentions, on both sides.
 */
export function standsIn(quote: string, messages: readonly string[]): boolean {
  return messages.some((message) => findQuote(quote, prose(message)).length > 0);
}

/**
 * Whether a message proves an item [M5a]: the quote stands in it, and what the item says is stated there by the speaker, of themselves or of
 * whom the item names. Each content word stands in the quote, in clauses that hold the same kinds of words that turn the meaning as the
 * item: what is denied, wanted or over proves only that. What no such rule can see is who did what to whom (`I taught Ana`, `Ana taught me`).
 */
export function isProven(
  { text, quote }: { readonly text: string; readonly quote: string },
  message: string,
): boolean {
  const own = prose(message);
  const places = findQuote(quote, own);
  if (places.length === 0) return false;
  const clauses = clausesOf(own);
  return places.some((place) => proves(text, own, clauses, place));
}

/** A stretch of a text. */
interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** What a clause states within a quote. */
interface Statement extends Pick<Clause, 'subject' | 'turns' | 'bond' | 'verb'> {
  /** The words that it proves, in all their forms; apart those that something is preferred to. */
  readonly said: readonly [ReadonlySet<string>, ReadonlySet<string>];
  readonly numbers: ReturnType<typeof numbersIn>;
}

/** Whether the words of a quote, as parts of the clauses around them, prove a text. */
function proves(text: string, own: string, clauses: readonly Clause[], { start, end }: Stretch): boolean {
  const item = compatible(text);
  const quoted = own.slice(start, end);
  if (!(item.match(meaningfulSign) ?? []).every((sign) => quoted.includes(sign))) return false;
  const claims = clausesOf(item).map((clause) => ({
    ...clause,
    words: plain(item.slice(clause.start, clause.end)),
  }));
  if (claims.every(({ words }) => contentTerms(words).length === 0)) return false;
  const turnsQuoted = turnsIn(plain(quoted));
  if (claims.some(({ turns }) => [...turns].some((turn) => !turnsQuoted.has(turn)))) return false;
  const claimed = saidTerms(plain(item));
  const statements = clauses
    .filter((clause) => clause.isStated && clause.start < end && clause.end > start)
    .filter(({ verb = '' }) => contentTerms(verb).every((term) => isSaid(term, claimed)))
    .map((clause) =>
      statementOf(clause, own.slice(Math.max(clause.start, start), Math.min(clause.end, end))),
    );
  let about: Subject = 'speaker';
  return claims.every((claim) => {
    about = subjectNamed(claim.words, statements) ?? about;
    return isStatedBy(
      claim,
      statements.filter(({ subject }) => subject === about),
    );
  });
}

function statementOf(clause: Clause, quoted: string): Statement {
  const words = plain(quoted);
  const [more, less] = sides(words);
  return { ...clause, said: [saidTerms(more), saidTerms(less)], numbers: numbersIn(words) };
}

/** Of whom else than the speaker an item says something: whom it names first. */
function subjectNamed(words: string, statements: readonly Statement[]): Subject | undefined {
  const [first] = contentIn(words);
  if (first === undefined) return undefined;
  return statements.find(
    ({ subject }) =>
      subject !== 'speaker' && [...subject].some((word) => isSaid(first, new Set(formsOf(word)))),
  )?.subject;
}

/** Whether some of the statements, all about the same, say what a part of an item says. */
function isStatedBy(
  { words, turns, bond }: Clause & { readonly words: string },
  statements: readonly Statement[],
): boolean {
  const isOfKind = (statement: Statement): boolean =>
    isSame(turns, statement.turns) ||
    (isTopic(words) && isSame(new Set([...turns, 'like']), statement.turns));
  const fitting = statements.filter(
    (statement) => isOfKind(statement) && (bond === -1 || statement.bond === -1 || bond === statement.bond),
  );
  if (fitting.length === 0) return false;
  const stated =
    (side: 0 | 1) =>
    (claim: string): boolean =>
      fitting.some(({ said }) => isSaid(claim, said[side]));
  const [more, less] = sides(words);
  return (
    contentTerms(more).every(stated(0)) &&
    contentTerms(less).every(stated(1)) &&
    numbersIn(words).every((number) =>
      fitting.some(({ numbers }) => numbers.some((said) => isSameNumber(number, said))),
    )
  );
}

/** Whether a part of an item says of something only what it is. */
function isTopic(words: string): boolean {
  return contentTerms(words).join('') === terms(words).join('');
}

function isSame(some: ReadonlySet<Turn>, others: ReadonlySet<Turn>): boolean {
  return some.size === others.size && [...some].every((turn) => others.has(turn));
}

/** What is preferred, and what it is preferred to: `tabs` and `spaces` in `prefers tabs over spaces`. */
function sides(words: string): readonly [string, string] {
  const match = comparison.exec(words);
  if (match === null) return [words, ''];
  return [words.slice(0, match.index), words.slice(match.index + match[0].length)];
}

const comparison =
  /(?<!\p{L})(?:over|rather than|instead of|than|statt|anstatt|(?:lieber|mehr|besser|eher) als|plutôt que|plus que|más que|antes que|en lugar de|чем|вместо)(?!\p{L})|(?<=\bprefers? \p{L}{1,30}(?: \p{L}{1,30})?) to\b|(?<=préfère \S{1,30}) à\b|(?<=\bprefier[oe] \S{1,30}) a\b/u;

interface NumberSaid {
  readonly number: string;
  /** The words of meaning directly before and behind it. */
  readonly beside: readonly string[];
}

function numbersIn(words: string): readonly NumberSaid[] {
  const content = words
    .replace(unitsOfAge, ' ')
    .split(' ')
    .filter((word) => startsInNumber.test(word) || contentTerms(word).length > 0);
  return content.flatMap((number, index) => {
    if (!startsInNumber.test(number)) return [];
    const beside = [content[index - 1], content[index + 1]].flatMap((word) =>
      word === undefined ? [] : formsOf(word).slice(0, 3),
    );
    return [{ number, beside }];
  });
}

const startsInNumber = /^\p{N}/u;

/** Whether a number stands beside the same word, for 3 cats and 2 dogs are not 2 cats; a year may stand anywhere. */
function isSameNumber(claimed: NumberSaid, said: NumberSaid): boolean {
  if (claimed.number !== said.number) return false;
  const isYear = /^(?:19|20)\d\d$/u.test(said.number);
  return isYear || said.beside.length === 0 || claimed.beside.some((word) => said.beside.includes(word));
}

const unitsOfAge = /(?<!\p{L})(?:old|jahre|alt|ans|años|лет|год|года)(?!\p{L})/gu;

/** The words that carry an item's meaning; those that turn it are compared by their kind. */
export function contentTerms(words: string): readonly string[] {
  const kinds = [...interchangeable].map((turn) => turningWords[turn]);
  return contentIn(withoutAll(kinds, words))
    .flatMap(wordsOf)
    .filter((word) => !fillerTerms.has(terms(word)[0] ?? ''));
}

/** A run of letters as words: as it is, or in pairs of characters where a script has no spaces. */
function wordsOf(run: string): readonly string[] {
  return unspacedScript.test(run) ? terms(run) : [run];
}

/** What a statement's words prove, in all their forms; a verb of the past proves no present. */
export function saidTerms(words: string): ReadonlySet<string> {
  const past = new Set([...words.matchAll(pastVerb)].map(([, verb]) => verb));
  const said = new Set(
    words.split(' ').flatMap((word) => (past.has(word) ? [`${word}.`] : wordsOf(word).flatMap(formsOf))),
  );
  if (/\bmy (?!pronoun)/u.test(words)) for (const owner of ['his', 'her', 'their']) said.add(owner);
  return said;
}

/** An English verb of the past behind its subject; what lasts is none: who moved is there. */
const pastVerb =
  /\b(?:i|we) (?:(?:also|just|really|never|always|once|already) )?(?!moved|changed|switched|married|started|joined|learned|adopted|graduated|decided|turned|stopped|retired|need|speed|feed|breed)(\p{L}+ed)\b/gu;

export function isSaid(claim: string, said: ReadonlySet<string>): boolean {
  return said.has(`${claim}.`) || formsOf(claim).some((form) => stands(form, said));
}

/** Whether a term is among others; a lone character of a script without spaces also within one. */
function stands(term: string, among: ReadonlySet<string>): boolean {
  if (among.has(term)) return true;
  const isLoneCharacter = Array.from(term).length === 1 && unspacedScript.test(term);
  return isLoneCharacter && [...among].some((each) => each.includes(term));
}

/** A word by its stem in each language that it may belong to; marks above letters aside. */
function formsOf(word: string): readonly string[] {
  const base = irregularForms.get(word) ?? word;
  if (!/^\p{Script=Latin}+$/u.test(base)) return terms(base);
  const stems = {
    en: terms(base)[0] ?? base,
    de: stemGerman(base),
    fr: stemFrench(base),
    es: stemSpanish(base),
  };
  const verb = base.length < 5 ? base : base.replace(/(?:est|et|en|st|e|t|n)$/u, '');
  return [
    unaccented(base),
    `de:${unaccented(verb)}`,
    ...Object.entries(stems).map(([language, stem]) => `${language}:${unaccented(stem)}`),
  ];
}

function unaccented(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '');
}

/** What of a message the speaker says in their own voice, as compared with quotes and items. */
function prose(message: string): string {
  const own = ownWords(compatible(message), ' @ ')
    .replace(pasted, ' ')
    .replace(othersLine, (line, indent: string, said: string) =>
      firstPerson.test(said) ? `${indent} ` : line,
    )
    .replace(quotation, (quoted) => (firstPerson.test(quoted) ? ' @ ' : quoted));
  return withoutSingleQuotes(own);
}

/** What a person copied out of a channel, from the line with its author and time on. */
const pasted = /^.{1,80} — .{0,40}\d{1,2}:\d{2}[\s\S]*/mu;
const firstPersonWord = String.raw`(?<!\p{L})(?:I|I'm|I’m|i|my|me|ich|je|j'\p{L}{1,20}|yo|soy|я|мне)(?!\p{L})`;
const firstPerson = new RegExp(firstPersonWord, 'u');
/** `Bob: I love Pepsi`; what has no first person may be a form that the speaker fills in. */
const othersLine =
  /^([ \t]*)(?!(?:note|fact|fyi|btw|ps|edit|update|correction|remember|reminder|me|also|answer|todo|tl;?dr|info|yes|no)\b)(\p{Lu}\p{L}{1,31}[:：].*)/gimu;
/** What stands in quotation marks. */
const quotation = /["“„«][^"“”„«»\n]*["”“»]/gu;
/** Single marks, which also stand in words: where somebody begins to speak of themselves, where that ends, and where a line does. */
const singleMark = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?<begin>['‘])(?=${firstPersonWord})|(?<end>['’])(?![\p{L}\p{N}])|\n`,
  'gu',
);

/** A text without what stands between single marks and begins with the one who speaks. */
function withoutSingleQuotes(text: string): string {
  let kept = '';
  let from = 0;
  let begin: number | undefined;
  for (const { index, groups } of text.matchAll(singleMark)) {
    if (groups?.['begin'] !== undefined) begin ??= index;
    else if (groups?.['end'] === undefined) begin = undefined;
    else if (begin !== undefined) {
      kept += `${text.slice(from, begin)} @ `;
      from = index + 1;
      begin = undefined;
    }
  }
  return kept + text.slice(from);
}

/** A quote that stands in a message more often is looked at no further. */
const maxPlaces = 5;

/** Where the quote stands among the speaker's words. */
function findQuote(quote: string, own: string): readonly Stretch[] {
  const wanted = prose(quote).replace(/\s+/gu, ' ').trim();
  if (wanted.length > own.length || !new RegExp(inWord, 'u').test(wanted)) return [];
  const characters = Array.from(wanted);
  const before = needsEdge(characters[0]) ? `(?<!${inWord})` : '';
  const after = needsEdge(characters.at(-1)) ? `(?!${inWord})` : '';
  const literal = wanted
    .split(' ')
    .map(escapePattern)
    .join(String.raw`\s+`);
  return [...own.matchAll(new RegExp(`${before}${literal}${after}`, 'giu'))]
    .slice(0, maxPlaces)
    .map(({ 0: found, index }) => ({
      start: index,
      end: index + found.length,
    }));
}

/** Whether a quote that begins or ends with this character must not do so inside a longer word. */
function needsEdge(character = ''): boolean {
  return new RegExp(inWord, 'u').test(character) && !unspacedScript.test(character);
}
