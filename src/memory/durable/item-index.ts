import { sameItemForm } from '../../core/text.ts';
import { byAge, type DurableItem } from './document.ts';

/** What can be looked up among the items of one person. */
export interface ItemIndex {
  readonly activeCount: number;
  withId(id: string): DurableItem | undefined;
  /** Those of the same text [D2], in the order of the list. */
  withText(text: string): readonly DurableItem[];
  /** Those no longer in use, in the order of the list. */
  deprecated(): readonly DurableItem[];
  /** The first active ones that may have to make room [D3], but for those with these ids: extracted before manual ones, the oldest first, pinned ones never. */
  firstToLeave(count: number, except: ReadonlySet<string | undefined>): readonly DurableItem[];
}

/** An item and what takes its place. */
export type Replaced = readonly [old: DurableItem, item: DurableItem];

/** What becomes of a list of items. */
interface ListChange {
  readonly replaced?: readonly Replaced[];
  readonly removed?: readonly DurableItem[];
  /** What comes behind all others. */
  readonly added?: readonly DurableItem[];
}

export function indexOf(items: readonly DurableItem[]): ItemIndex {
  const byId = new Map(items.map((item) => [item.id, item]));
  let forms: readonly string[] | undefined;
  return {
    activeCount: items.filter(({ status }) => status === 'active').length,
    withId: (id) => byId.get(id),
    withText(text) {
      forms ??= items.map((item) => sameItemForm(item.text));
      const wanted = sameItemForm(text);
      return items.filter((_, index) => forms?.[index] === wanted);
    },
    deprecated: () => items.filter(({ status }) => status === 'deprecated'),
    firstToLeave(count, except) {
      const leaving = items.filter((item) => mayLeave(item) && !except.has(item.id));
      const sorted = leaving.toSorted((a, b) => Number(isManual(a)) - Number(isManual(b)) || byAge(a, b));
      const first = new Set(sorted.slice(0, count));
      return items.filter((item) => first.has(item));
    },
  };
}

/** The list as it is after a change; the very same where nothing changes. */
export function changedItems(items: readonly DurableItem[], change: ListChange): readonly DurableItem[] {
  const { replaced = [], removed = [], added = [] } = change;
  if (replaced.length + removed.length + added.length === 0) return items;
  const successors = new Map(replaced);
  const gone = new Set(removed);
  const kept = items.filter((item) => !gone.has(item)).map((item) => successors.get(item) ?? item);
  return [...kept, ...added];
}

function mayLeave({ status, pinned }: DurableItem): boolean {
  return status === 'active' && !pinned;
}

function isManual({ source }: DurableItem): boolean {
  return source.type === 'manual';
}
