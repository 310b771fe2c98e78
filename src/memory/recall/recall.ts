import { LRUCache } from 'lru-cache';

import { createKeyedQueue } from '../../core/keyed-queue.ts';
import type { Place } from '../../core/place.ts';
import { mayUse } from '../../core/visibility.ts';
import { personOf, type MemoryLayer } from '../layer.ts';
import { createDates } from './dates.ts';
import { chooseHits, compareHits, createRepeats, type Find, withEarlierMarks } from './hits.ts';
import { passagesOf, type Passage } from './passages.ts';
import { readQuery, TermReader } from './words.ts';
import { literalHits, rank, type SourceSegments } from './rank.ts';
import { bestFirst } from './reorder.ts';
import type { RecallUnit, Segment, TextReaders } from './segments.ts';
import type { PersonIndex, RecallPerson, RecallSource, SourceName } from './sources.ts';

export interface RecallRequest {
  /** One to five wordings, each literal text. */
  readonly queries: readonly string[];
  readonly scope: SourceName | 'all';
  /** Of passages. */
  readonly limit: number;
  readonly speaker: RecallPerson;
  readonly place: Place;
  readonly now: Date;
  /** Messages of the asking turn, which are not looked for. */
  readonly excluded: readonly string[];
  /** Nothing that may repeat others' words is found [EW3]. */
  readonly isOwnOnly?: boolean;
}

export interface RecallOptions {
  readonly sources: readonly RecallSource[];
  /** IANA; dates of queries and texts are local [N5]. */
  readonly timeZone: string;
  /** Units in memory, of all people; the least recently searched memory is dropped. */
  readonly maxUnits?: number;
}

export type Recall = ReturnType<typeof createRecall>;

/**
 * Finds what a person said and noted [C1], in indexes made at their first search, which may be dropped at any
 * time.
 */
export function createRecall(options: RecallOptions) {
  const { sources, timeZone, maxUnits = 500_000 } = options;
  const readers: TextReaders = { terms: new TermReader(), dates: createDates(timeZone) };
  const indexes = new LRUCache<string, readonly PersonIndex[]>({ maxSize: maxUnits });
  const jobs = createKeyedQueue();
  /** Running searches, one a person. */
  const searches = new Map<string, { isOutdated: boolean }>();

  async function segmentsOf(
    person: RecallPerson,
    isExcluded: (messageId: string) => boolean,
  ): Promise<readonly SourceSegments[]> {
    const key = indexKey(person);
    const open = indexes.get(key) ?? sources.map((source) => source.open(person, readers));
    const found: (readonly Segment[])[] = [];
    for (const index of open) found.push(await index(isExcluded));
    const size = found.flat().reduce((sum, { units }) => sum + units.length, 1);
    indexes.set(key, open, { size: Math.min(size, maxUnits) });
    return sources.map(({ name }, at) => ({ source: name, segments: found[at] ?? [] }));
  }

  /** Searches run in slices, and again if something was edited, deleted or forgotten meanwhile. */
  async function find(request: RecallRequest): Promise<readonly Passage[]> {
    const search = { isOutdated: false };
    searches.set(request.speaker.id, search);
    try {
      const passages = await findNow(request);
      return search.isOutdated ? await find(request) : passages;
    } finally {
      if (searches.get(request.speaker.id) === search) searches.delete(request.speaker.id);
    }
  }

  async function findNow(request: RecallRequest): Promise<readonly Passage[]> {
    const { queries, scope, limit, speaker, place, now } = request;
    const excluded = new Set(request.excluded);
    const all = await segmentsOf(speaker, (id) => excluded.has(id));
    const searched = all
      .filter(({ source }) => scope === 'all' || scope === source)
      .map(({ source, segments }) => ({
        source,
        segments: segments.filter(({ reach }) =>
          mayUse({ ownerId: speaker.id, ...reach }, place, speaker.id),
        ),
      }));
    const authors = new Set(
      searched.flatMap(({ segments }) => segments.flatMap((each) => [...each.authors].filter(Boolean))),
    );
    const wordings = queries.map((query) => readQuery(query, now, authors, readers));
    // Another search may have indexed them.
    const isHidden = ({ reference, thirdPartyMark }: RecallUnit): boolean =>
      (reference.kind === 'message' && excluded.has(reference.messageId)) ||
      (request.isOwnOnly === true && thirdPartyMark !== undefined);
    const found: (readonly Find[])[] = [];
    for (const wording of wordings) {
      const isLiteral = wording.terms.length === 0;
      const ranking = await (isLiteral ? literalHits : rank)(searched, wording);
      found.push(isLiteral ? ranking.perSource.flat().toSorted(compareHits) : bestFirst(ranking, wording));
    }
    const isRepeat = createRepeats(readers.terms);
    const hits = chooseHits(found, limit, (hit) => isHidden(hit.unit) || isRepeat(hit));
    return passagesOf(withEarlierMarks(hits, readers.terms), wordings, readers, found, isHidden);
  }

  const layer: MemoryLayer = {
    name: 'recall',
    sections: () => Promise.resolve([]),
    /** A search takes in what is on disk before it answers; a running one begins again. */
    async delete(deletion) {
      const userId = personOf(deletion);
      if (deletion.kind !== 'person' && deletion.kind !== 'conversations') return beginAgain(userId);
      // The next search makes the index again: so the other layers delete first.
      await jobs.run(userId, () => Promise.resolve(drop(userId)));
    },
    // What it finds is the other layers'.
    async *export() {},
    evict(userId) {
      beginAgain(userId);
      void jobs.run(userId, () => Promise.resolve(drop(userId)));
    },
  };

  function beginAgain(userId: string): void {
    const search = searches.get(userId);
    if (search !== undefined) search.isOutdated = true;
  }

  function drop(userId: string): void {
    for (const isOwner of [true, false]) indexes.delete(indexKey({ id: userId, isOwner }));
    readers.terms.drop();
  }

  return {
    ...layer,
    /** What may be found of a person is other than it was: their running search begins again. */
    beginAgain,
    /**
     * The best passages of the speaker's own memory usable in the place [V2], best first. Never older than
     * the last acknowledged write. Rejects with `StoreError`.
     */
    search(request: RecallRequest): Promise<readonly Passage[]> {
      return jobs.run(request.speaker.id, () => find(request));
    },
  };
}

function indexKey({ id, isOwner }: RecallPerson): string {
  return `${id}:${isOwner}`;
}
