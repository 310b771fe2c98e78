import { normalizeText } from '../../core/text.ts';
import type { Reach } from './recall-unit.ts';
import type { SourceSegments } from './rank.ts';
import { compareHits } from './top-hits.ts';
import type { Hit } from './top-hits.ts';

/**
 * Texts that hold the query word for word, newest first: for queries that have no words to go by, such as `???` or `to be or not to be`.
 */
export function literalHits(
  { source, segments }: SourceSegments,
  query: string,
  mayUse: (reach: Reach) => boolean,
  excluded: ReadonlySet<string>,
): readonly Hit[] {
  const wanted = normalizeText(query);
  if (wanted === '') return [];
  const hits: Hit[] = [];
  for (const [order, segment] of segments.entries()) {
    const usable = segment.reaches.map(mayUse);
    for (const [index, { unit, reach }] of segment.traits.entries()) {
      if (usable[reach] !== true || !normalizeText(unit.text).includes(wanted)) continue;
      if (unit.reference.kind === 'message' && excluded.has(unit.reference.messageId)) continue;
      hits.push({ source, segment, index, score: 1, order });
    }
  }
  return hits.toSorted(compareHits);
}
