import { measure } from '../../core/logger.ts';
import type { Place } from '../../core/place.ts';
import { isSnowflake, snowflakeTime } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import { createTimeSlice, localDate } from '../../core/time.ts';
import type { Visibility } from '../../core/visibility.ts';
import type { Work } from '../../core/writes.ts';
import { personOf, type MemoryLayer, type Withdrawn } from '../layer.ts';
import type { MessagesByChannel } from '../undo.ts';
import {
  activeInOrder,
  durableDocumentKind,
  durableKey,
  mayUseItem,
  proposedItems,
  withItems,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { changedItem, confirmItems, editItem, keepOne } from './edit-items.ts';
import { askedIn, stillSays } from './evidence.ts';
import { readDay } from './item-day.ts';
import { importItems, type ImportResult } from './import-items.ts';
import {
  findItems,
  forgetChosen,
  isNoticed,
  itemHistories,
  itemsToForget,
  purgeSaying,
  removeBySource,
  removePast,
  withoutProposals,
  withBoundedPast,
  withoutQuestions,
  withTombstones,
  matchedWords,
  type ForgetResult,
  type ToForget,
} from './items.ts';
import {
  proposalForMs,
  proposeItem,
  rememberItem,
  type ProposalOutcome,
  type RememberOutcome,
  type RememberRequest,
} from './remember-item.ts';
import { reviewCards, type ReviewCard } from './review.ts';
import { durableSections, durableUsage, type OwnDay } from './sections.ts';
import { markOf, readWithheld, type WithheldRecord } from '../withheld.ts';
import { createUndoing, withFinal, withoutReturning, type UndoingOptions } from './undoing.ts';

/** The file of an export that has a person's items; it can be imported. */
export const itemsFile = 'items.json';

/** How the layer is set, as configured. */
export interface DurableSettings {
  /** Off: nothing of it is in a prompt; commands and changes still reach it. */
  readonly enabled: boolean;
  /** Active items of a user at most [D3]. */
  readonly maxItems: number;
  /** Characters at most for both sections as rendered [D4]. */
  readonly injectMaxChars: number;
}

export interface DurableMemoryOptions extends UndoingOptions {
  readonly settings: DurableSettings;
  readonly store: Pick<Store, 'read' | 'update' | 'remove'>;
  /** Withholds what is forgotten; resolves with what undoes it, and how many messages went with it. */
  readonly forgetting: {
    withhold(
      toForget: ToForget,
    ): Promise<{ readonly withdrawn: number; readonly undoId?: string | undefined }>;
  };
  /** IANA name; lines show local dates [N5]. */
  readonly timeZone: string;
  /** A person's own zone [D7]. Must not reject. Default: `timeZone` for everybody. */
  readonly timeZoneOf?: (userId: string) => Promise<string>;
}

/**
 * The durable items of all users. Every method is about one user's own items; changes of one user happen one after the
 * other [S3]. All reject with `StoreError` when the store does, and with `RangeError` for a user id that is none.
 */
export function createDurableMemory(options: DurableMemoryOptions) {
  const { settings, store, writes, clock } = options;
  const { timeZoneOf = () => Promise.resolve(options.timeZone) } = options;
  const { enabled, maxItems, injectMaxChars } = settings;

  async function dayOf(userId: string, now = clock()): Promise<OwnDay> {
    const timeZone = await timeZoneOf(userId);
    return { today: localDate(now, timeZone), timeZone };
  }

  const undoing = createUndoing(options);
  const { change: apply, changeForGood, visibleTo } = undoing;
  const itemsOf = async (userId: string): Promise<readonly DurableItem[]> => (await visibleTo(userId)).items;

  const layer: MemoryLayer = {
    name: 'durable',
    /** The sections `durable_items` and `matching_items` [D4]. */
    async sections(context) {
      if (!enabled) return [];
      const { id } = context.speaker;
      const [items, day] = await Promise.all([itemsOf(id), dayOf(id, context.now)]);
      return durableSections(items, id, context, day, injectMaxChars);
    },
    async delete(deletion) {
      const userId = personOf(deletion);
      switch (deletion.kind) {
        case 'messages':
          return removeSources(deletion);
        case 'words': {
          const { words, commandId } = deletion;
          return erase(userId, (document) => purgeSaying(withAllFinal(document), words, commandId));
        }
        case 'record':
          return deleteForgotten(userId, deletion.record);
        // They are their person's own, wherever they were said [K15].
        case 'conversations':
          return;
        case 'person':
          return store.remove(durableKey(userId));
      }
    },
    async *export(userId) {
      const document = await store.read(durableKey(userId), durableDocumentKind);
      if (document === undefined) return;
      const { items, gone = [], forgottenUpTo } = withBoundedPast(withAllFinal(document));
      const { hasItem } = await readWithheld(store, userId);
      const visible = items.filter((item) => !hasItem(markOf(item)));
      yield { path: itemsFile, text: JSON.stringify(visible, undefined, 2) };
      if (gone.length > 0 || forgottenUpTo !== undefined)
        yield { path: 'forgotten.json', text: JSON.stringify({ forgottenUpTo, gone }, undefined, 2) };
    },
  };

  /** Whatever may have copies of it by now. */
  const erase = (userId: string, operation: (document: DurableDocument) => DurableDocument) =>
    changeForGood(userId, operation, true);

  /** What was forgotten can be undone no more, nor come back by undoing something else. */
  async function deleteForgotten(userId: string, { change, items }: WithheldRecord): Promise<void> {
    if (change.kind !== 'forgotten') return;
    const isForgotten = (item: DurableItem): boolean => items.includes(markOf(item));
    await erase(userId, (document) => {
      const ids = new Set(document.items.filter(isForgotten).map(({ id }) => id));
      const final = withFinal(document, (each) =>
        each.items.some(({ id, before }) => ids.has(id) || (before !== undefined && isForgotten(before))),
      );
      return forgetChosen(final, isForgotten, change.commandId, clock());
    });
  }

  /** The day that a text speaks of [D7], counted from the moment of its message. */
  async function dayIn(
    userId: string,
    { text, messageId }: Pick<RememberRequest, 'text' | 'messageId'>,
    now: Date,
  ) {
    const sentAt = isSnowflake(messageId) ? snowflakeTime(messageId) : now;
    const day = readDay(text, sentAt, await timeZoneOf(userId));
    return { when: day?.when, looksBack: day?.looksBack };
  }

  /** One change that can be undone; `undoId` is absent where nothing changed. */
  function makeChange<T extends object>(
    work: Work,
    what: string,
    operation: (document: DurableDocument, now: Date) => DocumentChange<T>,
  ): Promise<T & { readonly undoId?: string | undefined }> {
    return writes.run(work, async () => {
      const now = clock();
      const made = await apply(work.userId, (document) => operation(document, now), what);
      return { ...made.result, undoId: made.undoId };
    });
  }

  function changeItem(
    work: Work,
    what: string,
    id: string,
    place: Place,
    part: Partial<Pick<DurableItem, 'visibility' | 'pinned'>>,
  ) {
    const make = (item: DurableItem): DurableItem => ({ ...item, ...part });
    return makeChange(work, what, (document) => changedItem(document, work.userId, id, place, make));
  }

  /**
   * An item goes with the message that says it, its question with the answer that asks it [D1a]. A proposal goes with
   * either, also where they are forgotten.
   */
  async function removeSources({ session, messages, areItemsKept }: Withdrawn): Promise<void> {
    const { userId, channelId } = session;
    const own = messages.filter(({ before }) => before.role === 'user');
    const now = new Map(own.map((message) => [message.before.id, message.now]));
    const isStillSaid = ({ text, source }: DurableItem) => stillSays(text, now.get(source.messageId) ?? '');
    const isUnsaid = (item: DurableItem) => now.has(item.source.messageId) && !isStillSaid(item);
    const isAsked = askedIn(messages);
    const hasQuestion = ({ question, source }: DurableItem) =>
      source.channelId === channelId && isAsked(question);
    const isGone = ({ source }: DurableItem) => areItemsKept === true && now.has(source.messageId);
    const withoutAsked = (document: DurableDocument) =>
      withoutProposals(document, (item) => isGone(item) || hasQuestion(item));
    if (areItemsKept === true) return erase(userId, withoutAsked);
    await erase(userId, (document) => {
      const left = removeBySource(withoutAsked(document), [...now.keys()], isStillSaid);
      const final = withoutReturning(
        left,
        (item) => isNoticed(item) && (isUnsaid(item) || hasQuestion(item)),
      );
      return withoutQuestions(final, hasQuestion);
    });
  }

  return {
    ...layer,

    undo: undoing.undo,
    expireItems: undoing.expireItems,

    /** Of these changes those that can be undone, with the active items that each touched. */
    async undoable(userId: string, ids: readonly string[]) {
      const { items, changes = [] } = await visibleTo(userId);
      return (await undoing.changesOf(userId))
        .filter(({ id }) => ids.includes(id))
        .map(({ id, what }) => {
          const touched = changes.find((each) => each.id === id)?.items.map((item) => item.id) ?? [];
          const active = items.filter((item) => item.status === 'active' && touched.includes(item.id));
          return { id, what, items: active };
        });
    },

    /** All active items, pinned first, then newest; use `mayUseItem` before showing them. */
    list: async (userId: string): Promise<readonly DurableItem[]> => activeInOrder(await itemsOf(userId)),

    /** By the id of each active item what it corrected, newest first [D6]; use `mayUseItem` here too. */
    historiesOf: async (userId: string): Promise<ReadonlyMap<string, readonly DurableItem[]>> =>
      itemHistories(await itemsOf(userId)),

    remember: (work: Work, input: RememberRequest): Promise<RememberOutcome> =>
      writes.run(work, async () => {
        if (input.stillStands !== undefined && !(await input.stillStands()))
          return { outcome: 'refused', reason: 'forgotten' };
        const now = clock();
        const { userId } = work;
        const request = { ...input, ...(await dayIn(userId, input, now)) };
        const { result, undoId } = await apply(
          userId,
          (document) => rememberItem(document, userId, request, maxItems, now),
          input.accepts === undefined ? 'remember' : 'accept',
        );
        if (result.outcome === 'refused') return result;
        measure('evicted', { items: result.evicted.length });
        return { ...result, undoId };
      }),

    /** Asks the person before something is an item [K9]. */
    propose: (work: Work, input: RememberRequest): Promise<ProposalOutcome> =>
      writes.run(work, async () => {
        if (input.type === 'manual')
          throw new RangeError('What a person stores themselves needs no proposal');
        if (input.stillStands !== undefined && !(await input.stillStands()))
          return { outcome: 'refused', reason: 'forgotten' };
        const now = clock();
        const { userId } = work;
        // First, so that a kill leaves no proposal that never goes.
        await options.expireAt?.(userId, new Date(now.getTime() + proposalForMs));
        return (await apply(userId, (document) => proposeItem(document, userId, input, maxItems, now)))
          .result;
      }),

    /** What waits for the person's yes, oldest first; use `mayUseItem` here too. */
    proposed: async (userId: string): Promise<readonly DurableItem[]> =>
      proposedItems(await itemsOf(userId), clock()),

    /** Lets a proposal go, which is not made again; resolves with whether there was one. */
    decline: (work: Work, id: string): Promise<boolean> =>
      writes.run(work, async () => {
        const { result } = await apply(work.userId, (document) => {
          const declined = proposedItems(document.items, clock()).filter(
            (item) => item.id === id.trim().toLowerCase(),
          );
          const left = withItems(document, { removed: declined });
          return { document: withTombstones(left, declined), result: declined.length > 0 };
        });
        return result;
      }),

    /** What `rememberAll` would do now. */
    wouldRemember: async (userId: string, items: readonly DurableItem[]): Promise<ImportResult> =>
      importItems(await visibleTo(userId), items, maxItems).result,

    /** Stores imported items as one change [K10]; nothing makes way for them. */
    rememberAll: async (work: Work, items: readonly DurableItem[]) => {
      const [now, timeZone] = [clock(), await timeZoneOf(work.userId)];
      const pause = createTimeSlice();
      const dated: DurableItem[] = [];
      for (const item of items) {
        await pause();
        const day = item.when === undefined ? readDay(item.text, now, timeZone) : undefined;
        // When the lines of a list were said nobody knows.
        const isKnown = day !== undefined && !day.isCounted;
        dated.push(isKnown ? { ...item, when: day.when, looksBack: day.looksBack } : item);
      }
      return makeChange(work, 'import', (document) => importItems(document, dated, maxItems));
    },

    /**
     * Forgets what a target names, or the items with these ids, as far as it may be used in `place` [K2] [K4], with
     * the messages that it came from and `messages`. `commandId` is the snowflake of the command.
     */
    async forget(
      work: Work,
      target: string | readonly string[],
      place: Place,
      commandId: string,
      more: { readonly words?: string; readonly messages?: MessagesByChannel } = {},
    ): Promise<ForgetResult> {
      const { userId } = work;
      return writes.run(work, async () => {
        const items = await itemsOf(userId);
        const { forgotten, elsewhere } = itemsToForget(items, userId, target, place);
        const words = more.words ?? (typeof target === 'string' ? matchedWords(target, forgotten) : '');
        const histories = itemHistories(items);
        const { withdrawn, undoId } = await options.forgetting.withhold({
          userId,
          commandId,
          words,
          forgotten,
          past: forgotten.flatMap(({ id }) => histories.get(id) ?? []),
          others: activeInOrder(items).filter((item) => !forgotten.includes(item)),
          proposed: proposedItems(items, clock()),
          messages: more.messages ?? [],
        });
        return { forgotten, elsewhere, words, withdrawn, undoId };
      });
    },

    /** What a target names that may be used in `place`, and how many more there are elsewhere. */
    async find(userId: string, target: string, place: Place) {
      const { named, inside, byId = false, isVague = false } = findItems(await itemsOf(userId), target);
      const usable = (item: DurableItem) => mayUseItem(item, userId, place);
      // Newest first.
      return {
        named: named.filter(usable).toReversed(),
        inside: inside.filter(usable).toReversed(),
        elsewhere: named.filter((item) => !usable(item)).length,
        byId,
        isVague,
      };
    },

    /** Shares or hides an item that may be used in `place`; without `item` when there is no such one. */
    setVisibility: (work: Work, id: string, visibility: Visibility, place: Place) =>
      changeItem(work, visibility === 'dm' ? 'hide' : 'share', id, place, { visibility }),

    /** Pins or unpins in the same way [D3]. */
    setPinned: (work: Work, id: string, pinned: boolean, place: Place) =>
      changeItem(work, pinned ? 'pin' : 'unpin', id, place, { pinned }),

    /**
     * Gives an active item that may be used in `place` a new text by its owner [K8]. Its id stays, and the old text
     * goes into its history. An edit in a narrower place narrows the item [V1].
     */
    async edit(work: Work, id: string, text: string, place: Place, messageId: string) {
      const day = await dayIn(work.userId, { text, messageId }, clock());
      return makeChange(work, 'edit', (document, now) =>
        editItem(document, work.userId, { ...day, id, text, place, messageId }, now),
      );
    },

    /** What there is to ask about the active items that are seen [K16]. */
    async toReview(userId: string, isSeen: (item: DurableItem) => boolean): Promise<readonly ReviewCard[]> {
      const now = clock();
      const { today } = await dayOf(userId, now);
      return reviewCards(activeInOrder(await itemsOf(userId)).filter(isSeen), now, today);
    },

    /** Its owner says that items still hold [K16]; `items` is empty where one of them may not be used in `place`. */
    confirm: (work: Work, ids: readonly string[], place: Place) =>
      makeChange(work, 'review', (document, now) => confirmItems(document, work.userId, ids, place, now)),

    /** One item takes the place of another that is about the same [K16]. */
    keepOne: (work: Work, kept: string, replaced: string, place: Place) =>
      makeChange(work, 'review', (document, now) =>
        keepOne(document, work.userId, { kept, replaced, place }, now),
      ),

    /** Removes what rests on messages alone that `isPast` picks [K15]. */
    expire: (work: Work, isPast: (messageId: string) => boolean): Promise<void> =>
      writes.run(work, () =>
        changeForGood(work.userId, (document) => {
          const isGone = (item: DurableItem) => isNoticed(item) && isPast(item.source.messageId);
          return removePast(withoutReturning(document, isGone), isPast);
        }),
      ),

    /** Characters of the budget that the items take in `place`, for people to see. */
    usage: async (userId: string, place: Place) => ({
      used: durableUsage(await itemsOf(userId), userId, place, await dayOf(userId), injectMaxChars),
      budget: injectMaxChars,
    }),
  };
}

/** Nothing of it can be undone any more. */
function withAllFinal(document: DurableDocument): DurableDocument {
  return withFinal(document, () => true);
}

export type DurableMemory = ReturnType<typeof createDurableMemory>;
