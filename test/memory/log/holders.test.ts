import { expect, it } from 'vitest';

import { snowflakeAt } from '../../../src/core/snowflake.ts';
import { createMessageHolders } from '../../../src/memory/log/holders.ts';

const now = Date.parse('2026-01-15T12:00:00Z');
const idAt = (minutes: number): string => snowflakeAt(new Date(now + minutes * 60_000));
const [alice, bob] = [
  { channelId: '1', userId: 'alice' },
  { channelId: '1', userId: 'bob' },
];

/** What was said before stands in logs; from when on they were read is counted, in minutes. */
function open() {
  const read: number[] = [];
  const holders = createMessageHolders(async function* (_, from) {
    read.push((from - now) / 60_000);
    if (from <= now - 60 * 60_000) yield { userId: 'alice', ids: [idAt(-60)] };
    yield { userId: 'alice', ids: [idAt(-5)] };
    yield { userId: 'bob', ids: [idAt(-5)] };
  });
  return { holders, read };
}

it('a deletion opens those alone who have the message, said before or since [L4]', async () => {
  const { holders, read } = open();
  expect(await holders.of('1', [idAt(-5)])).toEqual([alice, bob]);
  holders.note(alice, [idAt(1)]);
  holders.note(bob, [idAt(2), idAt(3)]);
  expect(await holders.of('1', [idAt(2)])).toEqual([bob]);
  expect(await holders.of('1', [idAt(1), idAt(3)])).toEqual([alice, bob]);
  expect(await holders.of('1', [idAt(4)])).toEqual([]);
  expect(read).toEqual([-5]);
});

it('however many deletions there are, the logs of a channel are read twice', async () => {
  const { holders, read } = open();
  for (let minutes = 1; minutes < 100; minutes += 1) await holders.of('1', [idAt(-minutes)]);
  expect(await holders.of('1', [idAt(-60)])).toEqual([alice]);
  expect(read).toEqual([-1, -now / 60_000]);
});

it('logs that could not be read are read again', async () => {
  let isDown = true;
  const holders = createMessageHolders(async function* () {
    if (isDown) throw new Error('no disk');
    yield { userId: 'bob', ids: [idAt(-5)] };
  });
  await expect(holders.of('1', [idAt(-5)])).rejects.toThrow('no disk');
  isDown = false;
  expect(await holders.of('1', [idAt(-5)])).toEqual([bob]);
});

it('an erased person is known no longer [K11]', async () => {
  const { holders } = open();
  await holders.of('1', [idAt(-5)]);
  holders.evict('alice');
  expect(await holders.of('1', [idAt(-5)])).toEqual([bob]);
});
