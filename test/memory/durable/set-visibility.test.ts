import { expect, it } from 'vitest';

import { setVisibility } from '../../../src/memory/durable/set-visibility.ts';
import { aliceId, dev, dm, documentOf, item } from './fixtures.ts';

const secret = item({ visibility: 'dm' });

it('shares and hides by id, and leaves the age as it is', () => {
  const shared = setVisibility(documentOf(secret), aliceId, ' AAAAAAAA ', 'everywhere', dm);
  expect(shared.result).toEqual(item({ visibility: 'everywhere' }));
  expect(shared.document.items).toEqual([shared.result]);
  const hidden = setVisibility(shared.document, aliceId, 'aaaaaaaa', 'dm', dev);
  expect(hidden.document.items).toEqual([secret]);
});

it('knows no item that may not be used in the place, is history or is not there', () => {
  for (const [document, id, place] of [
    [documentOf(secret), 'aaaaaaaa', dev],
    [documentOf(item({ status: 'deprecated' })), 'aaaaaaaa', dm],
    [documentOf(secret), 'aaaa', dm],
  ] as const) {
    const changed = setVisibility(document, aliceId, id, 'everywhere', place);
    expect(changed.result).toBeUndefined();
    expect(changed.document).toBe(document);
  }
});

it('writes nothing where nothing changes', () => {
  const document = documentOf(secret);
  expect(setVisibility(document, aliceId, 'aaaaaaaa', 'dm', dm).document).toBe(document);
});
