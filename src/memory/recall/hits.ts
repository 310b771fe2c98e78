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

/**
 * The hits to show, best first: none that `isHidden` or repeats another's words, and every source that found something has its best one among
 * them, as far as `limit` allows [C2]. `perSource` has what each source found, best first.
 */
export async function chooseHits(
  perSource: readonly (readonly Find[])[],
  limit: number,
  isHidden: (unit: RecallUnit) => boolean,
): Promise<readonly Hit[]> {
  const seen = new Set<string>();
  const pause = createTimeSlice();
  const distinct: Hit[][] = [];
  for (const finds of perSource) {
    const hits: Hit[] = [];
    for (const find of finds) {
      // A message has to be read, and nothing else repeats one: no more than can be shown.
      if (find.source === 'messages' && hits.length === limit) break;
      const unit = find.segment.unit(find.index);
      const said = normalizeText(`${unit.reference.kind} ${unit.author} ${unit.text}`);
      await pause();
      if (isHidden(unit) || seen.has(said)) continue;
      seen.add(said);
      hits.push({ ...find, unit });
    }
    distinct.push(hits);
  }
  const firsts = distinct.flatMap((hits) => hits.slice(0, 1)).toSorted(compareHits);
  const others = distinct.flatMap((hits) => hits.slice(1)).toSorted(compareHits);
  return [...firsts, ...others].slice(0, limit).toSorted(compareHits);
}
