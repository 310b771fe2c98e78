import { readFile } from 'node:fs/promises';

import { readDay } from '../../src/memory/durable/item-day.ts';
import type { Figure } from './page.ts';
import { tallyTalk } from '../../test/memory/durable/ordinary-talk.ts';

/** A sentence, when and where it was said, and the day that it speaks of, if any. */
type Row = readonly [text: string, at: string, timeZone: string, day: string | null];

/** How well days of sentences are read [D7], and what is kept of ordinary talk [A2]. */
export async function extractionFigures(): Promise<readonly Figure[]> {
  const lines = await readFile(new URL('../../test/memory/durable/days.jsonl', import.meta.url), 'utf8');
  const rows = lines
    .trim()
    .split('\n')
    .map((line): Row => JSON.parse(line));
  const read = rows.map(([text, at, timeZone, day]) => ({
    day,
    found: readDay(text, new Date(at), timeZone)?.when,
  }));
  const dated = read.filter(({ day }) => day !== null);
  const undated = read.filter(({ day }) => day === null);
  const { before, after } = await tallyTalk();
  return [
    {
      promise: 'the day that a sentence speaks of is read, or left out',
      tried: `${dated.length} sentences with a day`,
      outcome: `${dated.filter(({ day, found }) => day === found).length} read, ${dated.filter(({ day, found }) => found !== undefined && day !== found).length} wrong`,
    },
    {
      promise: 'no day is read where there is none',
      tried: `${undated.length} sentences without one`,
      outcome: `${undated.filter(({ found }) => found !== undefined).length} wrong`,
    },
    {
      promise: 'small talk is not kept, where the model takes every sentence',
      tried: `${before.good + before.junk} sentences of 200 messages in ten languages, ${before.good} of them worth keeping`,
      outcome: `${after.junk} of ${before.junk} others kept, ${after.lost} lost`,
    },
  ];
}
