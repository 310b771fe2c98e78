import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { textOf } from '../../../src/core/model.ts';
import { shareOf } from '../../../src/memory/recall/words.ts';
import { createOfflineClient } from '../../../src/model/offline/offline-client.ts';
import { offlineRequest } from './offline-request.ts';

const limit = (maxChars: number): string =>
  `Keep the summary under ${maxChars} characters (and under 600 words).`;

async function summary(
  previous: readonly string[],
  turns: readonly string[],
  maxChars = 2_000,
): Promise<string> {
  const sections = { previous_summary: previous, turns };
  const request = offlineRequest({ purpose: 'summary', sections, system: limit(maxChars) });
  return JSON.parse(textOf((await createOfflineClient({ shareOf }).complete(request)).content)).summary;
}

describe('a summary', () => {
  it('holds the previous one and what people said since, with its day [H3]', async () => {
    expect(
      await summary(
        ['Alice: the release is on Friday'],
        [
          '- Thu 2026-01-15 10:00 [100] Alice: Bob tests it',
          '- Thu 2026-01-15 10:00 [101] Alice: and writes the notes',
        ],
      ),
    ).toBe(
      'Alice: the release is on Friday\nAlice (2026-01-15): Bob tests it\nAlice (2026-01-15): and writes the notes',
    );
  });

  it('leaves out small talk, repeats, what the stand-in said and what items hold', async () => {
    const turns = [
      '- Thu 2026-01-15 10:00 [1] Alice: hi',
      '- Thu 2026-01-15 10:00 [2] Discoclaw: [offline model] You prefer Rust',
      '- Thu 2026-01-15 10:00 [3] Alice: Deploy now',
      '- Thu 2026-01-15 10:00 [5] Alice: remember that I prefer Rust',
      '- Thu 2026-01-15 10:00 [6] Alice: forget that I prefer Rust',
      '- Thu 2026-01-15 10:00 [4] Alice: Deploy now',
    ];

    expect(await summary([], turns)).toBe('Alice (2026-01-15): Deploy now');
  });

  it('always stays under the limits of characters and words', async () => {
    const line = fc.string({ maxLength: 500 }).map((text) => text.replaceAll(/[\n<>]/gu, ' '));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.array(line),
        fc.integer({ min: 50, max: 3_000 }),
        async (previous, said, maxChars) => {
          const turns = said.map((text, index) => `- Thu 2026-01-15 10:00 [${index}] Alice: ${text}`);

          const text = await summary(previous, turns, maxChars);

          expect(text.length).toBeLessThan(maxChars);
          expect(text.split(/\s+/u).length).toBeLessThan(600);
          expect(text.trim()).not.toBe('');
        },
      ),
    );
  });
});

it('extracts nothing and takes no notes: what people say of themselves is kept by the tool', async () => {
  const extraction = offlineRequest({
    purpose: 'extraction',
    sections: { turns: ['- Thu 2026-01-15 10:00 [1] Alice: I like tea'] },
  });
  const answer = await createOfflineClient({ shareOf }).complete(extraction);
  expect(JSON.parse(textOf(answer.content))).toEqual({ items: [] });
  const request = offlineRequest({
    purpose: 'reflection',
    sections: { turns: ['- Thu 2026-01-15 10:00 [1] Alice: my name is Alice'] },
    tools: ['memory_append'],
  });
  const { content } = await createOfflineClient({ shareOf }).complete(request);
  expect(content).toEqual([{ type: 'text', text: 'Nothing new.' }]);
});
