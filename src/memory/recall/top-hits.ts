import type { SourceName } from './recall-unit.ts';
import type { Segment } from './segment.ts';

/** A unit that was found. */
export interface Hit {
  readonly source: SourceName;
  readonly segment: Segment;
  readonly index: number;
  readonly score: number;
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

function timeOf({ segment, index }: Hit): number {
  return Date.parse(segment.traits[index]?.unit.at ?? '') || 0;
}
