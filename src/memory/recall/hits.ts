import { normalizeText } from '../../core/text.ts';
import type { RecallUnit, Segment } from './segments.ts';
import type { SourceName } from './sources.ts';

/** A unit that was found. */
export interface Hit {
  readonly source: SourceName;
  readonly unit: RecallUnit;
  readonly score: number;
  readonly segment: Segment;
  /** Which of the segment's units. */
  readonly index: number;
  /** The segment's place among all; later ones are newer. */
  readonly order: number;
}

/** The best of many hits, without ordering all of them. */
export class TopHits {
  readonly #depth: number;
  #hits: Hit[] = [];
  #least = 0;

  constructor(depth: number) {
    this.#depth = depth;
  }

  /** What scores less is not among the best any more. */
  get least(): number {
    return this.#least;
  }

  add(hit: Hit): void {
    if (hit.score < this.#least) return;
    this.#hits.push(hit);
    if (this.#hits.length >= this.#depth * 4) this.#shrink();
  }

  inOrder(): readonly Hit[] {
    this.#shrink();
    return this.#hits;
  }

  #shrink(): void {
    this.#hits = this.#hits.toSorted(compareHits).slice(0, this.#depth);
    if (this.#hits.length === this.#depth) this.#least = this.#hits.at(-1)?.score ?? 0;
  }
}

/** Better before worse, newer before older. */
export function compareHits(a: Hit, b: Hit): number {
  return b.score - a.score || timeOf(b) - timeOf(a) || b.order - a.order || b.index - a.index;
}

function timeOf({ unit }: Hit): number {
  return Date.parse(unit.at ?? '') || 0;
}

/**
 * The hits to show, best first: none that repeats another's words, and every source that found something has its best one among
 * them, as far as `limit` allows [C2]. `perSource` has each source's hits, best first.
 */
export function chooseHits(perSource: readonly (readonly Hit[])[], limit: number): readonly Hit[] {
  const seen = new Set<string>();
  const distinct = perSource.map((hits) => hits.filter(({ unit }) => isNew(unit, seen)));
  const firsts = distinct.flatMap((hits) => hits.slice(0, 1)).toSorted(compareHits);
  const others = distinct.flatMap((hits) => hits.slice(1)).toSorted(compareHits);
  return [...firsts, ...others].slice(0, limit).toSorted(compareHits);
}

function isNew({ reference, author, text }: RecallUnit, seen: Set<string>): boolean {
  const said = normalizeText(`${reference.kind} ${author} ${text}`);
  if (seen.has(said)) return false;
  seen.add(said);
  return true;
}
