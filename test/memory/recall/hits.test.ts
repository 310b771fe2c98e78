import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createDates } from '../../../src/memory/recall/dates.ts';
import { chooseHits, createRepeats, type Find } from '../../../src/memory/recall/hits.ts';
import { segmentOf, type RecallUnit, type Segment } from '../../../src/memory/recall/segments.ts';
import { sourceNames, type SourceName } from '../../../src/memory/recall/sources.ts';
import { TermReader } from '../../../src/memory/recall/words.ts';

const readers = { terms: new TermReader(), dates: createDates('UTC') };
const reach = { visibility: 'dm', homeId: '1' } as const;

function segmentWith(texts: readonly string[]): Segment {
  const units = texts.map((text, stretch): RecallUnit => {
    return {
      text,
      author: '',
      isBot: false,
      reach,
      stretch,
      reference: { kind: 'item', id: String(stretch) },
    };
  });
  return segmentOf(reach, units, readers);
}

const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
const segment = segmentWith(texts);

/** What a source found, best first: these of the texts. */
function finds(source: SourceName, indexes: readonly number[], of: Segment = segment): readonly Find[] {
  return indexes.flatMap((index, at) => {
    const [unit, facts] = [of.units[index], of.facts[index]];
    if (unit === undefined || facts === undefined) return [];
    return [{ source, score: 1 / (at + 2), segment: of, index, unit, facts, leftOut: new Set<number>() }];
  });
}

const isHidden = (text: string): boolean => text.endsWith('text 0');

describe('hits of several wordings', () => {
  it('never leave out the best of a source, never repeat, and fill the limit [C2]', () => {
    const found = fc.uniqueArray(fc.nat(texts.length - 1), { maxLength: 12 });
    const wording = fc.tuple(...sourceNames.map(() => found));
    const own = sourceNames.map((name) => segmentWith(texts.map((text) => `${name} ${text}`)));
    const limits = fc.integer({ min: sourceNames.length, max: 20 });
    fc.assert(
      fc.property(fc.array(wording, { minLength: 1, maxLength: 5 }), limits, (drawn, limit) => {
        const wordings = drawn.map((perSource) =>
          sourceNames.flatMap((name, of) => finds(name, perSource[of] ?? [], own[of])),
        );
        const isRepeat = createRepeats(readers.terms);
        const hits = chooseHits(wordings, limit, (find) => isHidden(find.unit.text) || isRepeat(find));
        const shown = hits.map(({ unit }) => unit.text);
        const there = wordings.flat().filter(({ unit }) => !isHidden(unit.text));
        expect(new Set(shown).size).toBe(shown.length);
        expect(shown).toHaveLength(Math.min(limit, new Set(there.map(({ unit }) => unit.text)).size));
        expect(new Set(hits.map(({ source }) => source))).toEqual(new Set(there.map(({ source }) => source)));
      }),
    );
  });
});
