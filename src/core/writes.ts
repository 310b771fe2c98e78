import { createKeyedQueue } from './keyed-queue.ts';
import type { SessionKey } from './place.ts';
import type { Clock } from './time.ts';

/**
 * Something that is done for a person, made once when it begins and handed on as it is. What they had erased since
 * refuses its writes [K11].
 */
export interface Work {
  readonly userId: string;
  /** The person's newest erasing of everything when the work began, ISO 8601; absent for none. For this file alone. */
  readonly startedAfter?: string | undefined;
}

/** Something in one conversation. */
export type SessionWork = SessionKey & Work;

/** The person had everything erased since the work began. */
export class RefusedJobError extends Error {
  override readonly name = 'RefusedJobError';
}

/** Later than every erasing. */
const always = '9999-12-31T23:59:59.999Z';

/** For work that is a single job and uses nothing that was read before it: no erasing can come between. */
export function unconditional(userId: string): Work {
  return { userId, startedAfter: always };
}

export type Writes = ReturnType<typeof createWrites>;

/**
 * All that is written of people [S3]: one person's jobs run in order, in all processes [X2], different people's side
 * by side. A job must not wait for another one of its person.
 */
export function createWrites({
  locks,
  erasedAt,
  written = () => {},
  clock,
}: {
  /** As in `Locks`. */
  readonly locks: { hold<T>(key: string, job: () => Promise<T>): Promise<T> };
  /** When the person last had everything erased, by any process; ISO 8601. Rejects with `StoreError`. */
  readonly erasedAt: (userId: string) => Promise<string | undefined>;
  /** Told after each job of a person. */
  readonly written?: (userId: string) => void;
  readonly clock: Clock;
}) {
  const jobs = createKeyedQueue();

  const hold = <T>(key: string, job: () => Promise<T>): Promise<T> =>
    jobs.run(key, () => locks.hold(key, job));

  return {
    /** To be called before anything of the person is read that the work writes on. Never rejects. */
    async begin(this: void, userId: string): Promise<Work> {
      // Unknown: erasings count from now on.
      const now = clock().toISOString();
      return { userId, startedAfter: await erasedAt(userId).catch(() => now) };
    },
    /** Rejects with `RefusedJobError` where the person had everything erased since the work began. */
    run<T>({ userId, startedAfter = '' }: Work, job: () => Promise<T>): Promise<T> {
      return hold(userId, async () => {
        if (((await erasedAt(userId)) ?? '') > startedAfter)
          throw new RefusedJobError('the person had everything erased since the work began');
        return job().finally(() => written(userId));
      });
    },
    /** Changes of the owners' notes, also within a job of a person. */
    runInWorkspace: <T>(job: () => Promise<T>): Promise<T> => hold('workspace', job),
    get size(): number {
      return jobs.size;
    },
    idle: (): Promise<void> => jobs.idle(),
  };
}
