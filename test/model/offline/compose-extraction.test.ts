import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { textOf } from '../../../src/core/model.ts';
import { createOfflineClient } from '../../../src/model/offline/offline-client.ts';
import { offlineRequest } from './offline-request.ts';

interface Item {
  readonly kind: string;
  readonly text: string;
  readonly quote: string;
  readonly messageId: string;
}

async function extracted(...messages: readonly string[]): Promise<readonly Item[]> {
  const turns = messages.map((text, index) => `- [${100 + index}] Alice: ${text}`);
  const request = offlineRequest({ purpose: 'extraction', sections: { turns } });
  const answer: { items: readonly Item[] } = JSON.parse(
    textOf((await createOfflineClient().complete(request)).content),
  );
  return answer.items;
}

describe('extraction', () => {
  it.each([
    ['I am a nurse.', 'fact', 'Is a nurse', 'I am a nurse'],
    ["Hi, I'm a nurse", 'fact', 'Is a nurse', "I'm a nurse"],
    ['I work at Acme', 'fact', 'Works at Acme', undefined],
    ['I really like tea', 'preference', 'I really like tea', undefined],
    ['I love my old bike', 'preference', 'I love my old bike', undefined],
    ['I use Vim for everything', 'tool', 'Uses Vim for everything', undefined],
    ['my name is Alice', 'fact', 'My name is Alice', undefined],
    ['Call me Al', 'fact', 'Call me Al', undefined],
    ["I'm working on a parser", 'project', 'Is working on a parser', undefined],
    ["I can't eat nuts", 'constraint', "I can't eat nuts", undefined],
    ["I don't like Mondays", 'preference', "I don't like Mondays", undefined],
  ])('finds what a person says about themselves: %s', async (message, kind, text, quote) => {
    const [item] = await extracted(message);

    expect(item).toMatchObject({ kind, text, messageId: '100' });
    expect(item?.quote).toBe(quote ?? message.replace(/\.$/u, ''));
  });

  it('ties each item to its message', async () => {
    const items = await extracted('I live in Lisbon and I work at Acme', 'hello', 'I prefer Rust.');

    expect(items.map(({ text, messageId }) => [messageId, text])).toEqual([
      ['100', 'Lives in Lisbon'],
      ['100', 'Works at Acme'],
      ['102', 'Prefers Rust'],
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
