import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { checkedDocument } from '../../src/storage/document-text.ts';

const schema = z.object({
  version: z.literal(1),
  items: z.array(z.object({ id: z.string(), text: z.string(), kind: z.string().default('fact') })),
});
type Notes = z.infer<typeof schema>;
const kind = { version: 1, schema, list: 'items' };
const checked = (next: Notes, before?: Notes): Notes =>
  checkedDocument('notes.json', kind, next, before).value;

const before = checked({ version: 1, items: [{ id: 'a', text: 'Tea', kind: 'fact' }] });

describe('a document as it will be read', () => {
  it('is what it is for the next reader, whatever was given for a new element', () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what no type lets pass, JavaScript does
    const odd = { id: 'b', text: 'Kite', kind: undefined, other: 1 } as unknown as Notes['items'][number];
    const { items } = checked({ ...before, items: [...before.items, odd] }, before);
    expect(items).toStrictEqual([...before.items, { id: 'b', text: 'Kite', kind: 'fact' }]);
  });

  it('keeps a list that reads back as it was given, and nobody can change it any more', () => {
    const given = [...before.items, { id: 'b', text: 'Kite', kind: 'fact' }];
    const { items } = checked({ ...before, items: given }, before);
    expect(items).toBe(given);
    expect(Object.isFrozen(items) && items.every((item) => Object.isFrozen(item))).toBe(true);
  });
});
