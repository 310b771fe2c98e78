import { describe, expect, it } from 'vitest';

import type { DurableItem } from '../../../src/memory/durable/document.ts';
import { formerItems } from '../../../src/memory/durable/items.ts';
import { findGone, forgottenTest, tombstoneOf, withBoundedPast } from '../../../src/memory/durable/past.ts';
import { aliceId, createMemory, dev, dm, documentOf, item, minutesLater } from './fixtures.ts';
import { beginningNow } from '../../../src/core/writes.ts';

const forgotten = { status: 'deprecated', forgotten: true } as const;

/** An item and what it corrected, the newest first: `cN` corrected `cN-1`. */
function corrections(count: number): DurableItem[] {
  const former = Array.from({ length: count }, (_, index) =>
    item({
      id: `c${index}`,
      text: `Lives at number ${index}`,
      status: 'deprecated',
      supersededBy: `c${index + 1}`,
      updatedAt: minutesLater(index).toISOString(),
    }),
  );
  return [...former, item({ id: `c${count}`, text: `Lives at number ${count}` })];
}

describe('the past of a person’s items [L3]', () => {
  it('is what each present item corrected, the newest ten; of the others no text stays [D6][S7]', () => {
    const bounded = withBoundedPast(documentOf(...corrections(15)));
    const former = formerItems(bounded.items).get('c15') ?? [];
    expect(former.map(({ text }) => text)).toEqual(
      Array.from({ length: 10 }, (_, index) => `Lives at number ${14 - index}`),
    );
    expect(bounded.items).toHaveLength(11);
    expect(bounded.gone).toHaveLength(5);
    expect(JSON.stringify(bounded)).not.toContain('number 4"');
    expect(withBoundedPast(bounded)).toBe(bounded);
  });

  it('holds no text of what was forgotten, pushed out or led nowhere', () => {
    const past = [
      item({ id: '1', text: 'Works at Acme', ...forgotten }),
      item({ id: '2', text: 'Owns a kite', status: 'deprecated' }),
      item({ id: '3', text: 'Was in Rome', status: 'deprecated', supersededBy: '1' }),
    ];
    const bounded = withBoundedPast(documentOf(...past, item()));
    expect(bounded.items).toEqual([item()]);
    expect(bounded.gone).toHaveLength(3);
    expect(bounded.gone?.join('\n')).not.toMatch(/acme|kite|rome/iu);
  });

  it.each(['I like tea.', 'i like  tea', 'I LIKE TEA!', 'I like tea…'])(
    'knows "I like tea" by %j when its text is gone [D2]',
    (said) => {
      const document = { ...documentOf(), gone: [tombstoneOf(item({ text: 'I like tea', ...forgotten }))] };
      expect(findGone(document, said)).toMatchObject({ without: { gone: [] } });
      expect(findGone(document, 'I like coffee')).toBeUndefined();
    },
  );

  it('knows the newest 500 of what is gone', () => {
    const past = Array.from({ length: 700 }, (_, index) =>
      item({ id: `i${index}`, text: `Fact number ${index}`, ...forgotten }),
    );
    const { gone = [] } = withBoundedPast(documentOf(...past));
    expect(gone).toHaveLength(500);
    const isForgotten = forgottenTest(documentOf());
    expect(isForgotten('Fact number 699', undefined)).toBe(false);
    const knows = forgottenTest({ ...documentOf(), gone });
    expect([0, 199, 200, 699].map((number) => knows(`the fact was number ${number}`, undefined))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('recognises what tells something forgotten, in any script, if it was said before', () => {
    const at = '2026-01-15T12:00:00.000Z';
    const document = documentOf(
      item({ id: '1', text: 'Works at Acme', updatedAt: at, ...forgotten }),
      item({ id: '2', text: '猫が好き', updatedAt: at, ...forgotten }),
      item({ id: '3', text: 'Owns a kite', updatedAt: at, status: 'deprecated' }),
    );
    const tells = forgottenTest(withBoundedPast(document));
    expect(tells('Since when do you work at ACME?', '2026-01-01T00:00:00.000Z')).toBe(true);
    expect(tells('私は猫が好きです', undefined)).toBe(true);
    expect(tells('I am back at Acme', '2026-02-01T00:00:00.000Z')).toBe(false);
    expect(tells('Your kite is red', undefined)).toBe(false);
  });

  it('comes back only by its owner’s word, with its kind, and no longer counts as forgotten', async () => {
    const { memory, store } = createMemory();
    const said = { place: dev, messageId: '400000000000000001', type: 'manual' } as const;
    await memory.remember(beginningNow(aliceId), { ...said, text: 'Prefers Rust', kind: 'preference' });
    await memory.forget(beginningNow(aliceId), 'rust', dm, '400000000000000002');
    const text = () => store.readText(`users/${aliceId}/durable.json`);
    expect(await text()).not.toMatch(/rust/iu);
    const later = { ...said, messageId: '400000000000000003', text: 'prefers  RUST' };
    expect(await memory.remember(beginningNow(aliceId), { ...later, type: 'discord' })).toMatchObject({
      reason: 'forgotten',
    });
    expect(await memory.remember(beginningNow(aliceId), later)).toMatchObject({
      outcome: 'revived',
      item: { kind: 'preference', status: 'active' },
    });
    expect((await memory.forgotten(aliceId))('I prefer Rust', '2000-01-01T00:00:00.000Z')).toBe(false);
  });

  it('stays small after 1,000 pairs of remember and forget, twice as many as are known', async () => {
    const { memory, store } = createMemory();
    for (let pair = 1; pair <= 1_000; pair += 1) {
      const said = {
        place: dm,
        messageId: String(400_000_000_000_000_000n + BigInt(2 * pair)),
        type: 'manual',
      } as const;
      await memory.remember(beginningNow(aliceId), {
        ...said,
        text: `Keeps secret number ${pair} `.padEnd(300, 'of the garden '),
      });
      await memory.forget(
        beginningNow(aliceId),
        `number ${pair} `,
        dm,
        String(400_000_000_000_000_001n + BigInt(2 * pair)),
      );
    }
    const document: unknown = JSON.parse((await store.readText(`users/${aliceId}/durable.json`)) ?? '');
    expect(JSON.stringify(document, undefined, 2).length).toBeLessThan(60_000);
  });
});
