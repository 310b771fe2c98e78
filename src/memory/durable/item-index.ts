import { changedPart, noteChangedPart } from '../../core/store.ts';
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

const indexes = new WeakMap<readonly DurableItem[], Index>();

/** The index of a list of items, which never changes. It is made anew only where none was passed on. */
export function indexOf(items: readonly DurableItem[]): ItemIndex {
  const known = indexes.get(items);
  if (known !== undefined) return known;
  const made = new Index();
  made.apply({ added: items });
  indexes.set(items, made);
  return made;
}

/** The list as it is after a change, with the index of the one before; the very same where nothing changes. */
export function changedItems(items: readonly DurableItem[], change: ListChange): readonly DurableItem[] {
  const { replaced = [], removed = [], added = [] } = change;
  if (replaced.length + removed.length + added.length === 0) return items;
  const changed = [...items, ...added];
  const places = replaced.map(([old, item]) => {
    const at = items.indexOf(old);
    changed[at] = item;
    return at;
  });
  for (const item of removed) changed.splice(changed.indexOf(item), 1);
  if (removed.length === 0) {
    const start = Math.min(items.length, ...places);
    const kept = added.length > 0 ? 0 : items.length - 1 - Math.max(...places);
    noteChangedPart(items, changed, { start, kept });
  }
  passOn(items, changed, change);
  return changed;
}

/** Passes the index of a list on to what the store has made of it. Items that stayed as they are should be the very same objects. */
export function passIndexOn(before: readonly DurableItem[], after: readonly DurableItem[]): void {
  if (before !== after && indexes.has(before)) passOn(before, after, changeBetween(before, after));
}

function passOn(before: readonly DurableItem[], after: readonly DurableItem[], change: ListChange): void {
  const index = indexes.get(before);
  if (index === undefined) return;
  index.apply(change);
  indexes.delete(before);
  indexes.set(after, index);
}

function changeBetween(before: readonly DurableItem[], after: readonly DurableItem[]): ListChange {
  const replaced: Replaced[] = [];
  const removed: DurableItem[] = [];
  const added: DurableItem[] = [];
  const { start, kept } = changedPart(before, after);
  const former = before.slice(start, before.length - kept);
  let at = 0;
  for (const item of after.slice(start, after.length - kept)) {
    let old = former[at];
    while (old !== undefined && old !== item && old.id !== item.id) {
      removed.push(old);
      at += 1;
      old = former[at];
    }
    at += 1;
    if (old === undefined) added.push(item);
    else if (old !== item) replaced.push([old, item]);
  }
  return { replaced, removed: [...removed, ...former.slice(at)], added };
}

class Index implements ItemIndex {
  readonly #byId = new Map<string, DurableItem>();
  readonly #byText = new Map<string, readonly DurableItem[]>();
  readonly #deprecated = new Set<DurableItem>();
  /** Where items stand in the list: the higher the later. */
  readonly #positions = new Map<DurableItem, number>();
  #nextPosition = 0;
  /** All that may have to make room, in their order; sorted when first asked for. */
  #leaving: DurableItem[] | undefined;

  get activeCount(): number {
    return this.#positions.size - this.#deprecated.size;
  }

  withId(id: string): DurableItem | undefined {
    return this.#byId.get(id);
  }

  withText(text: string): readonly DurableItem[] {
    return this.#inOrder(this.#byText.get(sameItemForm(text)) ?? []);
  }

  deprecated(): readonly DurableItem[] {
    return this.#inOrder([...this.#deprecated]);
  }

  firstToLeave(count: number, except: ReadonlySet<string | undefined>): readonly DurableItem[] {
    this.#leaving ??= [...this.#positions.keys()].filter(mayLeave).toSorted((a, b) => this.#compare(a, b));
    const first: DurableItem[] = [];
    for (const item of this.#leaving) {
      if (first.length === count) break;
      if (!except.has(item.id)) first.push(item);
    }
    return this.#inOrder(first);
  }

  apply({ replaced = [], removed = [], added = [] }: ListChange): void {
    for (const [old, item] of replaced) this.#add(item, this.#remove(old));
    for (const item of removed) this.#remove(item);
    for (const item of added) this.#add(item, (this.#nextPosition += 1));
  }

  #add(item: DurableItem, position: number): void {
    this.#positions.set(item, position);
    this.#byId.set(item.id, item);
    const text = sameItemForm(item.text);
    this.#byText.set(text, [...(this.#byText.get(text) ?? []), item]);
    if (item.status === 'deprecated') this.#deprecated.add(item);
    else if (mayLeave(item)) this.#leaving?.splice(this.#placeOf(item), 0, item);
  }

  /** Returns where it stood. */
  #remove(item: DurableItem): number {
    const position = this.#positionOf(item);
    if (mayLeave(item)) this.#leaving?.splice(this.#placeOf(item), 1);
    this.#positions.delete(item);
    this.#byId.delete(item.id);
    const text = sameItemForm(item.text);
    const others = this.#byText.get(text)?.filter((each) => each !== item) ?? [];
    if (others.length > 0) this.#byText.set(text, others);
    else this.#byText.delete(text);
    this.#deprecated.delete(item);
    return position;
  }

  /** Where an item stands among those that may have to make room, or would. */
  #placeOf(item: DurableItem): number {
    const leaving = this.#leaving ?? [];
    let first = 0;
    let last = leaving.length;
    while (first < last) {
      const middle = (first + last) >>> 1;
      const other = leaving[middle];
      if (other !== undefined && this.#compare(other, item) < 0) first = middle + 1;
      else last = middle;
    }
    return first;
  }

  #compare(a: DurableItem, b: DurableItem): number {
    return (
      Number(isManual(a)) - Number(isManual(b)) || byAge(a, b) || this.#positionOf(a) - this.#positionOf(b)
    );
  }

  #positionOf(item: DurableItem): number {
    return this.#positions.get(item) ?? 0;
  }

  #inOrder(items: readonly DurableItem[]): readonly DurableItem[] {
    return items.length < 2 ? items : items.toSorted((a, b) => this.#positionOf(a) - this.#positionOf(b));
  }
}

function mayLeave({ status, pinned }: DurableItem): boolean {
  return status === 'active' && !pinned;
}

function isManual({ source }: DurableItem): boolean {
  return source.type === 'manual';
}
