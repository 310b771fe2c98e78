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

/** Takes the hits of a segment. */
export interface HitTaker {
  readonly least: number;
  add(index: number, score: number): void;
}

/** The best of a source's many hits, without ordering all of them. */
export class TopHits {
  readonly #source: SourceName;
  readonly #depth: number;
  #hits: Hit[] = [];
  #least = 0;

  constructor(source: SourceName, depth: number) {
    this.#source = source;
    this.#depth = depth;
  }

  /** Takes the hits of one segment. What scores less than `least` is not among the best any more. */
  of(segment: Segment, order: number): HitTaker {
    const least = (): number => this.#least;
    return {
      get least() {
        return least();
      },
      add: (index, score) => {
        if (score < this.#least) return;
        this.#hits.push({ source: this.#source, segment, order, index, score });
        if (this.#hits.length >= this.#depth * 4) this.#shrink();
      },
    };
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
