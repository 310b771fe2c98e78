import { hasUnknownReaders } from '../../core/place.ts';
import { limits } from '../../core/limits.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import { explicitVisibilityOf, isWider, visibilityOf, type Visibility } from '../../core/visibility.ts';
import {
  byAge,
  freeId,
  itemsWithWording,
  proposedItems,
  sourceIn,
  textProblem,
  withItems,
  wordingOf,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
  type ItemKind,
  type ItemSource,
  type Replaced,
  type Utterance,
  type TextProblem,
} from './document.ts';
import { openItem, reworded } from './edit-items.ts';
import { deprecatedItem, goneKind, supersede, withoutProposals } from './items.ts';

/** How long a proposal waits for its person [K9]; milliseconds. */
export const proposalForMs = 7 * 24 * 60 * 60_000;

/** Something to remember, said by its owner in `place`. */
export interface RememberRequest extends Utterance, Pick<DurableItem, 'when' | 'looksBack'> {
  /** As in `DurableItem`. */
  readonly question?: string | undefined;
  /** Default: fact. */
  readonly kind?: ItemKind;
  readonly type: ItemSource['type'];
  /** It was heard in a voice message: its owner is asked first [G7]. */
  readonly heard?: true | undefined;
  /** The token of the other assistant that proposed it [EW3]. */
  readonly assistant?: string | undefined;
  /** The id of an active item, usable in `place`, that this one corrects [D6]. */
  readonly replaces?: string | undefined;
  /** The newest message of the turn: what that turn itself forgot does not stand against it. */
  readonly turnMessageId?: string;
  /** Its message is a list, of which more may be noticed [D3]. */
  readonly isOfList?: boolean;
  /**
   * The id of the proposal that its owner says yes to [K9], in its words or others: what they had forgotten since, in
   * other words, does not stand against it.
   */
  readonly accepts?: string;
  /** Whether the message still says it [A4], asked within the user's write, so it must not wait for another one. */
  readonly stillStands?: () => Promise<boolean>;
}

/**
 * Why nothing was stored. `secret`: it looks like a password, key, card or bank number [K14]. `forgotten`:
 * its owner forgot it, or used `forget` after saying it, or the message was withdrawn. `enough`: so much of its message
 * was noticed already.
 */
export type RefusalReason = TextProblem | 'full' | 'enough' | 'forgotten' | 'unknown-id';

export type RememberOutcome =
  | {
      readonly outcome: 'stored' | 'refreshed' | 'revived';
      readonly item: DurableItem;
      /** What had to go for it [D3]; not all of it may be named in the place. */
      readonly evicted: readonly DurableItem[];
      readonly superseded?: DurableItem | undefined;
      /** What it can be undone by [K5]. */
      readonly undoId?: string | undefined;
    }
  | { readonly outcome: 'refused'; readonly reason: RefusalReason };

export type ProposalOutcome =
  | RememberOutcome
  /** The person is asked first; `isKnown`: they have been already. */
  | { readonly outcome: 'proposed'; readonly proposed: DurableItem; readonly isKnown: boolean };

/** Asks before something is an item [K9]. What is known already, or would be refused, needs no asking. */
export function proposeItem(
  document: DurableDocument,
  ownerId: string,
  request: RememberRequest,
  maxItems: number,
  now: Date,
): DocumentChange<ProposalOutcome> {
  const { result: would } = rememberItem(document, ownerId, request, maxItems, now);
  if (would.outcome === 'refused' || would.outcome === 'refreshed') return { document, result: would };
  const waiting = proposedItems(document.items, now);
  const [known] = itemsWithWording(waiting, wordingOf(request));
  if (known !== undefined)
    return { document, result: { outcome: 'proposed', proposed: known, isKnown: true } };
  const proposed: DurableItem = {
    ...would.item,
    status: 'proposed',
    pinned: false,
    goesAt: new Date(now.getTime() + proposalForMs).toISOString(),
    replaces: request.replaces,
  };
  const removed = waiting.slice(0, 1 - limits.proposals);
  return {
    document: withItems(document, { removed, added: [proposed] }),
    result: { outcome: 'proposed', proposed, isKnown: false },
  };
}

