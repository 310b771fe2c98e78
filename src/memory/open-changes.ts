import { randomUUID } from 'node:crypto';

import type { Processes } from '../core/processes.ts';
import { changeSchema, isSupersededBy, type Change, type ChangeLedgerPorts } from './change-records.ts';

/** A change that a process left, by its place in the ledger. */
export interface Unfinished {
  readonly sequence: number;
  readonly change: Change;
}

/** The ledger of a process that is gone, while it is taken over. */
interface Adoption {
  readonly claim: NonNullable<Awaited<ReturnType<Processes['locks']['claim']>>>;
  /** By its place there, each change that is in this process's own ledger by now. */
  readonly entered: Map<number, Unfinished>;
  /** How many of them the caller carries out. */
  handedOn: number;
}

/** There is one for each process. */
const ledgersFolder = 'changes';

/**
 * Which changes are open, on disk: a log that a change enters before anything else is done, and leaves when it is. Each process has a log of its own, and a
 * claim on it for life; the process that claims a dead one's ledger takes over its entries [X2].
 */
export function createOpenChanges({
  store,
  processes: { locks },
  clock,
  logger,
}: Pick<ChangeLedgerPorts, 'store' | 'processes' | 'clock' | 'logger'>) {
  // So that they are listed oldest first.
  const ledgerKey = `${ledgersFolder}/${clock().getTime()}-${randomUUID()}.jsonl`;
  /** That this process has its own ledger, so that nobody takes it for one that is left. */
  let claimed: Promise<unknown> | undefined;
  /** By place in the ledger. */
  const open = new Map<number, Change>();
  /** Places of changes that are done and stand in the ledger still: they go with the next one. */
  const done = new Set<number>();
  /** By ledger, those that could not be taken over to the end. */
  const adopting = new Map<string, Adoption>();

  /** Rejects with `StoreError`. */
  async function recordsIn(ledger: string): Promise<readonly Unfinished[]> {
    const found: Unfinished[] = [];
    for await (const { sequence, record: change } of store.scan(ledger, changeSchema))
      found.push({ sequence, change });
    return found;
  }

  /**
   * Takes over the ledger of a dead process; resolves with its open changes. If the ledger cannot be read or
   * removed, it stays and this process keeps its claim for the next try, so no change is entered twice. Never
   * rejects: one bad ledger must not hold up the others.
   */
  async function adopted(ledger: string): Promise<readonly Unfinished[]> {
    if (ledger === ledgerKey) return [];
    const found: Unfinished[] = [];
    try {
      const claim = adopting.get(ledger)?.claim ?? (await locks.claim(ledger));
      if (claim === undefined) return [];
      const adoption = adopting.get(ledger) ?? { claim, entered: new Map(), handedOn: 0 };
      adopting.set(ledger, adoption);
      found.push(...(await entered(ledger, adoption)));
      if (adoption.entered.size > 0) return found;
      adopting.delete(ledger);
      await claim.release();
    } catch (error) {
      tellNotYet(error);
    }
    return found;
  }

  /** Never rejects. */
  async function entered(ledger: string, adoption: Adoption): Promise<readonly Unfinished[]> {
    let found: readonly Unfinished[] = [];
    try {
      for (const { sequence: of, change } of await recordsIn(ledger))
        if (!adoption.entered.has(of)) adoption.entered.set(of, { sequence: await append(change), change });
      // Only all together: without the later edit of a message, an earlier one would be taken for the last.
      found = [...adoption.entered.values()].slice(adoption.handedOn);
      adoption.handedOn = adoption.entered.size;
      await store.remove(ledger);
      adoption.entered.clear();
    } catch (error) {
      tellNotYet(error);
    }
    return found;
  }

  async function append(change: Change): Promise<number> {
    claimed ??= locks.claim(ledgerKey);
    claimed.catch(() => (claimed = undefined));
    await claimed;
    const sequence = await store.append(ledgerKey, change);
    open.set(sequence, change);
    return sequence;
  }

  /** The change is done, and earlier ones of the same messages with it. Never rejects: done twice, nothing happens. */
  async function close(sequence: number, change: Change): Promise<void> {
    const closing = new Set(done.add(sequence));
    const isClosed = (each: number, earlier: Change): boolean =>
      closing.has(each) || (each < sequence && isSupersededBy(earlier, change));
    try {
      await store.rewrite(ledgerKey, changeSchema, (entry) =>
        isClosed(entry.sequence, entry.record) ? undefined : entry.record,
      );
      for (const [each, earlier] of open) if (isClosed(each, earlier)) open.delete(each);
      for (const each of closing) done.delete(each);
    } catch (error) {
      logger.error('could not be saved', { what: 'that a change is done', error });
    }
  }

  function tellNotYet(error: unknown): void {
    logger.error('changes that were left could not be taken up yet', { error });
  }

  /** What processes that are gone have left; open from now on. Never rejects: what cannot be read is left to the next time. */
  async function unfinished(): Promise<readonly Unfinished[]> {
    const found: Unfinished[] = [];
    try {
      for (const { path } of await store.list(ledgersFolder))
        found.push(...(await adopted(`${ledgersFolder}/${path}`)));
    } catch (error) {
      tellNotYet(error);
    }
    return found;
  }

  return {
    /** Resolves with the change's place when it is on disk; rejects with `StoreError`. */
    append,
    close,
    isOpen: (sequence: number): boolean => open.has(sequence),
    /** What a person had forgotten and a layer could not follow yet. */
    forgottenBy: (userId: string) =>
      [...open].flatMap(([sequence, change]) =>
        change.kind === 'forgotten' && change.userId === userId ? [{ sequence, change }] : [],
      ),
    /** Whether a later change makes any that is open pointless. */
    supersedesAny: (change: Change): boolean =>
      [...open.values()].some((earlier) => isSupersededBy(earlier, change)),
    unfinished,
  };
}
