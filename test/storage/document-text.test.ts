import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { checkedDocument } from '../../src/storage/document-text.ts';

const schema = z.object({
  version: z.literal(1),
  items: z.array(z.object({ id: z.string(), text: z.string(), kind: z.string().default('fact') })),
});
type Notes = z.infer<typeof schema>;
const kind = { version: 1, schema };
const checked = (next: Notes): Notes => checkedDocument('notes.json', kind, next);

const before = checked({ version: 1, items: [{ id: 'a', text: 'Tea', kind: 'fact' }] });

describe('a document as it will be read', () => {
  it('is what the next reader gets, however a new element was given', () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what no type lets pass, JavaScript does
    const odd = { id: 'b', text: 'Kite', kind: undefined, other: 1 } as unknown as Notes['items'][number];
    const { items } = checked({ ...before, items: [...before.items, odd] });
    expect(items).toStrictEqual([...before.items, { id: 'b', text: 'Kite', kind: 'fact' }]);
  });

  it('is frozen', () => {
    const { items } = checked({ ...before, items: [{ id: 'b', text: 'Kite', kind: 'fact' }] });
    expect(Object.isFrozen(items) && items.every((item) => Object.isFrozen(item))).toBe(true);
  });
});
