import type { Place } from '../../core/place.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import { flatten } from '../../core/text.ts';
import { addItem } from './add-item.ts';
import type { DurableDocument, DurableItem, ItemKind, ItemSourceType } from './durable-document.ts';
import { evictItems } from './evict-items.ts';
import { mayUseItem } from './item-place.ts';
import { supersedeItem } from './supersede-item.ts';

/** Something to remember, said by its owner in `place`. */
export interface Remembering {
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

/** Why nothing was stored. `forgotten`: its owner has forgotten it, or used `forget` after saying it, or took the message back. */
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

export interface RememberLimits {
  /** Active items at most [D3]. */
  readonly maxItems: number;
  /** Characters of a text at most. */
  readonly maxTextLength: number;
}

/** Adds, refreshes or revives an item of `ownerId`, with all that follows from it. A refusal leaves the document as it was. */
export function rememberItem(
  document: DurableDocument,
  ownerId: string,
  remembering: Remembering,
  limits: RememberLimits,
  now: Date,
): { readonly document: DurableDocument; readonly result: RememberOutcome } {
  const refused = (reason: RefusalReason) => ({ document, result: { outcome: 'refused', reason } }) as const;

  const text = remembering.text.trim();
  if (flatten(text) === '') return refused('empty');
  if (text.length > limits.maxTextLength) return refused('too-long');
  if (saidBeforeForget(document, remembering)) return refused('forgotten');
  const { replaces, place } = remembering;
  if (replaces !== undefined && !isUsable(document, ownerId, replaces, place)) return refused('unknown-id');

  const added = addItem(document.items, { ...remembering, text }, now);
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
    document: { ...document, items: eviction.items },
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
function saidBeforeForget(document: DurableDocument, remembering: Remembering): boolean {
  const { forgottenUpTo } = document;
  if (remembering.type === 'manual' || forgottenUpTo === undefined) return false;
  if (forgottenUpTo === remembering.turnMessageId) return false;
  return compareSnowflakes(remembering.messageId, forgottenUpTo) <= 0;
}

function isUsable(document: DurableDocument, ownerId: string, id: string, place: Place): boolean {
  return document.items.some(
    (item) => item.id === id && item.status === 'active' && mayUseItem(item, ownerId, place),
  );
}
