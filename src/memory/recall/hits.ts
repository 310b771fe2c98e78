import { normalizeText } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { RecallUnit, Segment, TextFacts } from './segments.ts';
import type { SourceName } from './sources.ts';
import type { TermReader } from './words.ts';

export interface Find {
  readonly source: SourceName;
  /** The higher the better; odds after a closer look. */
  readonly score: number;
  readonly segment: Segment;
  /** Of the unit in its segment. */
  readonly index: number;
  readonly unit: RecallUnit;
  readonly facts: TextFacts;
  /** The indexes of the segment's units that do not exist for the search [V2]. */
  readonly leftOut: ReadonlySet<number>;
}

/** Better first, then newer. */
export function compareHits(a: Find, b: Find): number {
  return b.score - a.score || b.facts.time - a.facts.time || b.index - a.index;
}

/** The share of words that makes a question or answer a repetition. */
const repeatedShare = 0.75;
/** Compared terms: a long answer says more than one thing. */
const mostCompared = 40;
/** How many that differ only in a number or name are shown: a rising count tells nothing. */
const mostAlike = 3;

/**
 * Tells of successive units whether they only repeat an earlier one: the same words in any case and
 * punctuation; for questions and the bot also nearly the same, unless with a new number or name, which {@link
 * mostAlike} may have.
 */
export function createRepeats(reader: TermReader): LeavesOut {
  const said = new Set<string>();
  const alike: { readonly kind: string; readonly terms: ReadonlySet<string>; times: number }[] = [];
  return ({ unit: { text, isBot }, facts: { asks, statementShare, length } }) => {
    const words = normalizeText(text.replace(/[.,;:!?…。、！？؟"“”«»()\s]+/gu, ' '));
    const key = `${isBot ? 'bot' : 'person'} ${words}`;
    if (said.has(key)) return true;
    said.add(key);
    const isQuestion = asks && statementShare <= 0.5;
    if ((!isQuestion && !isBot) || length > mostCompared) return false;
    const kind = isQuestion ? 'question' : 'bot';
    const terms = new Set(reader.read(text));
    const contentTerms = new Set(reader.read((text.match(tellingWord) ?? []).join(' ')));
    for (const other of alike) {
      const added = [...terms].filter((term) => !other.terms.has(term));
      if (other.kind !== kind || added.length > (1 - repeatedShare) * terms.size) continue;
      if (other.times === mostAlike || !added.some((term) => contentTerms.has(term))) return true;
      other.times += 1;
    }
    alike.push({ kind, terms, times: 1 });
    return false;
  };
}

/** A number, or a capitalised word inside a sentence. */
const tellingWord = /\p{N}+|(?<=[\p{Ll}\p{N},;:] )\p{Lu}[\p{L}\p{M}]+/gu;

/** Whether a find is hidden, or repeats one before. */
export type LeavesOut = (find: Find) => boolean;

/** Finds of all sources with none left out among the `most` best; the rest stays as it was found. */
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
    if (leavesOut(find)) left.add(find);
    else kept += 1;
    await pause();
  }
  return left.size === 0 ? perSource : perSource.map((finds) => finds.filter((find) => !left.has(find)));
}

/**
 * The hits to show, best first: none left out, and the best of every source that found something, as far as
 * `limit` allows [C2]. `wordings` has the finds for each wording, best first.
 */
export async function chooseHits(
  wordings: readonly (readonly Find[])[],
  limit: number,
  leavesOut: LeavesOut,
): Promise<readonly Find[]> {
  const pause = createTimeSlice();
  const hits: Find[] = [];
  const bests = new Map<SourceName, Find>();
  for (const find of fused(wordings)) {
    if (hits.length >= limit && bests.has(find.source)) continue;
    await pause();
    if (leavesOut(find)) continue;
    hits.push(find);
    if (!bests.has(find.source)) bests.set(find.source, find);
  }
  const shown = new Set([...new Set([...bests.values(), ...hits])].slice(0, limit));
  return hits.filter((hit) => shown.has(hit));
}

/** Merges lists, best first, by each hit's summed share of a list's likelihood. */
function fused(lists: readonly (readonly Find[])[]): readonly Find[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const known = new Map<RecallUnit, { readonly find: Find; worth: number }>();
  for (const list of lists) {
    const total = list.reduce((sum, { score }) => sum + score, 0);
    for (const find of list) {
      const present = known.get(find.unit) ?? { find, worth: 0 };
      known.set(find.unit, present);
      present.worth += find.score / total;
    }
  }
  return [...known.values()].toSorted((a, b) => b.worth - a.worth).map(({ find }) => find);
}
