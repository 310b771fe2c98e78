import type { Place } from '../../core/place.ts';
import { normalizeText } from '../../core/text.ts';
import { isWider, visibilityOf } from '../../core/visibility.ts';
import type { DurableItem, ItemKind, ItemSourceType } from './durable-document.ts';
import { itemId } from './item-id.ts';
import { sourceIn } from './item-place.ts';

interface Addition {
  readonly text: string;
  readonly kind?: ItemKind;
  readonly place: Place;
  readonly messageId: string;
  readonly type: ItemSourceType;
}

export interface Added {
  readonly outcome: 'stored' | 'refreshed' | 'revived';
  readonly id: string;
  readonly items: readonly DurableItem[];
}

/**
 * Puts an item among the others [D2]: the same text refreshes the item that has it now, and the person's own word revives a
 * deprecated one. `undefined` when something extracted would come back that way, unless it went only because its message did.
 */
export function addItem(items: readonly DurableItem[], addition: Addition, now: Date): Added | undefined {
  const normalized = normalizeText(addition.text);
  const twins = items.filter((item) => normalizeText(item.text) === normalized);
  const active = twins.find((item) => item.status === 'active');
  if (active !== undefined) return put('refreshed', items, active, refreshed(active, addition, now));
  const past = twins.at(-1);
  if (past === undefined) {
    const item = created(items, addition, now);
    return { outcome: 'stored', id: item.id, items: [...items, item] };
  }
  if (addition.type !== 'manual' && !twins.every(mayBeSaidAgain)) return undefined;
  return put('revived', items, past, revived(past, addition, now));
}

function put(
  outcome: Added['outcome'],
  items: readonly DurableItem[],
  old: DurableItem,
  item: DurableItem,
): Added {
  return { outcome, id: item.id, items: items.map((each) => (each === old ? item : each)) };
}

function created(items: readonly DurableItem[], addition: Addition, now: Date): DurableItem {
  const at = now.toISOString();
  return {
    id: itemId(addition.text, (id) => items.some((item) => item.id === id)),
    kind: addition.kind ?? 'fact',
    text: addition.text,
    status: 'active',
    visibility: visibilityOf(addition.place.audience),
    pinned: false,
    source: sourceIn(addition.place, addition.type, addition.messageId),
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * The person saying it again in a place as wide or wider takes the item there [V1]; in a narrower place it stays where it is, and
 * is theirs from now on. Extraction only confirms what is there.
 */
function refreshed(item: DurableItem, addition: Addition, now: Date): DurableItem {
  const confirmed = { ...item, updatedAt: now.toISOString() };
  if (addition.type !== 'manual') return confirmed;
  const visibility = visibilityOf(addition.place.audience);
  if (isWider(item.visibility, visibility)) {
    return { ...confirmed, text: addition.text, source: { ...item.source, type: 'manual' } };
  }
  const source = sourceIn(addition.place, 'manual', addition.messageId);
  return { ...confirmed, text: addition.text, visibility, source };
}

/** Whether nobody but the message itself took the item back. */
function mayBeSaidAgain({ retracted, forgotten }: DurableItem): boolean {
  return retracted === true && forgotten !== true;
}

/** What was forgotten and is said again is as wide as the place it is said in now. */
function revived(item: DurableItem, addition: Addition, now: Date): DurableItem {
  const { supersededBy: _, forgotten: __, retracted: ___, ...kept } = item;
  return {
    ...kept,
    text: addition.text,
    kind: addition.kind ?? item.kind,
    status: 'active',
    visibility: visibilityOf(addition.place.audience),
    source: sourceIn(addition.place, addition.type, addition.messageId),
    updatedAt: now.toISOString(),
  };
}
