import { LRUCache } from 'lru-cache';

import type { Place } from '../../core/place.ts';
import type { Speaker } from '../../core/turn-context.ts';
import { createKeyedQueue } from '../../core/keyed-queue.ts';
import { chooseHits } from './choose-hits.ts';
import { createDates } from './dates.ts';
import type { Dates } from './dates.ts';
import type { IsForgotten } from './forgotten-texts.ts';
import { literalHits } from './literal-hits.ts';
import { passagesOf } from './passages.ts';
import type { Passage } from './passages.ts';
import { rank } from './rank.ts';
import type { SourceSegments } from './rank.ts';
import { rankingWeights } from './ranking-weights.ts';
import type { RankingWeights } from './ranking-weights.ts';
import { readQuery } from './recall-query.ts';
import type { RecallQuery } from './recall-query.ts';
import type { RecallShelf, RecallSource } from './recall-source.ts';
import { mayRecall } from './recall-unit.ts';
import type { Reach, RecallUnit, SourceName } from './recall-unit.ts';
import { relatedTerms } from './related-words.ts';
import { rerank } from './rerank.ts';
import { TermReader } from './term-reader.ts';

export interface RecallRequest {
  /** Literal text. */
  readonly query: string;
  readonly scope: SourceName | 'all';
  /** Passages at most. */
  readonly limit: number;
  readonly speaker: Pick<Speaker, 'id' | 'isOwner'>;
  readonly place: Place;
  readonly now: Date;
  /** Messages that are not looked for: those of the turn that asks. */
  readonly excluded: readonly string[];
}

/** Finds what a person said and noted [C1]. */
export interface Recall {
  /**
   * The best passages of the speaker's own memory that may be used in the place [V2], best first. Never older than the last acknowledged write.
   * Rejects with `StoreError`.
   */
  search(request: RecallRequest): Promise<readonly Passage[]>;
}

export interface RecallOptions {
  readonly sources: readonly RecallSource[];
  /** IANA name: dates of queries and texts are local [N5]. */
  readonly timeZone: string;
  /** Messages, lines and items kept in memory at most, of all people; whose memory was searched least recently is dropped. */
  readonly maxUnits?: number;
  readonly weights?: RankingWeights;
  /** What of a person's memory was forgotten since; by default nothing. */
  readonly forgotten?: (userId: string) => Promise<IsForgotten>;
}

/** Hits of a source that are looked at closely. */
const depth = 100;

interface OpenShelf {
  readonly source: SourceName;
  readonly shelf: RecallShelf;
}

/** What texts and queries are read with. */
interface Reading {
  readonly terms: TermReader;
  readonly dates: Dates;
  readonly related: ReturnType<typeof relatedTerms>;
}

function createReading(timeZone: string): Reading {
  const terms = new TermReader();
  return { terms, dates: createDates(timeZone), related: relatedTerms(terms) };
}

export function createRecall(options: RecallOptions): Recall {
  const { sources, timeZone, maxUnits = 500_000, weights = rankingWeights } = options;
  let reading: Reading | undefined;
  const shelves = new LRUCache<string, readonly OpenShelf[]>({ maxSize: maxUnits });
  const searches = createKeyedQueue();

  /** Made at the first search: the tables take some milliseconds and megabytes. */
  const read = (): Reading => (reading ??= createReading(timeZone));

  /** All sources of a person as they stand now. */
  async function segmentsOf({ id, isOwner }: RecallRequest['speaker']): Promise<readonly SourceSegments[]> {
    const key = `${id}:${isOwner}`;
    return searches.run(key, async () => {
      const open =
        shelves.get(key) ??
        sources.map((source) => ({
          source: source.name,
          shelf: source.open({ userId: id, isOwner }, read()),
        }));
      const found = await Promise.all(
        open.map(async ({ source, shelf }) => ({ source, segments: await shelf.segments() })),
      );
      const units = found.flatMap(({ segments }) => segments.map(({ traits }) => traits.length));
      const size = 1 + units.reduce((sum, count) => sum + count, 0);
      shelves.set(key, open, { size: Math.min(size, maxUnits) });
      return found;
    });
  }

  return {
    async search(request) {
      const { query, scope, limit, speaker, place, now } = request;
      const { terms, dates, related } = read();
      const all = await segmentsOf(speaker);
      const searched = all.filter(({ source }) => scope === 'all' || scope === source);
      const mayUse = (reach: Reach): boolean => mayRecall(reach, speaker.id, place, speaker.id);
      const excluded = new Set(request.excluded);
      const authors = authorsOf(searched, mayUse, terms);
      const names = new Set([...authors.values()].flat());
      const asked = readQuery(query, now, names, { terms, dates, related }, weights);
      const isNamedAuthor = namedBy(asked, authors);
      const found =
        asked.terms.length === 0
          ? searched.map((source) => literalHits(source, query, mayUse, excluded))
          : rank(searched, asked, { mayUse, excluded, isNamedAuthor, weights, depth }).map((hits) =>
              rerank(hits, asked, terms, weights),
            );
      const isForgotten = (await options.forgotten?.(speaker.id)) ?? (() => false);
      const kept = found.map((hits) =>
        hits.filter(({ segment, index }) => {
          const unit = segment.traits[index]?.unit;
          return unit !== undefined && !isForgotten(unit);
        }),
      );
      const hits = chooseHits(kept, limit);
      const wanted = new Set(asked.terms.map(({ term }) => term));
      const isWord = (word: string): boolean => terms.read(word).some((term) => wanted.has(term));
      const isHidden = (unit: RecallUnit): boolean =>
        (unit.reference.kind === 'message' && excluded.has(unit.reference.messageId)) || isForgotten(unit);
      return passagesOf(hits, { isWord, isHidden, dateOf: (at) => dates.dayOf(at) });
    },
  };
}

/** The names that authors have in what may be used, as terms. */
function authorsOf(
  sources: readonly SourceSegments[],
  mayUse: (reach: Reach) => boolean,
  reader: TermReader,
): ReadonlyMap<string, readonly string[]> {
  const authors = new Map<string, readonly string[]>();
  for (const { segments } of sources) {
    for (const segment of segments) {
      if (!segment.reaches.some(mayUse)) continue;
      for (const author of segment.authors) authors.set(author, reader.read(author));
    }
  }
  return authors;
}

/** Whether the query names an author; where it names them all, that tells nothing. */
function namedBy(
  { authorTerms }: RecallQuery,
  authors: ReadonlyMap<string, readonly string[]>,
): (author: string) => boolean {
  const named = new Set(
    [...authors].flatMap(([author, names]) => (names.some((name) => authorTerms.has(name)) ? [author] : [])),
  );
  return named.size === authors.size ? () => false : (author) => named.has(author);
}
