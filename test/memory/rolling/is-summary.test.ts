import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';

import { isSummary } from '../../../src/memory/rolling/write-summary.ts';

/** `said` is by the person and the bot in turn. */
const row = z.object({
  isSummary: z.boolean(),
  before: z.string(),
  said: z.array(z.string()),
  answer: z.string(),
});
const rows = readFileSync(new URL('summaries.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => row.parse(JSON.parse(line)));

it.each([true, false])('an answer is a summary or not, in twenty languages: %s [R2]', (expected) => {
  const about = rows.filter((each) => each.isSummary === expected);
  expect(about.length).toBeGreaterThan(40);
  const wrong = about.filter(({ before, said, answer }) => {
    const turns = said.map(
      (text, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', text }) as const,
    );
    return isSummary(answer, before, turns) !== expected;
  });
  expect(wrong).toEqual([]);
});
