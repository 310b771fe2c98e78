import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { normalizeText } from '../../../src/core/text.ts';
import { forgetItems } from '../../../src/memory/durable/forget-items.ts';
import { formerItems } from '../../../src/memory/durable/former-items.ts';
import { mayUseItem } from '../../../src/memory/durable/item-place.ts';
import { aliceId, anyItems, anyPlace, dev, dm, documentOf, item, minutesLater } from './fixtures.ts';

const later = minutesLater(60);
const commandId = '400000000000000900';

function forget(document: ReturnType<typeof documentOf>, target: string, place = dev) {
  return forgetItems(document, aliceId, target, place, commandId, later);
}

describe('forgetting', () => {
  const acme = item({ id: '11111111', text: 'Works at Acme' });
  const go = item({ id: '22222222', text: 'Writes Go at ACME' });
  const c = item({ id: '33333333', text: 'Likes a.*b( and $& in C' });

  it('takes plain words, whatever their case, and keeps the history', () => {
    const { document, result } = forget(documentOf(acme, go, c), 'acme');
    expect(result.forgotten.map(({ id }) => id)).toEqual(['11111111', '22222222']);
    expect(document.items.map(({ status }) => status)).toEqual(['deprecated', 'deprecated', 'active']);
    expect(document.items[0]?.text).toBe('Works at Acme');
  });

  it('takes what an item corrected too, so that it is seen no more', () => {
    const past = item({ ...go, status: 'deprecated', supersededBy: acme.id });
    const { document, result } = forget(documentOf(past, acme), 'writes go');
    expect(result.forgotten.map(({ id }) => id)).toEqual([go.id]);
    expect(formerItems(documentOf(past, acme).items).size).toBe(1);
    expect(formerItems(document.items).size).toBe(0);
  });

  it('takes even a single letter', () => {
    expect(
      forget(documentOf(item({ text: 'X' }), item({ id: 'b', text: 'y' })), 'x').result.forgotten,
    ).toHaveLength(1);
  });

  it('takes an id, and then nothing else', () => {
    const other = item({ id: '44444444', text: 'Once saw 11111111' });
    const { result } = forget(documentOf(acme, other), '11111111');
    expect(result.forgotten.map(({ id }) => id)).toEqual(['11111111']);
  });

  it.each(['a.*b(', '$&', '.*b('])('takes %j as text', (target) => {
    expect(forget(documentOf(acme, go, c), target).result.forgotten.map(({ id }) => id)).toEqual([
      '33333333',
    ]);
  });

  it.each(['A.*e', '^Works', 'W.rks', '[A-Z]', '', '  '])('finds nothing for %j', (target) => {
    expect(forget(documentOf(acme, go, c), target).result).toEqual({ forgotten: [], elsewhere: 0 });
  });

  it('touches only what may be used here, and counts the rest', () => {
    const secret = { ...go, visibility: 'dm' } as const;
    const inGuild = forget(documentOf(acme, secret), 'acme');
    expect(inGuild.result).toMatchObject({ forgotten: [{ id: '11111111' }], elsewhere: 1 });
    expect(inGuild.document.items[1]).toBe(secret);
    expect(forget(documentOf(acme, secret), 'acme', dm).result.elsewhere).toBe(0);
  });

  it('remembers when it was said, also where nothing matched; the latest counts', () => {
    const first = forget(documentOf(), 'acme').document;
    expect(first.forgottenUpTo).toBe(commandId);
    expect(forgetItems(first, aliceId, 'x', dm, '99999999999999999', later).document.forgottenUpTo).toBe(
      commandId,
    );
  });

  it('is literal and stays within what may be used, always', () => {
    const targets = fc.oneof(
      fc.constantFrom('a.*b(', '$&', '.', 'RUST', '東京', 'x', '00000001', '</durable_items>'),
      fc.string(),
    );
    fc.assert(
      fc.property(anyItems, targets, anyPlace, (items, target, place) => {
        const { document, result } = forget(documentOf(...items), target, place);
        const wanted = normalizeText(target);
        const active = items.filter(({ status }) => status === 'active');
        const byId = active.filter(({ id }) => id === wanted);
        const matching =
          byId.length > 0
            ? byId
            : active.filter(({ text }) => wanted !== '' && normalizeText(text).includes(wanted));
        const usable = matching.filter((each) => mayUseItem(each, aliceId, place));
        expect(result.forgotten.map(({ id }) => id)).toEqual(usable.map(({ id }) => id));
        expect(result.elsewhere).toBe(matching.length - usable.length);
        const changed = document.items.filter((each, index) => each !== items[index]);
        expect(changed).toEqual(result.forgotten);
      }),
    );
  });
});
