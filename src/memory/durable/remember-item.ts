import { hasUnknownReaders, type Place } from '../../core/place.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import { flatten, normalizeText } from '../../core/text.ts';
import { isWider, visibilityOf } from '../../core/visibility.ts';
import {
  byAge,
  itemId,
  mayUseItem,
  sourceIn,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
  type ItemKind,
  type ItemSourceType,
} from './document.ts';
import { deprecateItems } from './items.ts';
import { findGone } from './past.ts';

/** Something to remember, said by its owner in `place`. */
export interface RememberRequest {
  readonly text: string;
  /** Default: fact. */
  readonly kind?: ItemKind;
  readonly place: Place;
  /** The message or interaction that said it. */
  readonly messageId: string;
  readonly type: ItemSourceType;
  /** The id of an active item, usable in `place`, that this one corrects [D6]. */
  readonly replaces?: string;
  /** The newest message of the turn in which the model asks for it. What that turn itself forgot does not stand against it. */
  readonly turnMessageId?: string;
}

/** Why nothing was stored. `forgotten`: its owner has forgotten it, or used `forget` after saying it, or the message was withdrawn. */
export type RefusalReason = 'empty' | 'too-long' | 'full' | 'forgotten' | 'unknown-id';

export type RememberOutcome =
  | {
      readonly outcome: 'stored' | 'refreshed' | 'revived';
      readonly item: DurableItem;
      /** What had to go for it [D3]; not all of it may be named in the place. */
      readonly evicted: readonly DurableItem[];
      readonly superseded?: DurableItem;
    }
  | { readonly outcome: 'refused'; readonly reason: RefusalReason };

interface RememberLimits {
  /** Active items at most [D3]. */
  readonly maxItems: number;
  /** Characters of a text at most. */
  readonly maxTextLength: number;
}

/** Adds, refreshes or revives an item of `ownerId`, with all that follows from it. A refusal leaves the document as it was. */
export function rememberItem(
  document: DurableDocument,
  ownerId: string,
  request: RememberRequest,
  limits: RememberLimits,
  now: Date,
): DocumentChange<RememberOutcome> {
  const refused = (reason: RefusalReason) => ({ document, result: { outcome: 'refused', reason } }) as const;

  const text = request.text.trim();
  if (flatten(text) === '') return refused('empty');
  if (text.length > limits.maxTextLength) return refused('too-long');
  if (saidBeforeForget(document, request)) return refused('forgotten');
  const { replaces, place } = request;
  if (replaces !== undefined && !isUsable(document, ownerId, replaces, place)) return refused('unknown-id');

  const gone = findGone(document, text);
  if (gone !== undefined && request.type !== 'manual') return refused('forgotten');
  const asked = gone === undefined ? { ...request, text } : { kind: gone.kind, ...request, text };
  const added = addItem(document.items, asked, gone !== undefined, now);
  if (added === undefined) return refused('forgotten');
  const { items, superseded } =
    replaces === undefined
      ? { items: added.items, superseded: undefined }
      : supersedeItem(added.items, replaces, added.id, now);
  const eviction =
    added.outcome === 'refreshed'
      ? { items, deprecated: [] }
      : evictItems(items, added.id, limits.maxItems, now);
  const item = eviction?.items.find(({ id }) => id === added.id);
  if (eviction === undefined || item === undefined) return refused('full');
  return {
    document: { ...(gone?.without ?? document), items: eviction.items },
    result: {
      outcome: added.outcome,
      item,
      evicted: eviction.deprecated,
      ...(superseded === undefined ? {} : { superseded }),
    },
  };
}

/**
 * Whether something extracted was said before its owner used `forget` [A4]. A person may forget and correct in one breath, so the
 * model may still store from the very turn in which it was asked to forget.
 */
function saidBeforeForget(document: DurableDocument, request: RememberRequest): boolean {
  const { forgottenUpTo } = document;
  if (request.type === 'manual' || forgottenUpTo === undefined) return false;
  if (forgottenUpTo === request.turnMessageId) return false;
  return compareSnowflakes(request.messageId, forgottenUpTo) <= 0;
}

function isUsable(document: DurableDocument, ownerId: string, id: string, place: Place): boolean {
  return document.items.some(
    (item) => item.id === id && item.status === 'active' && mayUseItem(item, ownerId, place),
  );
}

interface Added {
  readonly outcome: 'stored' | 'refreshed' | 'revived';
  readonly id: string;
  readonly items: readonly DurableItem[];
}

/**
 * Puts an item among the others [D2]: the same text refreshes the item that has it now, and the person's own word revives a
 * deprecated one. `undefined` when something extracted would come back that way, unless it went only because its message did.
 */
