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
  return { document: deprecated.length === 0 ? document : { ...document, items }, result: deprecated };
}
