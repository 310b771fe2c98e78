import { normalizeText, searchForm, terms, wordsIn } from '../../core/text.ts';
import { isDateName, termsOfDaysIn } from './dates.ts';
import type { RecallUnit, Segment, TextFacts } from './segments.ts';
import type { SourceName } from './sources.ts';
import type { TermReader } from './words.ts';

export interface Find {
  readonly source: SourceName;
  /** The higher the better; odds after a closer look. */
  readonly score: number;
  readonly segment: Segment;
  /** Of the unit in its segment. */
  readonly index: number;
  readonly unit: RecallUnit;
  readonly facts: TextFacts;
}

/** Better first, then newer. */
export function compareHits(a: Find, b: Find): number {
  return b.score - a.score || b.facts.time - a.facts.time || b.index - a.index;
}

/** The share of words that makes a question or answer a repetition. */
const repeatedShare = 0.75;
/** Compared terms: a long answer says more than one thing. */
const mostCompared = 40;
/** How many that differ only in a number or name are shown: a rising count tells nothing. */
const mostAlike = 3;

/**
 * Tells of successive units whether they only repeat an earlier one: the same words in any case and
 * punctuation; for questions and the bot also nearly the same, unless with a new number or name, which {@link
 * mostAlike} may have.
 */
export function createRepeats(reader: TermReader): LeavesOut {
  const seenTexts = new Set<string>();
  const alike: { readonly kind: string; readonly terms: ReadonlySet<string>; times: number }[] = [];
  return ({ unit: { text, isBot }, facts: { asks, statementShare, length } }) => {
    const words = normalizeText(text.replace(/[.,;:!?…。、！？؟"“”«»()\s]+/gu, ' '));
    const key = `${isBot ? 'bot' : 'person'} ${words}`;
    if (seenTexts.has(key)) return true;
    seenTexts.add(key);
    const isQuestion = asks && statementShare <= 0.5;
    if ((!isQuestion && !isBot) || length > mostCompared) return false;
    const kind = isQuestion ? 'question' : 'bot';
    const allTerms = new Set(reader.read(text));
    const contentTerms = new Set(reader.read((text.match(tellingWord) ?? []).join(' ')));
    for (const other of alike) {
      const added = [...allTerms].filter((term) => !other.terms.has(term));
      if (other.kind !== kind || added.length > (1 - repeatedShare) * allTerms.size) continue;
      if (other.times === mostAlike || !added.some((term) => contentTerms.has(term))) return true;
      other.times += 1;
    }
    alike.push({ kind, terms: allTerms, times: 1 });
    return false;
  };
}

/** A number, or a capitalised word inside a sentence. */
const tellingWord = /\p{N}+|(?<=[\p{Ll}\p{N},;:] )\p{Lu}[\p{L}\p{M}]+/gu;

/** Whether a find is hidden, or repeats one before. */
export type LeavesOut = (find: Find) => boolean;

/**
 * The hits to show, best first: none left out, and the best of every source that found something, as far as
 * `limit` allows [C2]. `wordings` has the finds for each wording, best first.
 */
export function chooseHits(
  wordings: readonly (readonly Find[])[],
  limit: number,
  leavesOut: LeavesOut,
): readonly Find[] {
  const hits: Find[] = [];
  const bests = new Map<SourceName, Find>();
  for (const find of fused(wordings)) {
    if (hits.length >= limit && bests.has(find.source)) continue;
    if (leavesOut(find)) continue;
    hits.push(find);
    if (!bests.has(find.source)) bests.set(find.source, find);
  }
  const shown = new Set([...new Set([...bests.values(), ...hits])].slice(0, limit));
  return hits.filter((hit) => shown.has(hit));
}

/** Merges lists, best first, by each hit's summed share of a list's likelihood. */
function fused(lists: readonly (readonly Find[])[]): readonly Find[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const known = new Map<RecallUnit, { readonly find: Find; worth: number }>();
  for (const list of lists) {
    const total = list.reduce((sum, { score }) => sum + score, 0);
    for (const find of list) {
      const present = known.get(find.unit) ?? { find, worth: 0 };
      known.set(find.unit, present);
      present.worth += find.score / total;
    }
  }
  return [...known.values()].toSorted((a, b) => b.worth - a.worth).map(({ find }) => find);
}

/** Shared words that two statements about the same thing have at least, and their share of the longer one. */
const leastShared = 2;
const leastShare = 0.5;

/** Words that only tell that, or since when, something is so; ignored in comparing. */
const changeWords = new Set(
  terms(`now currently today anymore instead actually new finally since recently moved changed
    jetzt nun inzwischen mittlerweile stattdessen neu neue neuer neues maintenant désormais plutôt nouveau nouvelle
    ahora actualmente nuevo nueva agora adesso ora nuovo nuova теперь сейчас новый новая новое`),
);
/** There can be many of these: one statement replaces no other. */
const manyWords = new Set(
  terms(`like love enjoy hate prefer have own visit play speak know read watch eat drink ich habe mag liebe hasse spiele spreche kenne esse trinke besuchte
    je j ai aime adore déteste joue parle connais mange bois yo me gusta gustan amo tengo juego hablo conozco como bebo
    eu gosto tenho jogo falo io ho mi piace gioco parlo люблю нравится имею играю говорю знаю ем пью ходил ходила`),
);
/** What a person has one of: whose it is, and the words that lead to it. */
const oneOf = [
  /(?<!\p{L})(?<of>i|we|my \p{L}+)(?: am|'m)?(?: now| still| currently| just)? (?<has>liv|work|stud)(?:e|es|s|y|ies|ing|ying)? (?<by>in|at|for|as)(?!\p{L})/u,
  /(?<!\p{L})(?<has>wohn|leb|arbeit|studier)(?:e|en|t) (?<of>ich|wir)(?: jetzt| nun)? (?<by>in|bei|als)(?!\p{L})/u,
  /(?<!\p{L})(?<of>ich|wir) (?<has>wohn|leb|arbeit|studier)(?:e|en)(?: jetzt| nun)? (?<by>in|bei|als)(?!\p{L})/u,
  /(?<!\p{L})(?:(?<of>я|мы) )?(?:теперь |сейчас )?(?<has>жив|работа)(?:у|ем|ю) (?<by>в|на|у)(?!\p{L})/u,
  /(?<!\p{L})(?<has>moro|vivo|trabalho|trabajo|lavoro|abito) (?:agora |ahora |ora |adesso )?(?<by>em|no|na|en|a|in|como|come)(?!\p{L})/u,
  /我(?:现在|現在|目前)?(?<has>住)(?<by>在)/u,
  /(?<by>에)서? (?<has>살)/u,
] as const;
/** Words that lead to the same thing. */
const samePlace = new Map([['for', 'at'], ['no', 'em'], ['na', 'em']]); // prettier-ignore
const hasItsDay =
  /(?<!\p{L})(?:is|'s|are|takes place|starts|begins|ist|sind|findet|beginnt|est|es|empieza|comienza|e|будет|начинается)(?!\p{L})/u;
const dayTimes = new Set(
  terms(
    'one two three four five six seven eight nine ten eleven twelve noon midday midnight morning afternoon evening night o clock am pm uhr mittag',
  ),
);

/** A hit, and whether a newer one about the same thing is shown. */
export interface DatedHit extends Find {
  readonly isEarlier: boolean;
}

/** Marks the statements of which a newer one about the same thing is among the hits [C3]; their order stays. */
export function withEarlierMarks(hits: readonly Find[], reader: TermReader): readonly DatedHit[] {
  const statements = hits
    .filter(isStatement)
    .map((hit) => ({ hit, matter: matterOf(hit.unit.text, reader) }));
  const earlier = new Set(
    statements
      .filter(({ hit, matter }) =>
        statements.some((other) => isLater(other.hit, hit) && isSameMatter(matter, other.matter)),
      )
      .map(({ hit }) => hit),
  );
  return hits.map((hit) => ({ ...hit, isEarlier: earlier.has(hit) }));
}

/** Whether a statement is newer than another, and not known to be somebody else's. */
function isLater(hit: Find, other: Find): boolean {
  const authors = new Set([hit.unit.author, other.unit.author].filter(Boolean));
  return hit.facts.time > other.facts.time && authors.size < 2;
}

/** A person's statement of a known time: questions tell nothing, and the bot only repeats. */
function isStatement({ unit, facts }: Find): boolean {
  return !unit.isBot && facts.time > 0 && facts.statementShare > 0.5;
}

/** What a statement is about. */
interface Matter {
  /** Without those that only tell of a change. */
  readonly terms: ReadonlySet<string>;
  /** What a person has one of, and whose. */
  readonly only?: string;
  /** The terms of the day on which something is. */
  readonly dated?: ReadonlySet<string>;
}

function matterOf(text: string, reader: TermReader): Matter {
  const form = searchForm(text);
  const matterTerms = new Set(reader.read(text).filter((term) => !changeWords.has(term)));
  const { of = 'i', has, by } = oneOf.map((pattern) => pattern.exec(form)?.groups).find(Boolean) ?? {};
  const words = wordsIn(text);
  const isDated = hasItsDay.test(form) && (words.some(isDateName) || termsOfDaysIn(text).length > 0);
  const rest = words.filter((word) => !isDateName(word) && !/\d/u.test(word)).join(' ');
  const dated = reader.read(rest).filter((term) => !changeWords.has(term) && !dayTimes.has(term));
  return {
    terms: matterTerms,
    ...(has !== undefined && by !== undefined && { only: [of, has, samePlace.get(by) ?? by].join(' ') }),
    ...(isDated && { dated: new Set(dated) }),
  };
}

function isSameMatter(one: Matter, other: Matter): boolean {
  if (one.only !== undefined && one.only === other.only) return true;
  if (one.dated !== undefined && other.dated !== undefined) return isSameSet(one.dated, other.dated);
  return isAlike(one.terms, other.terms);
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size > 0 && one.size === other.size && [...one].every((term) => other.has(term));
}

function isAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = [...one].filter((term) => other.has(term));
  const contentTerms = shared.some((term) => manyWords.has(term))
    ? shared.filter((term) => !manyWords.has(term))
    : shared;
  return (
    contentTerms.length >= leastShared && contentTerms.length >= leastShare * Math.max(one.size, other.size)
  );
}
