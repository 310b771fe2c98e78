import { describe, expect, it } from 'vitest';

import { durableDocumentKind, durableKey, undated } from '../../../src/memory/durable/durable-document.ts';
import { documentOf, item, source } from './fixtures.ts';

const { schema } = durableDocumentKind;

describe('the durable document', () => {
  it('reads what the program wrote without a change', () => {
    const document = documentOf(item(), item({ id: 'bbbbbbbb', text: 'Uses vim', supersededBy: 'aaaaaaaa' }));
    expect(schema.parse(structuredClone(document))).toEqual(document);
  });

  it('keeps keys it does not know, at every level', () => {
    const written = {
      ...documentOf(),
      note: 'mine',
      items: [{ ...item(), colour: 'red', source: { ...source(), place: 'home' } }],
    };
    expect(schema.parse(structuredClone(written))).toEqual(written);
  });

  it('completes an item written by hand with the careful choices', () => {
    const [read] = schema.parse({ version: 1, items: [{ text: 'Plays the cello' }] }).items;
    expect(read).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      kind: 'fact',
      text: 'Plays the cello',
      status: 'active',
      visibility: 'dm',
      pinned: false,
      source: { type: 'manual', channelId: '', messageId: '' },
      createdAt: undated,
      updatedAt: undated,
    });
  });

  it('gives a copy made by hand an id of its own, the same at every reading', () => {
    const written = documentOf(item(), item({ text: 'Prefers Go' }));
    const first = schema.parse(structuredClone(written));
    expect(first.items[0]?.id).toBe('aaaaaaaa');
    expect(first.items[1]?.id).not.toBe('aaaaaaaa');
    expect(schema.parse(structuredClone(written))).toEqual(first);
    expect(schema.parse(structuredClone(first))).toEqual(first);
  });

  it.each([
    ['an unknown version', { version: 2, items: [] }],
    ['no items', { version: 1 }],
    ['an unknown visibility', { version: 1, items: [{ ...item(), visibility: 'public' }] }],
    ['a date that is none', { version: 1, items: [{ ...item(), updatedAt: 'yesterday' }] }],
  ])('refuses %s', (_name, document) => {
    expect(schema.safeParse(document).success).toBe(false);
  });

  it('lies under the user, whose id must be a Discord id', () => {
    expect(durableKey('100000000000000001')).toBe('users/100000000000000001/durable.json');
    expect(() => durableKey('../100000000000000001')).toThrow(RangeError);
  });
});
