import { randomUUID } from 'node:crypto';

import type { MessageChange } from '../core/changes.ts';
import type { Processes } from '../core/processes.ts';
import { changeSchema, isSupersededBy, type Change, type ChangeLedgerPorts } from './change-records.ts';

/** A change that a process left, by its place in the ledger. */
export interface Unfinished {
  readonly sequence: number;
  readonly change: Change;
}

/** The ledger of a process that has the store alone; in the folder there is one for each of several processes. */
export const loneLedgerKey = 'changes.jsonl';
export const ledgersFolder = 'changes';

/**
 * Which changes are open, on disk: a log that a change enters before anything else is done, and leaves when it is. Of several processes over one store each
 * has a log of its own, and a claim on it for life; whoever gets the claim of one that is gone takes over what stands there [X2].
 */
export function createOpenChanges({
  store,
  processes,
  logger,
}: Pick<ChangeLedgerPorts, 'store' | 'processes' | 'logger'>) {
  const ledgerKey = processes === undefined ? loneLedgerKey : `${ledgersFolder}/${randomUUID()}.jsonl`;
  /** That this process has its own ledger, so that nobody takes it for one that is left. */
  let claimed: Promise<unknown> | undefined;
  /** By place in the ledger. */
  const open = new Map<number, Change>();

  /** Rejects with `StoreError`. */
  async function recordsIn(ledger: string): Promise<readonly Unfinished[]> {
    const found: Unfinished[] = [];
    for await (const { sequence, record: change } of store.scan(ledger, changeSchema))
      found.push({ sequence, change });
    return found;
  }

  /** Takes over what stands in the ledger of a process that is gone: it is this one's then. Rejects with `StoreError`; the ledger stays then. */
  async function adopted(ledger: string, { locks }: Processes): Promise<readonly Unfinished[]> {
    const claim = ledger === ledgerKey ? undefined : await locks.claim(ledger);
    if (claim === undefined) return [];
    try {
      const found: Unfinished[] = [];
      for (const { change } of await recordsIn(ledger))
        found.push({ sequence: await append(change), change });
      await store.remove(ledger);
      return found;
    } finally {
      await claim.release();
    }
  }

  async function append(change: Change): Promise<number> {
    claimed ??= processes?.locks.claim(ledgerKey);
    claimed?.catch(() => (claimed = undefined));
    await claimed;
    const sequence = await store.append(ledgerKey, change);
    open.set(sequence, change);
    return sequence;
  }

  /** The conversation goes on where the disk refuses; then a kill can come between. */
  async function enter(change: MessageChange): Promise<number | undefined> {
    try {
      return await append(change);
    } catch (error) {
      logger.error('could not be saved', { what: 'a change', error });
      return undefined;
    }
  }

  /** The change is done, and earlier ones of the same messages with it. Never rejects: done twice, nothing happens. */
  async function close(sequence: number, change: Change): Promise<void> {
    const isClosed = (each: number, earlier: Change): boolean =>
      each === sequence || (each < sequence && isSupersededBy(earlier, change));
    try {
      await store.rewrite(ledgerKey, changeSchema, (entry) =>
        isClosed(entry.sequence, entry.record) ? undefined : entry.record,
      );
      for (const [each, earlier] of open) if (isClosed(each, earlier)) open.delete(each);
    } catch (error) {
      logger.error('could not be saved', { what: 'that a change is done', error });
    }
  }

  /** What the process before this one, or others that are gone, have left; open from now on. Never rejects: what cannot be read is left to the next time. */
  async function unfinished(): Promise<readonly Unfinished[]> {
    const found: Unfinished[] = [];
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        logger.error('changes that were left could not be taken up yet', { error });
      }
    };
    const add = async (left: Promise<readonly Unfinished[]>) => void found.push(...(await left));
    if (processes === undefined) await attempt(() => add(recordsIn(ledgerKey)));
    else
      await attempt(async () => {
        const ledgers = (await store.list(ledgersFolder)).map(({ path }) => `${ledgersFolder}/${path}`);
        for (const ledger of [loneLedgerKey, ...ledgers])
          await attempt(() => add(adopted(ledger, processes)));
      });
    for (const { sequence, change } of found) open.set(sequence, change);
    return found;
  }

  return {
    /** Resolves with the change's place when it is on disk; rejects with `StoreError`. */
    append,
    enter,
    close,
    isOpen: (sequence: number): boolean => open.has(sequence),
    /** Whether a later change makes any that is open pointless. */
    supersedesAny: (change: Change): boolean =>
      [...open.values()].some((earlier) => isSupersededBy(earlier, change)),
    unfinished,
  };
}
