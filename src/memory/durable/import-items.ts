import { sameItemForm } from '../../core/text.ts';
import {
  activeInOrder,
  itemId,
  textProblem,
  withItems,
  wordingOf,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
  type Replaced,
  type TextProblem,
} from './document.ts';
import { itemHistories } from './items.ts';

/** Why an item is not imported; `full`: as many as fit are there. */
export type ImportRefusal = TextProblem | 'full';

export interface ImportResult {
  /** The newest first, as in a list of what is remembered. */
  readonly added: readonly DurableItem[];
  /** How many are remembered already, or stand in the file twice. */
  readonly known: number;
  readonly refused: Readonly<Record<ImportRefusal, number>>;
}

/**
 * Adds an export's items with what they corrected [K10] [D6]. What is there stays, nothing makes way, and what was
 * forgotten comes back [D2]. Where not all fit, the pinned and newest do.
 */
export function importItems(
  document: DurableDocument,
  items: readonly DurableItem[],
  maxItems: number,
): DocumentChange<ImportResult> {
  /** By its wording, the last item that is there. */
  const present = new Map(document.items.map((item) => [formOf(item), item]));
  const active = document.items.filter(({ status }) => status === 'active');
  const activeForms = new Set(active.map(formOf));
  const refused = { empty: 0, 'too-long': 0, secret: 0, full: 0 };
  const seen = new Set<string>();
  const accepted = new Set<DurableItem>();
  let known = 0;
  for (const item of activeInOrder(items)) {
    const form = formOf(item);
    const reason = textProblem(item);
    if (reason !== undefined) refused[reason] += 1;
    else if (seen.has(form) || activeForms.has(form)) known += 1;
    else if (active.length + accepted.size >= maxItems) refused.full += 1;
    else accepted.add(item);
    seen.add(form);
  }
  const histories = itemHistories(items);
  const earlier = [...accepted]
    .flatMap(({ id }) => histories.get(id) ?? [])
    .filter(
      (item) => item.forgotten === undefined && textProblem(item) === undefined && !present.has(formOf(item)),
    );
  const stored = withOwnIds([...earlier, ...accepted], document.items);
  const added = [...accepted].flatMap((item) => stored.get(item) ?? []);
  const replaced = added.flatMap((item): readonly Replaced[] => {
    const past = present.get(formOf(item));
    return past === undefined ? [] : [[past, item]];
  });
  const taking = new Set(replaced.map(([, item]) => item));
  const others = items.flatMap((item) => stored.get(item) ?? []).filter((item) => !taking.has(item));
  return {
    document: withItems(document, { replaced, added: others }),
    result: { added, known, refused },
  };
}

function formOf(item: DurableItem): string {
  return sameItemForm(wordingOf(item));
}

/** The items as stored: with their own ids if free, or that of the forgotten item that they bring back. */
function withOwnIds(
  items: readonly DurableItem[],
  present: readonly DurableItem[],
): ReadonlyMap<DurableItem, DurableItem> {
  const ids = new Map<string, string>();
  const lastWithForm = new Map(present.map((item) => [formOf(item), item.id]));
  const taken = new Set(present.map(({ id }) => id));
  const isTaken = (id: string): boolean => taken.has(id);
  for (const item of items) {
    const { id } = item;
    const free = isTaken(id) ? itemId(wordingOf(item), isTaken) : id;
    const own = lastWithForm.get(formOf(item)) ?? free;
    ids.set(id, own);
    taken.add(own);
  }
  return new Map(
    items.map((item) => {
      const { id, text, supersededBy = '' } = item;
      const stored = {
        ...item,
        id: ids.get(id) ?? id,
        text: text.trim(),
        supersededBy: ids.get(supersededBy),
      };
      return [item, stored];
    }),
  );
}
