import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Logger } from '../../core/logger.ts';
import type { Place } from '../../core/place.ts';
import type { Store } from '../../core/store.ts';
import { normalizeText } from '../../core/text.ts';
import type { Clock } from '../../core/time.ts';
import type { Visibility } from '../../core/visibility.ts';
import type { ChangeLedger } from '../changes.ts';
import type { Forgotten, MemoryLayer, WithdrawnMessage } from '../layer.ts';
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
import { supports } from './evidence.ts';
import {
  removeBySource,
  forgetChosen,
  forgetItems,
  formerItems,
  setVisibility,
  type ForgetResult,
} from './items.ts';
import { forgottenTest, withBoundedPast, type ForgottenTest } from './past.ts';
import { rememberItem, type RememberOutcome, type RememberRequest } from './remember-item.ts';
import { durableSections, durableUsage } from './sections.ts';

export interface RememberInput extends RememberRequest {
  /**
   * Asked when nothing else can change this user's memory any more: whether the message still says it. If not, the outcome is
   * `forgotten` [A4]. Must not wait for another write of the same user.
   */
  readonly stillStands?: () => Promise<boolean>;
}

/** How the layer is set, as configured. */
export interface DurableSettings {
  /** Off: nothing of it is in a prompt; commands and changes still reach it. */
  readonly enabled: boolean;
  /** Active items of a user at most [D3]. */
  readonly maxItems: number;
  /** Characters at most for both sections as rendered [D4]. */
  readonly injectMaxChars: number;
}

export interface DurableMemoryOptions {
  readonly settings: DurableSettings;
  readonly store: Pick<Store, 'read' | 'update' | 'remove'>;
  readonly writes: Pick<KeyedQueue, 'run'>;
  /** Where auto-extraction is on [A2]. */
  readonly extract?: NonNullable<MemoryLayer['fold']> | undefined;
  readonly changes: Pick<ChangeLedger, 'forget'>;
  readonly clock: Clock;
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
  const { settings, store, writes, clock, logger, maxTextLength = 500 } = options;
  const { enabled, maxItems, injectMaxChars } = settings;
  const injection = { injectMaxChars, dateOf: createLocalDates(options.timeZone) };

  async function itemsOf(userId: string): Promise<readonly DurableItem[]> {
    return (await store.read(durableKey(userId), durableDocumentKind))?.items ?? [];
  }

