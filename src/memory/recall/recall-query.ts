import { normalizeText } from '../../core/text.ts';
import type { Dates } from './dates.ts';
import type { RankingWeights } from './ranking-weights.ts';
import { titleTerm } from './segment.ts';
import type { TermReader } from './term-reader.ts';
import { asksWhen } from './time-words.ts';

/** A term that is looked for, and what it counts. */
export interface QueryTerm {
  readonly term: string;
  readonly weight: number;
  /** A property of the whole text, a date or a title, which neighbours do not lend each other. */
  readonly isField: boolean;
}

/** A query, read. It is literal text: nothing in it is a pattern [C1]. */
export interface RecallQuery {
  /** As `normalizeText` gives it. */
  readonly text: string;
  readonly terms: readonly QueryTerm[];
  /** The words of the query itself, in order. */
  readonly words: readonly string[];
  /** What authors' names are looked for in; empty where no author is. */
  readonly authorTerms: ReadonlySet<string>;
  /** Asks for what the bot said: has "you", and no "I". */
  readonly meansBot: boolean;
  readonly asksWhen: boolean;
}

export interface QueryReaders {
  readonly terms: TermReader;
  readonly dates: Dates;
  readonly related: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Reads a query against the names of the authors there are, as terms. */
export function readQuery(
  query: string,
  now: Date,
  authorNames: ReadonlySet<string>,
  { terms: reader, dates, related }: QueryReaders,
  weights: RankingWeights,
): RecallQuery {
  const words = reader.read(query);
  const own = new Set(words);
  const terms = new Map<string, QueryTerm>();
  const add = (term: string, weight: number, isField = false): void => {
    if (weight > 0 && !terms.has(term)) terms.set(term, { term, weight, isField });
  };
  for (const term of own) add(term, authorNames.has(term) ? weights.authorTerm : 1);
  for (const term of own) {
    add(titleTerm(term), weights.title, true);
    if (authorNames.has(term)) continue;
    for (const other of related.get(term) ?? []) add(other, weights.related);
  }
  for (const term of dates.termsIn(query, now)) add(term, weights.date, true);
  return {
    text: normalizeText(query),
    terms: [...terms.values()],
    words,
    authorTerms: new Set(words.filter((word) => authorNames.has(word))),
    meansBot: meansBot(query),
    asksWhen: asksWhen(query),
  };
}

function meansBot(query: string): boolean {
  const speaker = /\b(?:I|my|mine|me)\b|(?<!\p{L})(?:я|мой|моя|моё|мои|мне|меня)(?!\p{L})/iu.test(query);
  const bot = /\b(?:you|your)\b|(?<!\p{L})(?:ты|вы|твой|ваш|тебя)(?!\p{L})/iu.test(query);
  return bot && !speaker;
}
