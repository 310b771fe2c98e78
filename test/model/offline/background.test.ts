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
});
