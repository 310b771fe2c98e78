import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Logger } from '../../core/logger.ts';
import type { Place } from '../../core/place.ts';
import type { Section } from '../../core/section.ts';
import type { ErasingOption, Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { Visibility } from '../../core/visibility.ts';
import {
  activeInOrder,
  createLocalDates,
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { deprecateBySource, forgetItems, formerItems, setVisibility } from './items.ts';
import { rememberItem, type RememberOutcome, type RememberRequest } from './remember-item.ts';
import { durableSections, durableUsage } from './sections.ts';

export interface RememberInput extends RememberRequest {
  /**
   * Asked when nothing else can change this user's memory any more: whether the message still says it. If not, the outcome is
   * `forgotten` [A4]. Must not wait for another write of the same user.
   */
  readonly stillStands?: () => Promise<boolean>;
}

export interface DurableMemoryOptions {
  readonly store: Pick<Store, 'read' | 'update'>;
  readonly writes: Pick<KeyedQueue, 'run'>;
  readonly clock: Clock;
  /** Active items of a user at most [D3]. */
  readonly maxItems: number;
  /** Characters at most for both sections as rendered [D4]. */
  readonly injectMaxChars: number;
  /** Characters of one item at most. */
  readonly maxTextLength?: number;
  /** IANA name; lines show local dates [N5]. */
  readonly timeZone: string;
  readonly logger: Logger;
}

/**
 * The durable items of all users. Every method is about one user's own items; changes of one user happen one after the
 * other [S3]. All reject with `StoreError` when the store does, and with `RangeError` for a user id that is none.
 */
export function createDurableMemory(options: DurableMemoryOptions) {
  const { store, writes, clock, logger, maxItems, injectMaxChars, maxTextLength = 500 } = options;
  const injection = { injectMaxChars, dateOf: createLocalDates(options.timeZone) };

  async function itemsOf(userId: string): Promise<readonly DurableItem[]> {
    return (await store.read(durableKey(userId), durableDocumentKind))?.items ?? [];
  }

  /** One serialised change; `operation` is pure, for the store may run it again after a conflict. */
  async function change<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
    erasing: ErasingOption = {},
  ): Promise<T> {
    const results: { readonly result: T }[] = [];
    await store.update(
      durableKey(userId),
      durableDocumentKind,
      (current) => {
        const before = current ?? emptyDurableDocument;
        const { document, result } = operation(before);
        results.push({ result });
        return document === before ? current : document;
      },
      erasing,
    );
    const last = results.at(-1);
    if (last === undefined) throw new Error('The store did not run the change');
    return last.result;
  }

  /** A change that takes something away: no copy that the store keeps may give it back after damage [S7]. */
  const takeAway: typeof change = (userId, operation) => change(userId, operation, { erase: true });

  return {
    /** The sections `durable_items` and `matching_items` [D4]. */
    reader: {
      layer: 'durable',
      async read(context: TurnContext): Promise<readonly Section[]> {
        return durableSections(await itemsOf(context.speaker.id), context.speaker.id, context, injection);
      },
    },

    /** The active items, pinned first, then the newest. All of them: what is shown of them in a place is up to `mayUseItem`. */
    async list(userId: string): Promise<readonly DurableItem[]> {
      return activeInOrder(await itemsOf(userId));
    },

    /** By the id of each active item what it corrected, newest first [D6]; what is shown of it in a place is up to `mayUseItem` too. */
    async formerOf(userId: string): Promise<ReadonlyMap<string, readonly DurableItem[]>> {
      return formerItems(await itemsOf(userId));
    },

    remember: (userId: string, input: RememberInput) =>
      writes.run(userId, async (): Promise<RememberOutcome> => {
        if (input.stillStands !== undefined && !(await input.stillStands())) {
          return { outcome: 'refused', reason: 'forgotten' };
        }
        const outcome = await change(userId, (document) =>
          rememberItem(document, userId, input, { maxItems, maxTextLength }, clock()),
        );
        logger.info('a durable item was asked for', { userId, type: input.type, ...summaryOf(outcome) });
        return outcome;
      }),

    /** Forgets by id or substring [K2] what may be used in `place`. `commandId` is the snowflake of who said so, and when. */
    forget: (userId: string, target: string, place: Place, commandId: string) =>
      writes.run(userId, async () => {
        const result = await takeAway(userId, (document) =>
          forgetItems(document, userId, target, place, commandId, clock()),
        );
        logger.info('durable items were forgotten', { userId, itemIds: idsOf(result.forgotten) });
        return result;
      }),

    /** Shares or hides an item that may be used in `place`; `undefined` when there is no such item. */
    setVisibility: (userId: string, id: string, visibility: Visibility, place: Place) =>
      writes.run(userId, () =>
        takeAway(userId, (document) => setVisibility(document, userId, id, visibility, place)),
      ),

    /** Takes out of use what was extracted from these messages [G5], but for what `stillSupported` says; returns what went. */
    retractSources: (
      userId: string,
      messageIds: readonly string[],
      stillSupported: (item: DurableItem) => boolean = () => false,
    ) =>
      writes.run(userId, async () => {
        const retracted = await takeAway(userId, (document) =>
          deprecateBySource(document, messageIds, stillSupported, clock()),
        );
        if (retracted.length > 0) {
          logger.info('items deprecated: source message changed', { userId, itemIds: idsOf(retracted) });
        }
        return retracted;
      }),

    /** What the user had forgotten, and when; told to nobody, but kept from being found [C1]. */
    async forgotten(userId: string): Promise<readonly Pick<DurableItem, 'text' | 'updatedAt'>[]> {
      return (await itemsOf(userId)).filter(
        (item) => item.forgotten === true && item.status === 'deprecated',
      );
    },

    /** Characters of the budget that the items take in `place`, for people to see. */
    async usage(userId: string, place: Place) {
      const used = durableUsage(await itemsOf(userId), userId, place, injection);
      return { used, budget: injectMaxChars };
    },
  };
}

export type DurableMemory = ReturnType<typeof createDurableMemory>;

function summaryOf(outcome: RememberOutcome): Readonly<Record<string, unknown>> {
  return outcome.outcome === 'refused'
    ? { outcome: outcome.outcome, reason: outcome.reason }
    : { outcome: outcome.outcome, itemId: outcome.item.id, evicted: idsOf(outcome.evicted) };
}

function idsOf(items: readonly DurableItem[]): readonly string[] {
  return items.map((item) => item.id);
}
