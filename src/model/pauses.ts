import { ModelError, outages, type ModelFailure } from '../core/errors.ts';
import { lruCache } from '../core/limits.ts';
import type { Unwritten, WithPauses } from '../core/model.ts';
import { growingPause, type Clock } from '../core/time.ts';

const firstMs = 60_000;
const longestMs = 24 * 3_600_000;
/** Milliseconds after a pause within which work is tried again, where it is still wanted. */
const triedWithinMs = 600_000;

/** These say nothing of the model, nor of what it was asked. */
const passedOver: ReadonlySet<ModelFailure> = new Set(['aborted', 'over-limit', 'busy', 'paused']);

/** `since` is when the first of the failures came. */
interface Pause extends Pick<Unwritten, 'since' | 'failure'> {
  /** In a row. */
  readonly failures: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Background work that fails is tried again after pauses that double, from a minute to a day [M16]; a success ends them. Where the model
 * cannot be had, all of its background work pauses; where its answer is of no use, this work alone, as the fault may be in the words of
 * its person or conversation.
 */
export function createPauses(clock: Clock) {
  const models = new Map<string, Pause>();
  /** By purpose, person, conversation and model. */
  const failing = lruCache<string, Pause & Unwritten>(10_000, { maxAge: 2 * longestMs });
  const now = (): number => clock().getTime();

  /** `extraMs` is added to the growing pause. */
  function pauseAfter(before: Pause | undefined, { failure, retryAfterMs }: ModelError, extraMs = 0): Pause {
    const failures = (before?.failures ?? 0) + 1;
    const ms = Math.max(growingPause(failures, firstMs, longestMs) + extraMs, retryAfterMs);
    return { failures, failure, since: before?.since ?? clock(), until: now() + ms };
  }

  const withPauses: WithPauses = async ({ purpose, userId, conversation, model }, work) => {
    const call = { purpose, userId, conversation, model };
    const key = Object.values(call).join(' ');
    const [own, ofModel] = [failing.get(key), models.get(model)];
    const pause = [own, ofModel].find((each) => each !== undefined && each.until > now());
    if (pause !== undefined) {
      const { failure, until } = pause;
      failing.set(key, { failures: 0, since: clock(), ...own, ...call, failure, until });
      throw new ModelError(`${model} is not asked before ${new Date(until).toISOString()}`, 'paused');
    }
    // One tries whether the model can be had again; the others wait for a minute.
    if (ofModel !== undefined) models.set(model, { ...ofModel, until: now() + firstMs });
    try {
      const result = await work();
      models.delete(model);
      failing.delete(key);
      return result;
    } catch (error) {
      if (!(error instanceof ModelError) || passedOver.has(error.failure)) throw error;
      const isOfModel = outages.has(error.failure) || error.failure === 'rejected';
      if (isOfModel) models.set(model, pauseAfter(ofModel, error));
      // Other work is tried first: the server may fail on the words of this one.
      failing.set(key, { ...call, ...pauseAfter(own, error, isOfModel ? firstMs : 0) });
      throw error;
    }
  };

  /** What is to be tried again, without what nobody wants any more. */
  const unwritten = () => [...failing.values()].filter(({ until }) => until + triedWithinMs > now());

  return {
    withPauses,
    unwritten,
    /** When a person's work is to be tried again. */
    heldUntil(this: void, userId: string): Date | undefined {
      const times = unwritten().flatMap((each) => (each.userId === userId ? each.until : []));
      return times.length === 0 ? undefined : new Date(Math.max(Math.min(...times), now() + firstMs));
    },
    /** Nothing is to be written of an erased person [K11]. */
    evict(this: void, userId: string): void {
      for (const [key, each] of Array.from(failing)) if (each.userId === userId) failing.delete(key);
    },
  };
}
