import { normalizeText } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import { elementOf, trait, type RecallUnit, type Segment } from './segments.ts';
import type { SourceName } from './sources.ts';
import type { TermReader } from './words.ts';

/** Which units of a segment exist for a search; all others are as if they were not there [V2]. */
export type Admits = (index: number) => boolean;

/** Where something was found. */
export interface Find {
  readonly source: SourceName;
  /** In a list of one query: the higher the better, as odds where it is looked at closely. */
  readonly score: number;
  readonly segment: Segment;
  /** Which of the segment's units. */
  readonly index: number;
  /** The segment's place among all; later ones are newer. */
  readonly order: number;
  /** The place of each of the query's terms among the segment's, -1 where it is not there. */
  readonly places: readonly number[];
  /** Whether it holds a longer query word for word. */
  readonly isVerbatim?: boolean;
  /** Which of the segment's units there are for the search; all where it is not given. */
  readonly admits: Admits | undefined;
}

/** What was found, read. */
export interface Hit extends Find {
  readonly unit: RecallUnit;
}

/** The best of many hits. */
export class TopHits {
  readonly #depth: number;
  /** Best first, never more than are wanted. */
  readonly #hits: Find[] = [];
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
    let from = 0;
    for (let to = this.#hits.length; from < to;) {
      const middle = (from + to) >>> 1;
      if (compareHits(elementOf(this.#hits, middle), hit) < 0) from = middle + 1;
      else to = middle;
    }
    this.#hits.splice(from, 0, hit);
    if (this.#hits.length > this.#depth) this.#hits.pop();
    if (this.#hits.length === this.#depth) this.#least = this.#hits.at(-1)?.score ?? 0;
  }

  inOrder(): readonly Find[] {
    return this.#hits;
  }
}

/** Better before worse, newer before older. */
export function compareHits(a: Find, b: Find): number {
  return b.score - a.score || timeOf(b) - timeOf(a) || b.order - a.order || b.index - a.index;
}

function timeOf({ segment, index }: Find): number {
  return segment.timeOf[index] ?? 0;
}

/** The share of a question's words, or of an answer's, that another one has to have for it to add nothing. */
const repeatedShare = 0.75;
/** Terms of those that are compared so: a long answer says more than one thing. */
const mostCompared = 40;
/** How many of those that are alike but for a number or a name take a place: a count that goes up tells nothing. */
const mostAlike = 3;

/**
 * Tells of one unit after another whether it only repeats an earlier one: what a person said or noted by the same words, whatever the case
 * and signs; a question, and what the bot said, also by nearly the same, unless it brings a number or a name, which {@link mostAlike} do.
 */
export function createRepeats(reader: TermReader): LeavesOut {
  const said = new Set<string>();
  const alike: { readonly kind: string; readonly terms: ReadonlySet<string>; times: number }[] = [];
  return ({ segment, index }, { text, isBot }) => {
    const words = normalizeText(text.replace(/[.,;:!?…。、！？؟"“”«»()\s]+/gu, ' '));
    const key = `${isBot ? 'bot' : 'person'} ${words}`;
    if (said.has(key)) return true;
    said.add(key);
    const asks =
      ((segment.traitsOf[index] ?? 0) & trait.asks) !== 0 && (segment.statementShareOf[index] ?? 0) <= 0.5;
    if ((!asks && !isBot) || (segment.lengthOf[index] ?? 0) > mostCompared) return false;
    const kind = asks ? 'question' : 'bot';
    const terms = new Set(reader.read(text));
    const telling = new Set(reader.read((text.match(tellingWord) ?? []).join(' ')));
    for (const other of alike) {
      const added = [...terms].filter((term) => !other.terms.has(term));
      if (other.kind !== kind || added.length > (1 - repeatedShare) * terms.size) continue;
      if (other.times === mostAlike || !added.some((term) => telling.has(term))) return true;
      other.times += 1;
    }
    alike.push({ kind, terms, times: 1 });
    return false;
  };
}

/** A number, or a capitalised word inside a sentence. */
const tellingWord = /\p{N}+|(?<=[\p{Ll}\p{N},;:] )\p{Lu}[\p{L}\p{M}]+/gu;

/** Whether a find is not shown: it may not be, or it repeats one before. */
export type LeavesOut = (find: Find, unit: RecallUnit) => boolean;

/** The finds of all sources, of which the `most` best are none that is left out. The rest stays as it was found: each would have to be read for it. */
export async function withoutRepeats(
  perSource: readonly (readonly Find[])[],
  leavesOut: LeavesOut,
  most: number,
): Promise<readonly (readonly Find[])[]> {
  const pause = createTimeSlice();
  const left = new Set<Find>();
  let kept = 0;
  for (const find of perSource.flat().toSorted(compareHits)) {
    if (kept === most) break;
    if (leavesOut(find, find.segment.unit(find.index))) left.add(find);
    else kept += 1;
    await pause();
  }
  return left.size === 0 ? perSource : perSource.map((finds) => finds.filter((find) => !left.has(find)));
}

/**
 * The hits to show, best first: none that is left out, and every source that found something has its best one among them, as far as `limit`
 * allows [C2]. `wordings` has what was found for each wording of a query, best first.
 */
export async function chooseHits(
  wordings: readonly (readonly Find[])[],
  limit: number,
  leavesOut: LeavesOut,
): Promise<readonly Hit[]> {
  const pause = createTimeSlice();
  const hits: Hit[] = [];
  const bests = new Map<SourceName, Hit>();
  for (const find of fused(wordings)) {
    if (hits.length >= limit && bests.has(find.source)) continue;
    // A message has to be read.
    const unit = find.segment.unit(find.index);
    await pause();
    if (leavesOut(find, unit)) continue;
    const hit = { ...find, unit };
    hits.push(hit);
    if (!bests.has(find.source)) bests.set(find.source, hit);
  }
  const shown = new Set([...new Set([...bests.values(), ...hits])].slice(0, limit));
  return hits.filter((hit) => shown.has(hit));
}

/** One list of several, best first: of each hit the likelihood is summed up, in each list as a share of all hits' of that. */
function fused(lists: readonly (readonly Find[])[]): readonly Find[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const known = new Map<Segment, Map<number, { readonly find: Find; worth: number }>>();
  const all: { readonly find: Find; worth: number }[] = [];
  for (const list of lists) {
    const total = list.reduce((sum, { score }) => sum + score, 0);
    for (const find of list) {
      const ofSegment = known.get(find.segment) ?? new Map<number, { readonly find: Find; worth: number }>();
      known.set(find.segment, ofSegment);
      const present = ofSegment.get(find.index) ?? { find, worth: 0 };
      if (!ofSegment.has(find.index)) all.push(present);
      ofSegment.set(find.index, present);
      present.worth += find.score / total;
    }
  }
  return all.toSorted((a, b) => b.worth - a.worth).map(({ find }) => find);
}
