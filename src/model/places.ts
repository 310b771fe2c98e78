import { ModelError } from '../core/errors.ts';
import { lruCache } from '../core/limits.ts';
import type { ModelCallOptions } from '../core/model.ts';
import { unlessAborted } from '../core/time.ts';

/** Calls of one person that run at a time [L1]. */
const placesAPerson = 2;

const knownPeople = 1000;

export interface Caller {
  readonly userId: string;
  /** Nobody waits for the answer: other calls go first. */
  readonly isBackground: boolean;
}

interface Call extends Caller {
  readonly give: () => void;
  readonly refuse: (error: ModelError) => void;
}

/** [L1][M7] Free places go round by person, answers first; background work leaves one place free. */
export function createModelPlaces(concurrency: number, queueLimit: number) {
  const running = new Set<Call>();
  /** In order of arrival. */
  const waiting = new Set<Call>();
  /** By person, when they last got a place: the one who waited longest is next. */
  const served = lruCache<string, number>(knownPeople);
  let taken = 0;

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
      served.set(call.userId, (taken += 1));
      call.give();
    }
  }

  /** The call to reject: background work, else the newest of the person with most waiting calls. */
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

  /** Runs the work once there is a place; `onQueue` is called with whether it waits. Rejects at once on abort. */
  return async function withPlace<T>(
    work: () => Promise<T>,
    caller: Caller & { readonly signal: AbortSignal; readonly onQueue?: ModelCallOptions['onQueue'] },
  ): Promise<T> {
    const { userId, isBackground, signal, onQueue } = caller;
    let call!: Call;
    const place = new Promise<void>((give, refuse) => {
      call = { userId, isBackground, give, refuse };
    });
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

function ofPerson(calls: ReadonlySet<Call>, { userId }: Caller): readonly Call[] {
  return [...calls].filter((call) => call.userId === userId);
}

function inBackground(calls: ReadonlySet<Call>): readonly Call[] {
  return [...calls].filter((call) => call.isBackground);
}
