import { ModelError } from '../core/errors.ts';
import { growingCache } from '../core/limits.ts';
import type { ModelCallOptions } from '../core/model.ts';
import { unlessAborted } from '../core/time.ts';

/** Calls of one person that run at a time, whatever they are for [L1]. */
const placesAPerson = 2;

/** People of whom it is known when they last got a place. */
const knownPeople = 1000;

/** Whose call it is, and whether somebody waits for the answer. */
export interface Caller {
  readonly userId: string;
  /** Nobody waits for it: it gives way to answers. */
  readonly isBackground: boolean;
}

interface Call extends Caller {
  readonly give: () => void;
  readonly refuse: (error: ModelError) => void;
}

/**
 * The places at a model [L1][M7]: `concurrency` calls run, two of them of one person, and `queueLimit` wait. Free places
 * go round by person, answers first; background work leaves one to answers. Where too many wait, background work or the
 * newest call of the person with most of them is rejected with `ModelError` `busy`.
 */
export function createModelPlaces(concurrency: number, queueLimit: number) {
  const running = new Set<Call>();
  /** In the order in which they came. */
  const waiting = new Set<Call>();
  /** By person, the number of the place that they were given last: who had none for longest is next. */
  const served = growingCache<string, number>(knownPeople);
  let given = 0;

  function next(): Call | undefined {
    if (running.size >= concurrency) return undefined;
    const turnOf = ({ userId }: Call): number => served.peek(userId) ?? 0;
    const free = [...waiting]
      .filter((call) => ofPerson(running, call).length < placesAPerson)
      .toSorted((a, b) => turnOf(a) - turnOf(b));
    const leavesRoom = inBackground(running).length < Math.max(1, concurrency - 1);
    return free.find((call) => !call.isBackground) ?? (leavesRoom ? free[0] : undefined);
  }

  function giveAway(): void {
    for (let call = next(); call !== undefined; call = next()) {
      waiting.delete(call);
      running.add(call);
      served.set(call.userId, (given += 1));
      call.give();
    }
  }

  /** Which call waits no longer: background work, else the newest of the person who has most waiting. */
  function tooMany(newest: Call): Call {
    const background = newest.isBackground ? newest : inBackground(waiting).at(-1);
    if (background !== undefined) return background;
    const ofEach = [newest, ...waiting].map((call) => ofPerson(waiting, call));
    return ofEach.reduce((a, b) => (b.length > a.length ? b : a)).at(-1) ?? newest;
  }

  function leave(call: Call): void {
    waiting.delete(call);
    if (running.delete(call)) giveAway();
  }

  /**
   * Does the work when there is a place for it; `onQueue` tells when it has to wait, and with `false` when its turn came.
   * Rejects at once with the signal's reason when that is aborted.
   */
  return async function withPlace<T>(
    work: () => Promise<T>,
    caller: Caller & { readonly signal: AbortSignal; readonly onQueue?: ModelCallOptions['onQueue'] },
  ): Promise<T> {
    const { signal, onQueue } = caller;
    const { call, place } = openCall(caller);
    waiting.add(call);
    giveAway();
    if (waiting.size > queueLimit) {
      const chosen = tooMany(call);
      waiting.delete(chosen);
      chosen.refuse(new ModelError('Too many model calls are waiting', 'busy'));
    }
    try {
      if (waiting.has(call)) {
        onQueue?.(true);
        await unlessAborted(signal, place);
        onQueue?.(false);
      }
      await place;
      signal.throwIfAborted();
    } catch (error) {
      leave(call);
      throw error;
    }
    return unlessAborted(
      signal,
      work().finally(() => leave(call)),
    );
  };
}

/** `place` settles when the call has a place, or is to get none. */
function openCall({ userId, isBackground }: Caller): { readonly call: Call; readonly place: Promise<void> } {
  let call!: Call;
  const place = new Promise<void>((give, refuse) => {
    call = { userId, isBackground, give, refuse };
  });
  return { call, place };
}

function ofPerson(calls: ReadonlySet<Call>, { userId }: Caller): readonly Call[] {
  return [...calls].filter((call) => call.userId === userId);
}

function inBackground(calls: ReadonlySet<Call>): readonly Call[] {
  return [...calls].filter((call) => call.isBackground);
}
