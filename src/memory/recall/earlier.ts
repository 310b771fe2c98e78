import { searchForm, terms, wordsIn } from '../../core/text.ts';
import { isDateName, termsOfDaysIn } from './dates.ts';
import type { Find } from './hits.ts';
import type { TermReader } from './words.ts';

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

/** Words that ask for what was, not for what is. */
const beforeWords = new Set(
  searchForm(`before used formerly former previously previous earlier originally original initially first old oldest past
  früher vorher ursprünglich zuerst damals ehemals anfangs erste ersten alte alten bisher
  antes antiguamente originalmente inicialmente primero primera anterior anteriormente
  avant auparavant autrefois initialement originalement premier première précédent
  prima originariamente inizialmente primo precedente dantes primeiro
  раньше прежде сначала изначально первоначально первый первая первое прежний бывший 전에 원래 처음 예전`).split(
    ' ',
  ),
);
/** In these the same words ask for what is. */
const nowAsked = /(?<!\p{L})(?:how old|wie alt|first names?|primer nombre|half past)(?!\p{L})/gu;
const beforePart = /\bback (?:then|in)\b|以前|最初|元々|もともと|昔|前は|之前|从前|原来|过去/u;

/** A hit, and whether a newer one about the same thing is shown. */
export interface DatedHit extends Find {
  readonly isEarlier: boolean;
}

/**
 * Of statements about the same thing the newer takes the better place and the older is marked; the other way
 * round where a wording asks for what was [C3].
 */
export function newerFirst(
  hits: readonly Find[],
  queries: readonly string[],
  reader: TermReader,
): readonly DatedHit[] {
  const groups = groupsOf(hits, reader);
  const isTurned = queries.some(asksBefore);
  const placed: DatedHit[] = hits.map((hit) => ({ ...hit, isEarlier: false }));
  for (const places of new Set(groups)) {
    const newest = Math.max(...places.map((place) => timeOf(hits[place])));
    const inOrder = places
      .flatMap((place) => hits[place] ?? [])
      .toSorted((a, b) => (isTurned ? timeOf(a) - timeOf(b) : timeOf(b) - timeOf(a)));
    for (const [at, hit] of inOrder.entries())
      placed[places[at] ?? 0] = { ...hit, isEarlier: timeOf(hit) < newest };
  }
  return placed;
}

function asksBefore(query: string): boolean {
  const text = searchForm(query).replace(nowAsked, ' ');
  const found = text.match(/[\p{L}\p{M}]+/gu) ?? [];
  return beforePart.test(text) || found.some((word) => beforeWords.has(word));
}

/** For each hit, the places of all that are transitively about the same thing, in order. */
function groupsOf(hits: readonly Find[], reader: TermReader): readonly (readonly number[])[] {
  const said = hits.map((hit) => (isStatement(hit) ? matterOf(hit.unit.text, reader) : undefined));
  const groups = hits.map((_, place) => [place]);
  for (const [place, hit] of hits.entries()) {
    for (let other = 0; other < place; other += 1) {
      const [one, two] = [groups[place] ?? [], groups[other] ?? []];
      const [held, wanted] = [said[other], said[place]];
      if (one === two || held === undefined || wanted === undefined) continue;
      if (!mayFollow(hit, hits[other]) || !isSameMatter(held, wanted)) continue;
      const all = [...one, ...two].toSorted((a, b) => a - b);
      for (const each of all) groups[each] = all;
    }
  }
  return groups;
}

/** Whether two statements are of different times, and not known to be by different people. */
function mayFollow(hit: Find, other: Find | undefined): boolean {
  if (other === undefined || timeOf(hit) === timeOf(other)) return false;
  const authors = new Set([hit.unit.author, other.unit.author].filter(Boolean));
  return authors.size < 2;
}

/** A person's statement of a known time: questions tell nothing, and the bot only repeats. */
function isStatement({ unit, facts }: Find): boolean {
  return !unit.isBot && facts.time > 0 && facts.statementShare > 0.5;
}

/** What a statement is about. */
interface Matter {
  /** Without those that only tell of a change. */
  readonly said: ReadonlySet<string>;
  /** What a person has one of, and whose. */
  readonly only?: string;
  /** The terms of the day on which something is. */
  readonly dated?: ReadonlySet<string>;
}

function matterOf(text: string, reader: TermReader): Matter {
  const form = searchForm(text);
  const said = new Set(reader.read(text).filter((term) => !changeWords.has(term)));
  const { of = 'i', has, by } = oneOf.map((pattern) => pattern.exec(form)?.groups).find(Boolean) ?? {};
  const words = wordsIn(text);
  const isDated = hasItsDay.test(form) && (words.some(isDateName) || termsOfDaysIn(text).length > 0);
  const rest = words.filter((word) => !isDateName(word) && !/\d/u.test(word)).join(' ');
  const dated = reader.read(rest).filter((term) => !changeWords.has(term) && !dayTimes.has(term));
  return {
    said,
    ...(has !== undefined && by !== undefined && { only: [of, has, samePlace.get(by) ?? by].join(' ') }),
    ...(isDated && { dated: new Set(dated) }),
  };
}

function isSameMatter(one: Matter, other: Matter): boolean {
  if (one.only !== undefined && one.only === other.only) return true;
  if (one.dated !== undefined && other.dated !== undefined) return isSameSet(one.dated, other.dated);
  return isAlike(one.said, other.said);
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

function timeOf(hit: Find | undefined): number {
  return hit?.facts.time ?? 0;
}
