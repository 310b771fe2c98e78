import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { createDates } from '../../../src/memory/recall/dates.ts';
import type { Find } from '../../../src/memory/recall/hits.ts';
import { readQuery } from '../../../src/memory/recall/query.ts';
import { rank, type SourceSegments } from '../../../src/memory/recall/rank.ts';
import { lookedAt, mostReordered } from '../../../src/memory/recall/reorder.ts';
import { segmentOf, type RecallUnit, type Segment } from '../../../src/memory/recall/segments.ts';
import { TermReader } from '../../../src/memory/recall/words.ts';
import { runs } from '../../support/runs.ts';

const readers = { terms: new TermReader(), dates: createDates('UTC') };
const now = new Date('2026-05-01T12:00:00Z');
const reach = { visibility: 'everywhere', homeId: '1' } as const;
const found = { mayUse: () => true, excluded: new Set<string>() };

/** Seldom ones behind. */
const words = ['apple', 'banana', 'cherry', 'damson', 'elder', 'fig', 'grape', 'hazel'];
const word = fc.nat(255).map((drawn) => words[Math.clz32(drawn) - 24] ?? 'iris');
const message = fc.record({
  said: fc.array(word, { minLength: 1, maxLength: 6 }),
  author: fc.constantFrom('Alice', 'Bot', 'Carol'),
  asks: fc.boolean(),
  pause: fc.integer({ min: 0, max: 9 }),
});
type Message = typeof message extends fc.Arbitrary<infer Value> ? Value : never;

/** Conversations of Alice, Carol and the bot, in segments of so many messages. */
function segmentsOf(messages: readonly Message[], size: number): readonly Segment[] {
  let stretch = 0;
  const units = messages.map(({ said, author, asks, pause }, index) => {
    stretch += pause === 0 ? 1 : 0;
    const unit: RecallUnit = {
      text: `${said.join(' ')}${asks ? '?' : ''}`,
      author,
      at: new Date(now.getTime() - index * 40_000_000).toISOString(),
      isBot: author === 'Bot',
      hasThirdPartyText: false,
      reach,
      stretch,
      reference: { kind: 'message', channelId: '1', messageId: String(index), line: index + 1 },
    };
    return unit;
  });
  const starts = Array.from({ length: Math.ceil(units.length / size) }, (_, at) => at * size);
  return starts.map((start) => segmentOf(reach, units.slice(start, start + size), readers));
}

function figures(finds: readonly Find[]): unknown {
  return finds.map(({ unit, score }) => ({ unit, score }));
}

/** What each source has for a query, best first. */
async function perSource(
  sources: readonly SourceSegments[],
  query: ReturnType<typeof readQuery>,
): Promise<readonly (readonly Find[])[]> {
  return (await rank(sources, query, found)).perSource;
}

it('finds among segments that hold the same as before the best, whatever else is there', async () => {
  const query = fc
    .tuple(fc.array(word, { maxLength: 3 }), fc.constantFrom('', 'Carol', 'when', 'April 2026', '2025'))
    .map(([said, more]) => `${said.join(' ')} ${more}`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 300, maxLength: 900, size: 'max' }),
      query,
      async (messages, asked) => {
        const segments = segmentsOf(messages, 64);
        const authors = ['Alice', 'Bot', 'Carol'];
        const read = readQuery(asked, now, authors, readers);
        const [best = []] = await perSource([{ source: 'messages', segments }], read);
        // Each segment as a source of its own is scored by the same numbers, and has fewer than are passed over for.
        const alone = segments.map((segment) => ({ source: 'messages' as const, segments: [segment] }));
        const every = (await perSource(alone, read)).flat();
        const expected = every.toSorted((a, b) => b.score - a.score || b.facts.time - a.facts.time);
        expect(figures(best)).toEqual(figures(expected.slice(0, 100)));
      },
    ),
    { numRuns: runs(60) },
  );
});

it('looks closer at what has the query word for word, and at nothing else', async () => {
  const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((said) => said.join(' '));
  /** A part of what somebody may have said, words cut off at its ends. */
  const part = fc
    .tuple(text, fc.nat(10), fc.nat(10))
    .map(([said, from, less]) => said.slice(from, said.length - less));
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 30, maxLength: 60 }),
      fc.oneof(text, part),
      async (messages, asked) => {
        const segments = segmentsOf(messages, 16);
        const read = readQuery(asked, now, ['Alice', 'Bot', 'Carol'], readers);
        const ranking = await rank([{ source: 'messages', segments }], read, found);
        const finds = ranking.perSource.flat().slice(0, mostReordered);
        const { hits } = await lookedAt(ranking, read);
        const expected = finds.map((find) => {
          const said = find.unit.text;
          const isPhrase = read.words.length > 1 && said.includes(read.text);
          return find.score + (isPhrase ? (finds[0]?.score ?? 0) : 0);
        });
        expect(hits.slice(0, mostReordered).map(({ score }) => score)).toEqual(
          expected.toSorted((a, b) => b - a),
        );
      },
    ),
    { numRuns: runs(300) },
  );
});
