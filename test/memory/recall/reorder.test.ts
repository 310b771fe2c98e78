import { expect, it } from 'vitest';

import { createDates } from '../../../src/memory/recall/dates.ts';
import { readQuery, TermReader } from '../../../src/memory/recall/words.ts';
import { rank } from '../../../src/memory/recall/rank.ts';
import { bestFirst } from '../../../src/memory/recall/reorder.ts';
import { segmentOf, type RecallUnit, type Segment } from '../../../src/memory/recall/segments.ts';

const readers = { terms: new TermReader(), dates: createDates('UTC') };
const reach = { visibility: 'dm', homeId: '1' } as const;
const now = new Date('2026-05-01T12:00:00Z');

/** A conversation of Alice and Carol by turns, an hour's pause after every tenth message. */
function segmentWith(texts: readonly string[]): Segment {
  const units = texts.map((text, index): RecallUnit => {
    return {
      text,
      author: index % 2 === 0 ? 'Alice' : 'Carol',
      at: new Date(now.getTime() - (texts.length - index) * 60_000).toISOString(),
      isBot: false,
      reach,
      stretch: Math.floor(index / 10),
      reference: { kind: 'message', channelId: '1', messageId: String(index) },
    };
  });
  return segmentOf(reach, units, readers);
}

async function found(texts: readonly string[], asked: string) {
  const query = readQuery(asked, now, ['Alice', 'Carol'], readers);
  const sources = [{ source: 'messages' as const, segments: [segmentWith(texts)] }];
  return bestFirst(await rank(sources, query), query);
}

it('has an answer before the question itself, asked earlier word for word', async () => {
  const texts = [
    'How many children does Carol have?',
    'I have 3 children.',
    'Children have many toys.',
    'Many children have many toys.',
  ];
  const hits = await found(texts, 'how many children does Carol have?');
  expect(hits.map(({ index }) => index)).toEqual([1, 3, 2, 0]);
});

it.each([
  ['I am 45 and write every day, can you help?', 14 / 42],
  ['我住在北京，你呢？', 3 / 9],
])('%j is a question only from its last comma on', (said, share) => {
  const [facts] = segmentWith([said]).facts;
  expect(1 - (facts?.statementShare ?? 0)).toBeCloseTo(share, 5);
});
