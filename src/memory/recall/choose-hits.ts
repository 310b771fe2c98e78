import { normalizeText } from '../../core/text.ts';
import { compareHits } from './top-hits.ts';
import type { Hit } from './top-hits.ts';

/**
 * The hits to show, best first: none that repeats another's words, and every source that found something has its best one among
 * them, as far as `limit` allows [C2]. `perSource` has each source's hits, best first.
 */
export function chooseHits(perSource: readonly (readonly Hit[])[], limit: number): readonly Hit[] {
  const seen = new Set<string>();
  const distinct = perSource.map((hits) => hits.filter((hit) => isNew(hit, seen)));
  const firsts = distinct.flatMap((hits) => hits.slice(0, 1)).toSorted(compareHits);
  const others = distinct.flatMap((hits) => hits.slice(1)).toSorted(compareHits);
  return [...firsts, ...others].slice(0, limit).toSorted(compareHits);
}

function isNew({ segment, index }: Hit, seen: Set<string>): boolean {
  const unit = segment.traits[index]?.unit;
  if (unit === undefined) return false;
  const text = normalizeText(`${unit.reference.kind} ${unit.author} ${unit.text}`);
  if (seen.has(text)) return false;
  seen.add(text);
  return true;
}
