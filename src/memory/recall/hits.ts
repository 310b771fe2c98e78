import { normalizeText } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { RecallUnit, Segment } from './segments.ts';
import type { SourceName } from './sources.ts';

/** Where something was found. */
export interface Find {
  readonly source: SourceName;
  readonly score: number;
  readonly segment: Segment;
  /** Which of the segment's units. */
  readonly index: number;
  /** The segment's place among all; later ones are newer. */
  readonly order: number;
  /** Where in the segment each of the query's terms stands. */
  readonly postings: readonly Uint32Array[];
}

/** What was found, read. */
export interface Hit extends Find {
  readonly unit: RecallUnit;
}

/** The best of many hits, without ordering all of them. */
export class TopHits {
  readonly #depth: number;
  #hits: Find[] = [];
  #least = 0;

  constructor(depth: number) {
    this.#depth = depth;
  }

  /** What scores less is not among the best any more. */
  get least(): number {
    return this.#least;
  }

  add(hit: Find): void {
    if (hit.score < this.#least) return;
    this.#hits.push(hit);
    if (this.#hits.length >= this.#depth * 2) this.#shrink();
  }

  inOrder(): readonly Find[] {
    this.#shrink();
    return this.#hits;
  }

  #shrink(): void {
    this.#hits = this.#hits.toSorted(compareHits).slice(0, this.#depth);
    if (this.#hits.length === this.#depth) this.#least = this.#hits.at(-1)?.score ?? 0;
  }
}

/** Better before worse, newer before older. */
export function compareHits(a: Find, b: Find): number {
  return b.score - a.score || timeOf(b) - timeOf(a) || b.order - a.order || b.index - a.index;
}

function timeOf({ segment, index }: Find): number {
  return segment.timeOf[index] ?? 0;
}

/** A hit, with what it says in a form that shows repetitions. */
interface SaidHit {
  readonly hit: Hit;
  readonly said: string;
}

/**
 * The hits to show, best first: none that `isHidden` or repeats another's words, and every source that found something has its best one among
 * them, as far as `limit` allows [C2]. `wordings` has what each source found for each wording of a query, best first; their hits take turns, since
 * scores of one wording say nothing beside those of another.
 */
export async function chooseHits(
  wordings: readonly (readonly (readonly Find[])[])[],
  limit: number,
  isHidden: (unit: RecallUnit) => boolean,
): Promise<readonly Hit[]> {
  const lists: (readonly SaidHit[])[] = [];
  for (const perSource of wordings) lists.push(await inOrder(perSource, limit, isHidden));
  const hits = byTurns(lists);
  const bests = hits.filter(({ source }, at) => hits.findIndex((hit) => hit.source === source) === at);
  const shown = new Set([...new Set([...bests, ...hits])].slice(0, limit));
  return hits.filter((hit) => shown.has(hit));
}

/** What all sources found for one wording, best first, read; of messages no more than can be shown. */
async function inOrder(
  perSource: readonly (readonly Find[])[],
  limit: number,
  isHidden: (unit: RecallUnit) => boolean,
): Promise<readonly SaidHit[]> {
  const seen = new Set<string>();
  const pause = createTimeSlice();
  const distinct: SaidHit[] = [];
  for (const finds of perSource) {
    let messages = 0;
    for (const find of finds) {
      // A message has to be read, and nothing else repeats one.
      if (messages === limit) break;
      const unit = find.segment.unit(find.index);
      const said = normalizeText(`${unit.reference.kind} ${unit.author} ${unit.text}`);
      await pause();
      if (isHidden(unit) || seen.has(said)) continue;
      seen.add(said);
      distinct.push({ hit: { ...find, unit }, said });
      if (find.source === 'messages') messages += 1;
    }
  }
  return distinct.toSorted((a, b) => compareHits(a.hit, b.hit));
}

/** The first of each list, then the second of each, and so on. A list whose turn would bring what is there already gives its next one instead. */
function byTurns(lists: readonly (readonly SaidHit[])[]): readonly Hit[] {
  const taken = new Map<string, Hit>();
  const places = lists.map(() => 0);
  while (lists.some((list, of) => (places[of] ?? 0) < list.length)) {
    for (const [of, list] of lists.entries()) {
      const from = places[of] ?? 0;
      const found = list.findIndex(({ said }, at) => at >= from && !taken.has(said));
      const next = list[found];
      places[of] = next === undefined ? list.length : found + 1;
      if (next !== undefined) taken.set(next.said, next.hit);
    }
  }
  return [...taken.values()];
}
