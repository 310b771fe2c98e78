import { ModelError } from '../core/errors.ts';
import { growingCache } from '../core/limits.ts';
import type { ModelCallOptions } from '../core/model.ts';
import { untilAborted } from './deadline.ts';

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
  hasPlace: boolean;
  readonly give: () => void;
  readonly refuse: (error: ModelError) => void;
  /** Settles when the call has a place, or is to get none. */
  readonly place: Promise<void>;
}

interface Person {
  running: number;
  /** In the order in which they came. */
  readonly waiting: Call[];
}

/**
 * The places at a model [L1][M7]: at most `concurrency` calls run, two of them of one person, and at most `queueLimit` wait. Free places go round by
 * person, answers first; while there is more than one place, background work leaves one to them. Where too many wait, a call takes the waiting
 * place of background work or of whoever has most calls waiting; where none is to be had, it rejects with `ModelError` `busy`.
 */
export function createModelPlaces(concurrency: number, queueLimit: number) {
  const people = new Map<string, Person>();
  /** By person, the number of the place that they were given last: who had none for longest is next. */
  const served = growingCache<string, number>(knownPeople);
  let given = 0;
  const inBackground = Math.max(1, concurrency - 1);
  let running = 0;
  let runningInBackground = 0;
  let waiting = 0;

  function enter(caller: Caller): Call {
    const call = callOf(caller);
    const person = people.get(caller.userId) ?? { running: 0, waiting: [] };
    people.set(caller.userId, person);
    person.waiting.push(call);
    waiting += 1;
    giveAway();
    if (waiting <= queueLimit) return call;
    const chosen = tooMany(call);
    leaveQueue(chosen);
    const busy = new ModelError('Too many model calls are waiting', 'busy');
    if (chosen === call) throw busy;
    chosen.refuse(busy);
    return call;
  }

  /** Which call waits no longer: background work, else the newest of whoever has most waiting. */
  function tooMany(newest: Call): Call {
    if (newest.isBackground) return newest;
    const calls = [...people.values()].map((person) => person.waiting);
    const background = calls.flat().findLast(({ isBackground }) => isBackground);
    if (background !== undefined) return background;
    const own = people.get(newest.userId)?.waiting ?? [];
    const most = calls.reduce((a, b) => (b.length > a.length ? b : a), own);
    return most.at(-1) ?? newest;
  }

  function giveAway(): void {
    for (let call = next(); call !== undefined; call = next()) {
      leaveQueue(call);
      const person = people.get(call.userId) ?? { running: 0, waiting: [] };
      people.set(call.userId, person);
      served.set(call.userId, (given += 1));
      person.running += 1;
      running += 1;
      if (call.isBackground) runningInBackground += 1;
      call.hasPlace = true;
      call.give();
    }
  }

  function next(): Call | undefined {
    if (running >= concurrency) return undefined;
    const free = [...people]
      .filter(([, person]) => person.running < placesAPerson && person.waiting.length > 0)
      .toSorted(([a], [b]) => (served.peek(a) ?? 0) - (served.peek(b) ?? 0))
      .map(([, person]) => person.waiting);
    const answers = free.flatMap((calls) => calls.find((call) => !call.isBackground) ?? []);
    if (answers.length > 0 || runningInBackground >= inBackground) return answers[0];
    return free[0]?.[0];
  }

  function leaveQueue(call: Call): void {
    const person = people.get(call.userId);
    const at = person?.waiting.indexOf(call) ?? -1;
    if (person === undefined || at === -1) return;
    person.waiting.splice(at, 1);
    waiting -= 1;
    if (person.running === 0 && person.waiting.length === 0) people.delete(call.userId);
  }

  function leave(call: Call): void {
    leaveQueue(call);
    const person = people.get(call.userId);
    if (!call.hasPlace || person === undefined) return;
    person.running -= 1;
    running -= 1;
    if (call.isBackground) runningInBackground -= 1;
    if (person.running === 0 && person.waiting.length === 0) people.delete(call.userId);
    giveAway();
  }

  /**
   * Does the work when there is a place for it. Work that has to wait is told by `onQueue`, and again, with `false`, when its turn came. Rejects
   * at once with the signal's reason when that is aborted; who gives up leaves the queue.
   */
  return async function withPlace<T>(
    work: () => Promise<T>,
    caller: Caller & { readonly signal: AbortSignal; readonly onQueue?: ModelCallOptions['onQueue'] },
  ): Promise<T> {
    const { signal, onQueue } = caller;
    const call = enter(caller);
    try {
      if (!call.hasPlace) {
        onQueue?.(true);
        await untilAborted(call.place, signal);
        onQueue?.(false);
      }
      signal.throwIfAborted();
    } catch (error) {
      leave(call);
      throw error;
    }
    return untilAborted(
      work().finally(() => leave(call)),
      signal,
    );
  };
}

function callOf({ userId, isBackground }: Caller): Call {
  let settle: Pick<Call, 'give' | 'refuse'> | undefined;
  const place = new Promise<void>((give, refuse) => {
    settle = { give, refuse };
  });
  return {
    userId,
    isBackground,
    hasPlace: false,
    give: () => settle?.give(),
    refuse: (error) => settle?.refuse(error),
    place,
  };
}
