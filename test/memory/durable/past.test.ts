import { describe, expect, it } from 'vitest';

import type { DurableItem } from '../../../src/memory/durable/document.ts';
import { goneKind, itemHistories, tombstoneOf, withBoundedPast } from '../../../src/memory/durable/items.ts';
import { aliceId, createMemory, dev, dm, documentOf, item, minutesLater } from './fixtures.ts';
import { unconditional } from '../../../src/core/writes.ts';

const work = unconditional(aliceId);

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
    const former = itemHistories(bounded.items).get('c15') ?? [];
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
      expect(goneKind(document, said)).toBe('preference');
      expect(goneKind(document, 'I like coffee')).toBeUndefined();
    },
  );

  it('knows the newest 500 of what is gone', () => {
    const past = Array.from({ length: 700 }, (_, index) =>
      item({ id: `i${index}`, text: `Fact number ${index}`, ...forgotten }),
    );
    const { gone = [] } = withBoundedPast(documentOf(...past));
    expect(gone).toHaveLength(500);
    const document = { ...documentOf(), gone };
    expect([0, 199, 200, 699].map((number) => goneKind(document, `Fact number ${number}`))).toEqual([
      undefined,
      undefined,
      'preference',
      'preference',
    ]);
  });

  it('comes back only by its owner’s word, with its kind, and is then confirmed by what is noticed', async () => {
    const { memory, store, finishForgetting } = createMemory();
    const said = { place: dev, messageId: '400000000000000001', type: 'manual' } as const;
    await memory.remember(work, { ...said, text: 'Prefers Rust', kind: 'preference' });
    await memory.forget(work, 'rust', dm, '400000000000000002');
    await finishForgetting();
    const text = () => store.readText(`users/${aliceId}/durable.json`);
    expect(await text()).not.toMatch(/rust/iu);
    const later = { ...said, messageId: '400000000000000003', text: 'prefers  RUST' };
    expect(await memory.remember(work, { ...later, type: 'discord' })).toMatchObject({
      reason: 'forgotten',
    });
    expect(await memory.remember(work, later)).toMatchObject({
      outcome: 'revived',
      item: { kind: 'preference', status: 'active' },
    });
    expect(await memory.remember(work, { ...later, type: 'discord' })).toMatchObject({
      outcome: 'refreshed',
    });
  });
});
