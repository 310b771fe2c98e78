import * as fc from 'fast-check';
import type { Place } from '../../../src/core/place.ts';
import type { Visibility } from '../../../src/core/visibility.ts';
import { describe, expect, it } from 'vitest';

import { normalizeText } from '../../../src/core/text.ts';
import { mayUseItem, type DurableDocument, type DurableItem } from '../../../src/memory/durable/document.ts';
import {
  findItems,
  forgetChosen,
  itemHistories,
  itemsToForget,
  removeBySource,
} from '../../../src/memory/durable/items.ts';
import { changedItem } from '../../../src/memory/durable/edit-items.ts';
import { aliceId, anyItems, anyPlace, dev, dm, documentOf, item, minutesLater, source } from './fixtures.ts';

const later = minutesLater(60);
const commandId = '400000000000000900';

/** What is found, and the document once it is final. */
function forget(
  document: DurableDocument,
  target: string,
  place: Place = dev,
  command: string = commandId,
): { readonly document: DurableDocument; readonly result: ReturnType<typeof itemsToForget> } {
  const result = itemsToForget(document.items, aliceId, target, place);
  const isMeant = (each: DurableItem): boolean => result.forgotten.includes(each);
  return { document: forgetChosen(document, isMeant, command, later), result };
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

  it('takes an id, and then nothing else', () => {
    const other = item({ id: '44444444', text: 'Once saw 11111111' });
    const { result } = forget(documentOf(acme, other), '11111111');
    expect(result.forgotten.map(({ id }) => id)).toEqual(['11111111']);
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

  it('keeps what was said before it from being noticed, where something was meant; the latest counts', () => {
    expect(forget(documentOf(acme), 'nothing').document).toEqual(documentOf(acme));
    const first = forget(documentOf(acme, c), 'acme').document;
    expect(first.forgottenUpTo).toBe(commandId);
    expect(forget(first, 'likes', dm, '99999999999999999')).toMatchObject({
      document: { forgottenUpTo: commandId },
      result: { forgotten: [{ id: c.id }] },
    });
  });

  it('is literal and stays within what may be used, always', () => {
    const targets = fc.oneof(
      fc.constantFrom('a.*b(', '$&', '.', 'RUST', '東京', 'x', '00000001', '</durable_items>'),
      fc.string(),
    );
    fc.assert(
      fc.property(anyItems, targets, anyPlace, (items, target, place) => {
        const { document, result } = forget(documentOf(...items), target, place);
        const active = items.filter(({ status }) => status === 'active');
        const matching = findItems(active, target).named;
        const literally = findItems(active, `"${target}"`).named;
        const wanted = normalizeText(target).trim();
        // An id is one in quotes too.
        const isId = items.some(({ id }) => id === wanted);
        const isQuotable = wanted !== '' && !wanted.includes('"') && !isId;
        expect(isQuotable ? literally : []).toEqual(
          active.filter(({ text }) => isQuotable && normalizeText(text).includes(wanted)),
        );
        const usable = matching.filter((each) => mayUseItem(each, aliceId, place));
        expect(result.forgotten.map(({ id }) => id)).toEqual(usable.map(({ id }) => id));
        expect(result.elsewhere).toBe(matching.length - usable.length);
        const changed = items.filter((each, index) => each !== document.items[index]);
        expect(changed).toEqual(result.forgotten);
      }),
    );
  });
});

const messageId = '400000000000000007';
const manual = item({ id: '1', source: source({ type: 'manual', messageId }) });
const byTool = item({ id: '2', text: 'two', source: source({ type: 'discord', messageId }) });
const extracted = item({ id: '3', text: 'three', source: source({ type: 'summary', messageId }) });
const other = item({ id: '4', text: 'four', source: source({ type: 'summary' }) });

describe('what was extracted from messages that are gone', () => {
  it('goes, never what the person asked to remember nor what they had forgotten', () => {
    const forgotten = item({ ...extracted, id: '5', status: 'deprecated', forgotten: true });
    const before = documentOf(manual, byTool, extracted, forgotten, other);
    const { items } = removeBySource(before, [messageId], () => false);
    expect(items).toEqual([manual, forgotten, other]);
  });

  it('goes from the document too where it is not in use any more: corrected, or pushed out', () => {
    const corrected = item({ ...extracted, status: 'deprecated', supersededBy: other.id });
    const evicted = item({ ...byTool, status: 'deprecated' });
    const before = documentOf(corrected, evicted, other);
    expect(removeBySource(before, [messageId], () => false).items).toEqual([other]);
  });

  it('keeps what the edited message still supports', () => {
    const { items } = removeBySource(documentOf(byTool, extracted), [messageId], ({ id }) => id === '3');
    expect(items).toEqual([extracted]);
  });
});

/** An item that was corrected by another so many minutes after noon. */
function former(id: string, supersededBy: string, minutes = 0) {
  const updatedAt = minutesLater(minutes).toISOString();
  return item({ id, status: 'deprecated', supersededBy, updatedAt });
}

describe('what items corrected', () => {
  it('finds what an item corrected, also by way of others, newest first', () => {
    const items = [former('b', 'c', 2), former('a', 'b', 1), item({ id: 'c' }), item({ id: 'd' })];
    const found = [...itemHistories(items)].map(([id, past]) => [id, past.map((each) => each.id)]);
    expect(found).toEqual([['c', ['b', 'a']]]);
  });

  it('finds nothing where corrections lead to nothing that holds, or in a circle', () => {
    const forgotten = item({ id: 'c', status: 'deprecated' });
    expect(itemHistories([former('a', 'c'), forgotten]).size).toBe(0);
    expect(
      itemHistories([
        former('a', 'b'),
        former('b', 'a'),
        former('x', 'x'),
        former('w', 'a'),
        former('y', 'z'),
      ]).size,
    ).toBe(0);
  });
});

const secret = item({ visibility: 'dm' });

function setVisibility(document: DurableDocument, id: string, visibility: Visibility, place: Place) {
  return changedItem(document, aliceId, id, place, (each) => ({ ...each, visibility }));
}

describe('the visibility of an item', () => {
  it('shares and hides by id, and leaves the age as it is', () => {
    const shared = setVisibility(documentOf(secret), ' AAAAAAAA ', 'everywhere', dm);
    expect(shared.result.item).toEqual(item({ visibility: 'everywhere' }));
    expect(shared.document.items).toEqual([shared.result.item]);
    const hidden = setVisibility(shared.document, 'aaaaaaaa', 'dm', dev);
    expect(hidden.document.items).toEqual([secret]);
  });

  it('knows no item that may not be used in the place, is history or is not there', () => {
    for (const [document, id, place] of [
      [documentOf(secret), 'aaaaaaaa', dev],
      [documentOf(item({ status: 'deprecated' })), 'aaaaaaaa', dm],
      [documentOf(secret), 'aaaa', dm],
    ] as const) {
      const changed = setVisibility(document, id, 'everywhere', place);
      expect(changed.result).toEqual({});
      expect(changed.document).toBe(document);
    }
  });
});
