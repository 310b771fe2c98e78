import { searchForm } from '../../core/text.ts';
import { titleTerm, type TextReaders } from './segments.ts';

/** A term to look for; ranking weighs its kind. */
export interface QueryTerm {
  readonly term: string;
  /** The word of the query that it stands for. */
  readonly word: string;
  readonly kind: 'word' | 'author' | 'related' | 'title' | 'date' | 'beginning';
}

/** A parsed query; literal text, nothing in it is a pattern [C1]. */
export interface RecallQuery {
  /** In `searchForm`. */
  readonly text: string;
  readonly terms: readonly QueryTerm[];
  /** In order, without related terms. */
  readonly words: readonly string[];
  /** Whom the query names; none where it names them all. */
  readonly namedAuthors: ReadonlySet<string>;
  /** Asks for what the bot said: has "you", and no "I". */
  readonly meansBot: boolean;
  /** Asks for what holds now, or was last. */
  readonly asksNow: boolean;
}

/** In languages that separate words, and in others. */
const nowWords = new Set(
  searchForm(`now nowadays current currently latest newest recent recently still today anymore jetzt aktuell aktuelle aktuellen derzeit momentan inzwischen
  zuletzt ahora actualmente todavía últimamente maintenant actuellement dernièrement adesso attualmente ancora agora atualmente сейчас теперь
  нынче последний последняя последнее текущий 지금 현재 요즘`).split(' '),
);
const nowPart = /今|現在|最新|最近|现在|目前/u;

/** `query` is in {@link searchForm}. */
function asksNow(query: string): boolean {
  const found = query.match(/[\p{L}\p{M}]+/gu) ?? [];
  return nowPart.test(query) || found.some((word) => nowWords.has(word));
}

/** `authors` are all there are. */
export function readQuery(
  query: string,
  now: Date,
  authors: Iterable<string>,
  { terms: reader, dates }: TextReaders,
): RecallQuery {
  const { terms: words, beginnings } = reader.readWhole(query);
  const text = searchForm(query);
  const names = new Map(Array.from(authors, (author) => [author, reader.read(author)]));
  const nameTerms = new Set([...names.values()].flat());
  const own = new Set(words);
  const terms = new Map<string, QueryTerm>();
  const add = (term: string, kind: QueryTerm['kind'], word = term): void => {
    if (!terms.has(term)) terms.set(term, { term, kind, word });
  };
  for (const term of own) add(term, nameTerms.has(term) ? 'author' : 'word');
  for (const term of own) {
    add(titleTerm(term), 'title');
    if (nameTerms.has(term)) continue;
    for (const other of reader.related(term)) add(other, 'related', term);
  }
  for (const [beginning, term] of beginnings) add(beginning, 'beginning', term);
  for (const term of dates.termsIn(query, now)) add(term, 'date');
  const named = new Set(
    [...names].flatMap(([author, name]) => (name.some((term) => own.has(term)) ? [author] : [])),
  );
  return {
    text,
    terms: [...terms.values()],
    words,
    namedAuthors: named.size === names.size ? new Set() : named,
    meansBot: meansBot(text),
    asksNow: asksNow(text),
  };
}

function meansBot(query: string): boolean {
  const speaker = /\b(?:I|my|mine|me)\b|(?<!\p{L})(?:я|мой|моя|мое|мои|мне|меня)(?!\p{L})/iu.test(query);
  const bot = /\b(?:you|your)\b|(?<!\p{L})(?:ты|вы|твой|ваш|тебя)(?!\p{L})/iu.test(query);
  return bot && !speaker;
}
