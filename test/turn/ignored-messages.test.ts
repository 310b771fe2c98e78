import { expect, it } from 'vitest';

import { snowflakeAt } from '../../src/core/snowflake.ts';
import { readIgnored, writeIgnored } from '../../src/turn/recover.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

const now = new Date('2026-01-15T10:00:00Z');
const logger = new RecordingLogger();
const idFrom = (minutesAgo: number): string => snowflakeAt(new Date(now.getTime() - minutesAgo * 60_000));

it('what was ignored is kept for as long as it could be caught up with', async () => {
  const store = new MemoryStore();
  await writeIgnored(store, [], { now, logger });
  expect(await readIgnored(store, logger)).toEqual([]);
  await writeIgnored(store, [idFrom(1), idFrom(4), idFrom(6)], { now, logger });
  expect(await readIgnored(store, logger)).toEqual([idFrom(1), idFrom(4)]);
  await writeIgnored(store, [idFrom(2)], { now, logger });
  expect(await readIgnored(store, logger)).toEqual([idFrom(1), idFrom(4), idFrom(2)]);
  await writeIgnored(store, [], { now: new Date(now.getTime() + 5 * 60_000), logger });
  expect(await readIgnored(store, logger)).toEqual([]);
});

class FailingStore extends MemoryStore {
  override read(): Promise<never> {
    return Promise.reject(new Error('no disk'));
  }

  override update(): Promise<never> {
    return Promise.reject(new Error('no disk'));
  }
}

it('a store that fails is a line in the log', async () => {
  const store = new FailingStore();
  expect(await readIgnored(store, logger)).toEqual([]);
  await writeIgnored(store, [idFrom(1)], { now, logger });
  expect(logger.warnings).toEqual([
    'what was ignored before the start is not known',
    'what was ignored could not be kept',
  ]);
});