  /**
   * One serialised change, after which the past is bounded again [L3]; `operation` is pure, for the store may run it again after a conflict. What it
   * removes, narrows or pushes out is erased from the store's copies too, so that none gives it back after damage [S7]; they are looked at in any case
   * where it `erases`.
   */
  async function apply<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
    { erases = false } = {},
  ): Promise<T> {
    const results: { readonly result: T }[] = [];
    let isLosing = false;
    await store.update(
      durableKey(userId),
      durableDocumentKind,
      (current) => {
        const before = current ?? emptyDurableDocument;
        const { document, result } = operation(before);
        results.push({ result });
        const bounded = withBoundedPast(document);
        isLosing = losesText(before, bounded);
        return bounded === before ? current : bounded;
      },
      { erase: () => erases || isLosing },
    );
    const last = results.at(-1);
    if (last === undefined) throw new Error('The store did not run the change');
    return last.result;
  }

  const applyAndErase: typeof apply = (userId, operation) => apply(userId, operation, { erases: true });

  const layer: MemoryLayer = {
    name: 'durable',
    /** The sections `durable_items` and `matching_items` [D4]. */
    async sections(context) {
      if (!enabled) return [];
      return durableSections(await itemsOf(context.speaker.id), context.speaker.id, context, injection);
    },
    async fold(userId, sessions, signal) {
      await options.extract?.(userId, sessions, signal);
    },
    async follow(change, stage) {
      if (stage === 'erase') return;
      if (change.kind === 'forgotten') return forgetItemsOf(change);
      await removeSources(change.session.userId, change.messages);
    },
    async *export(userId) {
      const document = await store.read(durableKey(userId), durableDocumentKind);
      if (document !== undefined)
        yield { path: 'items.json', text: JSON.stringify(document.items, undefined, 2) };
    },
    async erase({ userId, sessions, isWhole }) {
      if (isWhole) return store.remove(durableKey(userId));
      const channels = new Set(sessions.map(({ channelId }) => channelId));
      await applyAndErase(userId, (document) => {
        const items = document.items.filter(({ source }) => !channels.has(source.channelId));
        const isSame = items.length === document.items.length;
        return { document: isSame ? document : { ...document, items }, result: undefined };
      });
    },
  };

  async function forgetItemsOf({ userId, itemIds, commandId }: Forgotten): Promise<void> {
    const ids = new Set(itemIds);
    const forgotten = await applyAndErase(userId, (document) =>
      forgetChosen(document, ({ id }) => ids.has(id), commandId, clock()),
    );
    logger.info('durable items were forgotten', { userId, itemIds: idsOf(forgotten) });
  }

  /** Removes what was extracted from changed messages [G5], but for what an edited one still says. */
  async function removeSources(userId: string, messages: readonly WithdrawnMessage[]): Promise<void> {
    const own = messages.filter(({ before }) => before.role === 'user');
    const now = new Map(own.map((message) => [message.before.id, message.now]));
    const removed = await applyAndErase(userId, (document) =>
      removeBySource(document, [...now.keys()], ({ text, source }) =>
        supports(text, now.get(source.messageId) ?? ''),
      ),
    );
    if (removed.length > 0) {
      logger.info('items removed: source message changed', { userId, itemIds: idsOf(removed) });
    }
  }

  return {
    ...layer,

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
        const outcome = await apply(userId, (document) =>
          rememberItem(document, userId, input, { maxItems, maxTextLength }, clock()),
        );
        logger.info('a durable item was asked for', { userId, type: input.type, ...summaryOf(outcome) });
        return outcome;
      }),

    /**
     * Forgets by id or substring [K2] what may be used in `place`, and has every other layer follow. `commandId` is the snowflake of who said
     * so, and when. `words` is what was meant, `isEverywhere` whether no layer has failed to follow.
     */
    async forget(
      userId: string,
      target: string,
      place: Place,
      commandId: string,
    ): Promise<ForgetResult & { readonly words: string; readonly isEverywhere: boolean }> {
      const { result, failures } = await options.changes.forget(layer, userId, async () => {
        const document = (await store.read(durableKey(userId), durableDocumentKind)) ?? emptyDurableDocument;
        const chosen = forgetItems(document, userId, target, place, commandId, clock()).result;
        const words = wordsMeant(target, chosen.forgotten);
        const itemIds = idsOf(chosen.forgotten);
        return {
          change: { kind: 'forgotten', userId, itemIds, words, commandId },
          result: { ...chosen, words },
        };
      });
      return { ...result, isEverywhere: failures.size === 0 };
    },

    /** Shares or hides an item that may be used in `place`; `undefined` when there is no such item. */
    setVisibility: (userId: string, id: string, visibility: Visibility, place: Place) =>
      writes.run(userId, () =>
        applyAndErase(userId, (document) => setVisibility(document, userId, id, visibility, place)),
      ),

    /** Recognises what tells something that the user had forgotten: it is kept from being found [C1]. */
    async forgotten(userId: string): Promise<ForgottenTest> {
      return forgottenTest(
        (await store.read(durableKey(userId), durableDocumentKind)) ?? emptyDurableDocument,
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

/** The target itself, or, where it was an id, the words of the item that has it. */
function wordsMeant(target: string, forgotten: readonly DurableItem[]): string {
  const [first] = forgotten;
  if (first === undefined || normalizeText(first.text).includes(normalizeText(target))) return target;
  return first.text;
}

function summaryOf(outcome: RememberOutcome): Readonly<Record<string, unknown>> {
  return outcome.outcome === 'refused'
    ? { outcome: outcome.outcome, reason: outcome.reason }
    : { outcome: outcome.outcome, itemId: outcome.item.id, evicted: idsOf(outcome.evicted) };
}

function idsOf(items: readonly DurableItem[]): readonly string[] {
  return items.map((item) => item.id);
}

/** Whether something that a document said, or where it may be used, is in the other no more. */
function losesText(before: DurableDocument, after: DurableDocument): boolean {
  if (before === after) return false;
  const kept = new Set(after.items.map(({ text, visibility }) => `${visibility} ${text}`));
  return before.items.some(({ text, visibility }) => !kept.has(`${visibility} ${text}`));
}
