interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers what is asked for at the same time, so that it takes one round trip together: at most `atOnce` batches are under way, and what comes meanwhile makes
 * up the next ones. `run` gives a result for each item, in order; where it rejects, so does everything in the batch.
 */
export function createBatches<Item, Result>({
  atOnce,
  most,
  run,
}: {
  readonly atOnce: number;
  /** Items of a batch. */
  readonly most: number;
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
}) {
  let waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || underWay >= atOnce) return;
    isScheduled = true;
    // What is asked for in the same turn of the event loop comes with it.
    setImmediate(() => {
      isScheduled = false;
      start();
    });
  }

  function start(): void {
    const batch = waiting.slice(0, most);
    waiting = waiting.slice(most);
    underWay += 1;
    void settle(batch).finally(() => {
      underWay -= 1;
      schedule();
    });
    schedule();
  }

  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (result === undefined) reject(new Error('A batch came back without an answer'));
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
