import { expect, it } from 'vitest';

import { laidOutFor } from '../../src/bot/migrate-layout.ts';
import type { RawEntry, RawStore } from '../../src/storage/raw.ts';
import { aliceId, bobId, generalId } from '../support/incoming.ts';

const quietId = '200000000000000088';

function logOf(key: string, records: readonly object[]): RawEntry {
  const numbered = records.map((record, index) => ({ sequence: index + 1, json: JSON.stringify(record) }));
  return { kind: 'log', key, records: numbered, highest: numbered.length };
}

function sourceOf(...entries: readonly RawEntry[]): Pick<RawStore, 'keys' | 'read'> {
  return {
    keys: () => Promise.resolve(entries.map(({ key }) => key)),
    read: (keys) => Promise.resolve(entries.filter(({ key }) => keys.includes(key))),
  };
}

it('a shared store knows of each person the channels whose journal has something of theirs, also where they never had a conversation [K11] [X4]', async () => {
  const source = sourceOf(
    logOf(`sessions/${generalId}/${aliceId}/messages.jsonl`, []),
    logOf(`channels/${quietId}/journal.jsonl`, [
      { kind: 'begun', userId: aliceId, messageIds: ['1'] },
      { kind: 'handled', messageIds: ['1'] },
      { kind: 'prepared', userId: bobId, messageIds: ['2'] },
    ]),
  );
  const listOf = async (layout: 'alone' | 'shared', userId: string) => {
    const [entry] = await (await laidOutFor(layout, source)).read([`users/${userId}/sessions.json`]);
    return entry?.kind === 'document' ? JSON.parse(entry.text).channels : undefined;
  };
  expect(await listOf('shared', aliceId)).toEqual([generalId, quietId].toSorted());
  expect(await listOf('shared', bobId)).toEqual([quietId]);
  expect(await listOf('alone', bobId)).toBeUndefined();
});
