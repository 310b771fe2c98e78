import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { textOf } from '../../../src/core/model.ts';
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
  return textOf((await createOfflineClient().complete(request)).content);
}

async function condensed(previous: string, maxChars: number): Promise<string> {
  const sections = { previous_summary: previous.split('\n') };
  const request = offlineRequest({ purpose: 'condense', sections, system: limit(maxChars) });
  return textOf((await createOfflineClient().complete(request)).content);
}

describe('a summary', () => {
  it('holds the previous one and what people said since', async () => {
    expect(
      await summary(
        ['Alice: the release is on Friday'],
        ['- [100] Alice: Bob tests it', '- [101] Alice: and writes the notes'],
      ),
    ).toBe('Alice: the release is on Friday\nAlice: Bob tests it\nAlice: and writes the notes');
  });

  it('leaves out small talk, repeats, what the stand-in said and what items hold', async () => {
    const turns = [
      '- [1] Alice: hi',
      '- [2] Discoclaw: [offline model] You prefer Rust',
      '- [3] Alice: Deploy now',
      '- [5] Alice: remember that I prefer Rust',
      '- [6] Alice: forget that I prefer Rust',
      '- [4] Alice: Deploy now',
    ];

    expect(await summary([], turns)).toBe('Alice: Deploy now');
  });

  it('is never empty', async () => {
    expect(await summary([], ['- [1] Alice: hi'])).toBe('Only small talk so far.');
  });

  it('lets the oldest go where the limit is reached', async () => {
    const turns = Array.from(
      { length: 30 },
      (_, index) => `- [${index}] Alice: decision number${index} stands`,
    );

    const text = await summary(['Alice: something old'], turns, 200);

    expect(text).toContain('number29');
    expect(text).not.toContain('old');
  });

  it('always stays under the limits of characters and words', async () => {
    const line = fc.string({ maxLength: 500 }).map((text) => text.replaceAll(/[\n<>]/gu, ' '));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.array(line),
        fc.integer({ min: 50, max: 3_000 }),
        async (previous, said, maxChars) => {
          const turns = said.map((text, index) => `- [${index}] Alice: ${text}`);

          const text = await summary(previous, turns, maxChars);

          expect(text.length).toBeLessThan(maxChars);
          expect(text.split(/\s+/u).length).toBeLessThan(600);
          expect(text.trim()).not.toBe('');
        },
      ),
    );
  });
});

describe('condensing', () => {
  it('keeps whole sentences, the newest', async () => {
    const text = 'Alice plans a release. Bob tests it. The notes are written by Carol.';

    expect(await condensed(text, 60)).toBe('Bob tests it. The notes are written by Carol.');
  });

  it('always stays under the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 1, maxLength: 4_000 }),
        fc.integer({ min: 20, max: 500 }),
        async (text, maxChars) => {
          expect((await condensed(text, maxChars)).length).toBeLessThan(maxChars);
        },
      ),
    );
  });
});
