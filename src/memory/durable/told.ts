import { markOf, type Withheld } from '../withheld.ts';
import { laterSnowflake, type DurableDocument, type DurableItem } from './document.ts';
import { forgottenItem } from './items.ts';

/**
 * A document as its owner may see it while something is withheld: as if that were forgotten for good. `stored` is what
 * is to be stored of it once it was changed: what is withheld stays as it is, unless it is said again.
 */
export function toldDocument(
  document: DurableDocument,
  withheld: Withheld | undefined,
): { readonly document: DurableDocument; stored(changed: DurableDocument): DurableDocument } {
  if (withheld === undefined || withheld.records.length === 0)
    return { document, stored: (changed) => changed };
  const originals = new Map<DurableItem, DurableItem>();
  const items = document.items.map((item) => {
    if (!withheld.hasItem(markOf(item))) return item;
    const form = forgottenItem(item, new Date(item.updatedAt));
    originals.set(form, item);
    return form;
  });
  const commands = withheld.records.flatMap(({ change, items: marks }) =>
    change.kind === 'forgotten' && marks.length > 0 ? change.commandId : [],
  );
  const forgottenUpTo = laterSnowflake(document.forgottenUpTo, ...commands);
  const visible = { ...document, items, forgottenUpTo };
  const byId = new Map(Array.from(originals.values(), (item) => [item.id, item]));

  function stored(item: DurableItem): DurableItem {
    const original = originals.get(item);
    if (original !== undefined) return original;
    const before = byId.get(item.id);
    // Said again just as it was, it would go on being withheld.
    return before !== undefined && markOf(before) === markOf(item)
      ? { ...item, updatedAt: new Date(Date.parse(item.updatedAt) + 1).toISOString() }
      : item;
  }

  return {
    document: visible,
    stored: (changed) =>
      changed === visible
        ? document
        : {
            ...changed,
            items: changed.items.map(stored),
            forgottenUpTo:
              changed.forgottenUpTo === visible.forgottenUpTo
                ? document.forgottenUpTo
                : changed.forgottenUpTo,
          },
  };
}