function addItem(
  items: readonly DurableItem[],
  request: RememberRequest,
  wasGone: boolean,
  now: Date,
): Added | undefined {
  const normalized = normalizeText(request.text);
  const twins = items.filter((item) => normalizeText(item.text) === normalized);
  const active = twins.find((item) => item.status === 'active');
  if (active !== undefined) return put('refreshed', items, active, refreshed(active, request, now));
  const past = twins.at(-1);
  if (past === undefined) {
    const item = created(items, request, now);
    return { outcome: wasGone ? 'revived' : 'stored', id: item.id, items: [...items, item] };
  }
  if (request.type !== 'manual' && !twins.every(mayBeSaidAgain)) return undefined;
  return put('revived', items, past, revived(past, request, now));
}

function put(
  outcome: Added['outcome'],
  items: readonly DurableItem[],
  old: DurableItem,
  item: DurableItem,
): Added {
  return { outcome, id: item.id, items: items.map((each) => (each === old ? item : each)) };
}

function created(items: readonly DurableItem[], request: RememberRequest, now: Date): DurableItem {
  const at = now.toISOString();
  return {
    id: itemId(request.text, (id) => items.some((item) => item.id === id)),
    kind: request.kind ?? 'fact',
    text: request.text,
    status: 'active',
    visibility: visibilityOf(request.place.audience),
    pinned: false,
    source: sourceIn(request.place, request.type, request.messageId),
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * The person saying it again in a place as wide or wider takes the item there, for its readers of now [V1] [V2a]; in a narrower place it stays
 * where it is, and is theirs from now on. Extraction only confirms what is there.
 */
function refreshed(item: DurableItem, request: RememberRequest, now: Date): DurableItem {
  const confirmed = { ...item, updatedAt: now.toISOString() };
  if (request.type !== 'manual') return confirmed;
  const visibility = visibilityOf(request.place.audience);
  if (isWider(item.visibility, hasUnknownReaders(request.place) ? 'dm' : visibility)) {
    return { ...confirmed, text: request.text, source: { ...item.source, type: 'manual' } };
  }
  const source = sourceIn(request.place, 'manual', request.messageId);
  return { ...confirmed, text: request.text, visibility, source };
}

/** Whether the item was withdrawn with its message, and not forgotten. */
function mayBeSaidAgain({ retracted, forgotten }: DurableItem): boolean {
  return retracted === true && forgotten !== true;
}

/** What was forgotten and is said again is as wide as the place it is said in now. */
function revived(item: DurableItem, request: RememberRequest, now: Date): DurableItem {
  const { supersededBy: _, forgotten: __, retracted: ___, ...kept } = item;
  return {
    ...kept,
    text: request.text,
    kind: request.kind ?? item.kind,
    status: 'active',
    visibility: visibilityOf(request.place.audience),
    source: sourceIn(request.place, request.type, request.messageId),
    updatedAt: now.toISOString(),
  };
}

/** Replaces an item by its correction [D6]: the old one becomes history that names the new one, which is pinned if the old one was. */
function supersedeItem(
  items: readonly DurableItem[],
  oldId: string,
  newId: string,
  now: Date,
): { readonly items: readonly DurableItem[]; readonly superseded: DurableItem | undefined } {
  const old = items.find((item) => item.id === oldId && item.status === 'active');
  if (old === undefined || oldId === newId) return { items, superseded: undefined };
  const superseded: DurableItem = {
    ...old,
    status: 'deprecated',
    supersededBy: newId,
    updatedAt: now.toISOString(),
  };
  return {
    items: items.map((item) => {
      if (item === old) return superseded;
      return item.id === newId && old.pinned ? { ...item, pinned: true } : item;
    }),
    superseded,
  };
}

/**
 * Brings the active items down to `maxItems` [D3]: the oldest unpinned extracted ones go first, then the oldest unpinned manual
 * ones, never a pinned one and never the one just added. `undefined` when that is not enough.
 */
function evictItems(
  items: readonly DurableItem[],
  addedId: string,
  maxItems: number,
  now: Date,
): ReturnType<typeof deprecateItems> | undefined {
  const active = items.filter((item) => item.status === 'active');
  const surplus = active.length - maxItems;
  if (surplus <= 0) return { items, deprecated: [] };
  const candidates = active
    .filter((item) => !item.pinned && item.id !== addedId)
    .toSorted((a, b) => Number(isManual(a)) - Number(isManual(b)) || byAge(a, b));
  if (candidates.length < surplus) return undefined;
  const leaving = new Set(candidates.slice(0, surplus).map((item) => item.id));
  return deprecateItems(items, (item) => leaving.has(item.id), now);
}

function isManual(item: DurableItem): boolean {
  return item.source.type === 'manual';
}
