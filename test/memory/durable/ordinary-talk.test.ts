import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { ownWords } from '../../../src/core/own-words.ts';
import { sentencesOf } from '../../../src/core/sentences.ts';
import { questionAtEnd, sentencesQuoted } from '../../../src/memory/durable/evidence.ts';
import { isWorthKeeping } from '../../../src/memory/durable/extraction.ts';

/** Language, kind of talk, what is said, what of it should be kept, and what the bot had said before it. */
const turn = z.tuple([z.string(), z.string(), z.string(), z.array(z.string())], z.string());
const saidAt = new Date('2026-03-12T09:00:00Z');

/** Three a message is what extraction takes at most. */
function takenOf(text: string): readonly string[] {
  const quotes = sentencesOf(ownWords(text)).map(({ segment }) => segment.trim());
  return [...new Set(quotes.flatMap((quote) => sentencesQuoted(quote, text) ?? []))].slice(0, 3);
}

describe('what extraction keeps of ordinary talk, where the model takes every sentence [A2]', () => {
  it('is a quarter less of what should not be kept, and all of what should', () => {
    const lines = readFileSync(new URL('ordinary-talk.jsonl', import.meta.url), 'utf8')
      .trim()
      .split('\n');
    const tally = { wanted: 0, lost: [] as string[], junkTaken: 0, junkKept: 0 };
    for (const [, , message, wanted, before] of lines.map((line) => turn.parse(JSON.parse(line)))) {
      const taken = takenOf(message);
      const isAnswer = questionAtEnd(before) !== undefined;
      const origin = { message, isAnswer, saidAt, timeZone: 'Europe/Berlin' };
      const kept = taken.filter((text) => isWorthKeeping(text, origin));
      const isJunk = (text: string) => !wanted.some((quote) => text.includes(quote));
      tally.wanted += wanted.length;
      tally.lost.push(...wanted.filter((quote) => !kept.some((text) => text.includes(quote))));
      tally.junkTaken += taken.filter(isJunk).length;
      tally.junkKept += kept.filter(isJunk).length;
    }
    expect(tally).toMatchObject({ wanted: 20, lost: [] });
    expect(tally.junkKept).toBeLessThanOrEqual(0.75 * tally.junkTaken);
  });
});