/** Adds, refreshes or revives an item, which answers a proposal of it. A refusal leaves the document as it was. */
export function rememberItem(
  stored: DurableDocument,
  ownerId: string,
  request: RememberRequest,
  maxItems: number,
  now: Date,
): DocumentChange<RememberOutcome> {
  const refused = (reason: RefusalReason) =>
    ({ document: stored, result: { outcome: 'refused', reason } }) as const;

  const text = request.text.trim();
  const problem = textProblem({ ...request, text });
  if (problem !== undefined) return refused(problem);
  const wording = wordingOf({ ...request, text });
  const document = withoutAnswered(stored, wording, request.accepts);
  if (isOlderThanForget(document, request)) return refused('forgotten');
  const { replaces, place } = request;
  const { items } = document;
  const corrected = replaces === undefined ? undefined : openItem(items, ownerId, replaces, place);
  if (replaces !== undefined && corrected === undefined) return refused('unknown-id');

  const gone = goneKind(document, wording);
  const added = addItem(items, { ...request, kind: request.kind ?? gone, text }, gone !== undefined, now);
  if (added === undefined) return refused('forgotten');
  const { old, outcome } = added;
  const isNoticed = outcome === 'stored' && request.type !== 'manual' && request.accepts === undefined;
  if (isNoticed && isEnough(items, request)) return refused('enough');
  const superseded = supersede(corrected, added.item.id, now);
  const item = superseded?.[1].pinned === true ? { ...added.item, pinned: true } : added.item;
  const evicted = outcome === 'refreshed' ? [] : evict(items, item, superseded, maxItems, now);
  if (evicted === undefined) return refused('full');
  const replaced: readonly Replaced[] = [
    ...(old === undefined ? [] : [[old, item] as const]),
    ...(superseded === undefined ? [] : [superseded]),
    ...evicted,
  ];
  return {
    document: withItems(document, { replaced, added: old === undefined ? [item] : [] }),
    result: {
      outcome,
      item,
      evicted: evicted.map(([, past]) => past),
      superseded: superseded?.[1],
    },
  };
}

/** Without the proposals that are answered by this wording, or accepted in it. */
function withoutAnswered(
  document: DurableDocument,
  wording: string,
  accepts: string | undefined,
): DurableDocument {
  const same = new Set(itemsWithWording(document.items, wording));
  return withoutProposals(document, (item) => item.id === accepts || same.has(item));
}

/** Whether no more of a message is noticed, by tool or extraction [D3]. */
function isEnough(
  items: readonly DurableItem[],
  { messageId, isOfList }: Pick<RememberRequest, 'messageId' | 'isOfList'>,
): boolean {
  const noticed = items.filter(
    ({ status, source }) => status !== 'deprecated' && source.messageId === messageId,
  );
  return noticed.length >= (isOfList === true ? 10 : 3);
}

/**
 * Whether something extracted was said before its owner used `forget` [A4]. A person may forget and correct in one
 * breath, so the turn itself may still store.
 */
function isOlderThanForget(document: DurableDocument, request: RememberRequest): boolean {
  const { forgottenUpTo: mark } = document;
  if (request.type === 'manual' || request.accepts !== undefined || mark === undefined) return false;
  return mark !== request.turnMessageId && compareSnowflakes(request.messageId, mark) <= 0;
}

interface Added {
  readonly outcome: 'stored' | 'refreshed' | 'revived';
  readonly item: DurableItem;
  /** What it takes the place of; absent where it comes after all others. */
  readonly old: DurableItem | undefined;
}

/**
 * The same text refreshes its item, and the person's own word revives a deprecated one [D2]. `undefined` when
 * something extracted would come back.
 */
function addItem(
  items: readonly DurableItem[],
  request: RememberRequest,
  wasGone: boolean,
  now: Date,
): Added | undefined {
  const twins = itemsWithWording(items, wordingOf(request));
  const noticed = request.type === 'manual' ? [] : itemsWithWording(items, wordingOf(withoutLeadIn(request)));
  const active = [...twins, ...noticed].find((item) => item.status === 'active');
  if (active !== undefined)
    return { outcome: 'refreshed', item: refreshed(active, request, now), old: active };
  const past = twins.at(-1);
  if ((wasGone || past !== undefined) && request.type !== 'manual') return undefined;
  if (past === undefined)
    return { outcome: wasGone ? 'revived' : 'stored', item: created(items, request, now), old: undefined };
  return { outcome: 'revived', item: revived(past, request, now), old: past };
}

