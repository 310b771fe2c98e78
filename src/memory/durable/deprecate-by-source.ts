import { deprecateItems } from './deprecate-items.ts';
import type { DurableDocument, DurableItem } from './durable-document.ts';

/**
 * Takes what was extracted from deleted or edited messages out of use [G5], but for what an edited message still supports.
 * What a person asked to remember stays.
 */
export function deprecateBySource(
  document: DurableDocument,
  messageIds: readonly string[],
  stillSupported: (item: DurableItem) => boolean,
  now: Date,
): { readonly document: DurableDocument; readonly result: readonly DurableItem[] } {
  const { items, deprecated } = deprecateItems(
    document.items,
    (item) =>
      item.source.type !== 'manual' && messageIds.includes(item.source.messageId) && !stillSupported(item),
    now,
  );
  if (deprecated.length === 0) return { document, result: deprecated };
  const retracted = new Set(deprecated);
  return {
    document: {
      ...document,
      items: items.map((item) => (retracted.has(item) ? { ...item, retracted: true } : item)),
    },
    result: deprecated,
  };
}
