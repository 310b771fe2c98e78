import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type ModelRequest, textOf } from '../../../src/core/model.ts';
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
  return textOf((await createOfflineClient({ shareOf }).complete(request)).content);
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

  it('is never empty', async () => {
    expect(await summary([], ['- Thu 2026-01-15 10:00 [1] Alice: hi'])).toBe('Only small talk so far.');
  });

  it('lets the oldest go where the limit is reached', async () => {
    const turns = Array.from(
      { length: 30 },
      (_, index) => `- Thu 2026-01-15 10:00 [${index}] Alice: decision number${index} stands`,
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

interface Item {
  readonly kind: string;
  readonly quote: string;
  readonly messageId: string;
}

async function extracted(...messages: readonly string[]): Promise<readonly Item[]> {
  const turns = messages.map((text, index) => `- Thu 2026-01-15 10:00 [${100 + index}] Alice: ${text}`);
  const request = offlineRequest({ purpose: 'extraction', sections: { turns } });
  const answer: { items: readonly Item[] } = JSON.parse(
    textOf((await createOfflineClient({ shareOf }).complete(request)).content),
  );
  return answer.items;
}

describe('extraction', () => {
  it.each([
    ['I am a nurse.', 'fact'],
    ["Hi, I'm a nurse", 'fact', "I'm a nurse"],
    ['I work at Acme', 'fact'],
    ['I really like tea', 'preference'],
    ['I love my old bike', 'preference'],
    ['I use Vim for everything', 'tool'],
    ['my name is Alice', 'fact'],
    ['Call me Al', 'fact'],
    ["I'm working on a parser", 'project'],
    ["I can't eat nuts", 'constraint'],
    ["I don't like Mondays", 'preference'],
  ])('finds what a person says about themselves: %s', async (message, kind, quote?: string) => {
    const [item] = await extracted(message);
    expect(item).toEqual({ kind, quote: quote ?? message.replace(/\.$/u, ''), messageId: '100' });
  });

  it('ties each item to its message', async () => {
    const items = await extracted('I live in Lisbon. I work at Acme', 'hello', 'I prefer Rust.');

    expect(items.map(({ quote, messageId }) => [messageId, quote])).toEqual([
      ['100', 'I live in Lisbon'],
      ['100', 'I work at Acme'],
      ['102', 'I prefer Rust'],
    ]);
  });

  it('takes at most three from a message', async () => {
    expect(await extracted('I like tea. I like rum. I like gin. I like ale.')).toHaveLength(3);
  });

  it.each([
    'Do I like tea?',
    'My brother likes tea',
    "I'm tired? no",
    "I'm not sure about it",
    'You prefer Rust',
    'My password is swordfish',
  ])('finds nothing in: %s', async (message) => {
    expect(await extracted(message)).toEqual([]);
  });

  it('always quotes literally', async () => {
    const part = fc.oneof(
      fc.constantFrom('I like ', 'I am ', ' and ', 'my name is ', '. ', ', '),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1 }), async (parts) => {
        const message =
          parts
            .join('')
            .replaceAll(/[\n\r<>\u2028\u2029]/gu, ' ')
            .trim() || 'x';
        for (const { quote } of await extracted(message)) expect(message).toContain(quote);
      }),
    );
  });
});

const reflectionRules = 'Keep facts/user.md.';

async function reflected(
  turns: readonly string[],
  changes: { facts?: string[]; tools?: string[]; system?: string } = {},
) {
  const { facts = [], tools = ['memory_append'] } = changes;
  const request: ModelRequest = offlineRequest({
    purpose: 'reflection',
    sections: { turns, facts },
    tools,
    system: changes.system ?? reflectionRules,
  });
  const { content } = await createOfflineClient({ shareOf }).complete(request);
  return content;
}

const nothingNew = [{ type: 'text', text: 'Nothing new.' }];

describe('a reflection without a language model', () => {
  it('adds what the person said of themselves to the facts', async () => {
    const [call] = await reflected([
      '- Thu 2026-01-15 10:00 [1] Alice: my name is Alice',
      '- Thu 2026-01-15 10:00 [2] Discoclaw: I am a bot',
      '- Thu 2026-01-15 10:00 [3] Alice: I live in Lisbon',
    ]);
    expect(call).toMatchObject({
      name: 'memory_append',
      input: { path: 'facts/user.md', entry: '- my name is Alice\n- I live in Lisbon' },
    });
  });

  it.each([
    [
      'nothing was said',
      ['- Thu 2026-01-15 10:00 [1] Alice: hello', '- Thu 2026-01-15 10:00 [2] Discoclaw: I am a bot'],
      {},
    ],
    [
      'the facts say it already',
      ['- Thu 2026-01-15 10:00 [1] Alice: I live in Lisbon'],
      { facts: ['- I live  in Lisbon'] },
    ],
    ['items were asked for', ['- Thu 2026-01-15 10:00 [1] Alice: remember that I live in Lisbon'], {}],
    ['there is no tool', ['- Thu 2026-01-15 10:00 [1] Alice: I live in Lisbon'], { tools: [] }],
    [
      'there are no facts files',
      ['- Thu 2026-01-15 10:00 [1] Alice: I live in Lisbon'],
      { system: 'Keep overview.md.' },
    ],
  ])('finds nothing new where %s', async (_, turns, changes) => {
    expect(await reflected(turns, changes)).toEqual(nothingNew);
  });
});