/** "Well, I live in Porto!" only confirms "I live in Porto" [D2]. */
function withoutLeadIn<Item extends Pick<DurableItem, 'text' | 'question'>>(item: Item): Item {
  return { ...item, text: item.text.replace(/^(?:[^\s,]+\s+){0,2}[^\s,]+,\s+/u, '') };
}

function created(items: readonly DurableItem[], request: RememberRequest, now: Date): DurableItem {
  const at = now.toISOString();
  return {
    id: freeId(wordingOf(request), items),
    kind: request.kind ?? 'fact',
    text: request.text,
    question: request.question,
    when: request.when,
    looksBack: request.looksBack,
    status: 'active',
    visibility: visibilityFor(request),
    pinned: false,
    source: {
      ...sourceIn(request.place, request.type, request.messageId, request.heard),
      assistant: request.assistant,
    },
    createdAt: at,
    updatedAt: at,
  };
}

/** Asked for in public it is for everywhere; noticed there, for that server [V1]. */
function visibilityFor({ type, accepts, place }: RememberRequest): Visibility {
  return type === 'manual' && accepts === undefined
    ? explicitVisibilityOf(place.audience)
    : visibilityOf(place.audience);
}

/**
 * Said again in a place as wide, or in another server, it goes there, for its readers of now [V1] [V2a]; in a narrower
 * place it stays. Extraction only confirms.
 */
function refreshed(item: DurableItem, request: RememberRequest, now: Date): DurableItem {
  const updatedAt = now.toISOString();
  const { when, looksBack } = request;
  if (request.type !== 'manual') return { ...item, when, looksBack, updatedAt };
  const confirmed = { ...reworded(item, request), updatedAt };
  const { place } = request;
  const visibility = visibilityFor(request);
  const isOfOtherServer =
    item.visibility === 'server' && place.audience !== 'dm' && item.source.guildId !== place.guildId;
  const narrowest = hasUnknownReaders(place) ? 'dm' : visibility;
  if (isWider(item.visibility, narrowest) && (!isOfOtherServer || narrowest === 'dm')) {
    return { ...confirmed, source: { ...item.source, type: 'manual' } };
  }
  const source = sourceIn(place, 'manual', request.messageId);
  return { ...confirmed, visibility, source };
}

/** What was forgotten and is said again is as wide as the place it is said in now. */
function revived(item: DurableItem, request: RememberRequest, now: Date): DurableItem {
  const { id, kind, createdAt } = item;
  const again = created([], { ...request, kind: request.kind ?? kind }, now);
  return { ...item, ...again, id, createdAt, supersededBy: undefined, forgotten: undefined };
}

/**
 * Evicts the oldest unpinned extracted items, then manual ones, down to `maxItems` [D3]. `undefined` when that is not
 * enough.
 */
function evict(
  items: readonly DurableItem[],
  added: DurableItem,
  superseded: Replaced | undefined,
  maxItems: number,
  now: Date,
): readonly Replaced[] | undefined {
  const active = items.filter(({ status }) => status === 'active');
  const surplus = active.length + (superseded === undefined ? 1 : 0) - maxItems;
  if (surplus <= 0) return [];
  const staying = new Set([added.id, superseded?.[0].id]);
  const leaving = active
    .filter(({ id, pinned }) => !pinned && !staying.has(id))
    .toSorted((a, b) => Number(isManual(a)) - Number(isManual(b)) || byAge(a, b))
    .slice(0, surplus);
  if (leaving.length < surplus) return undefined;
  const first = new Set(leaving);
  return active.flatMap((item) => (first.has(item) ? [[item, deprecatedItem(item, now)] as const] : []));
}

function isManual({ source }: DurableItem): boolean {
  return source.type === 'manual';
}
