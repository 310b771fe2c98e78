import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { RecentChanges } from '../../src/core/changes.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createChangeLedger } from '../../src/memory/changes.ts';
import { createSessions } from '../../src/memory/log/sessions.ts';
import { createPersonSettings } from '../../src/memory/settings/person-settings.ts';
import { createChannelJournal, journalInJobs, saveBestEffort } from '../../src/turn/journal.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { SharedData } from '../support/shared-store.ts';
import { silent, startTime } from '../support/sessions.ts';
import { runs } from '../support/runs.ts';

const asked = snowflakeAt(new Date(startTime - 60_000));
const erasedAt = new Date(startTime).toISOString();
const question = { userId: aliceId, speakerName: 'Alice', place: publicPlace, messageIds: [asked] };

const clock = () => new Date(startTime);

/** Two processes whose notices are lost: one answers, the other one erases. */
function twoProcesses(pause: () => number) {
  const data = new SharedData({ now: () => startTime, pause, arrives: () => false });
  function open() {
    const { store, shared } = data.open();
    const { locks } = shared.processes;
    const writes = createKeyedQueue({
      shared: { locks, refusalOf: (userId) => people.erasedAt(userId), clock },
    });
    const people = createPersonSettings({ store, writes, defaultMode: 'auto', clock, logger: silent });
    const sessions = createSessions(store);
    const recent = new RecentChanges();
    const journal = journalInJobs(createChannelJournal({ store, changes: recent }), {
      writes,
      begin: (session) => sessions.begin(session),
      people,
    });
    const ledger = createChangeLedger({
      store,
      recent,
      writes,
      log: {
        sessionsOf: () => Promise.resolve([]),
        affected: () => Promise.resolve([]),
        message: () => Promise.resolve(undefined),
        everyOfPerson: sessions.everyOfPerson,
        sessionsOfPerson: sessions.ofPerson,
        mentions: () => Promise.resolve([]),
        placesOf: () => Promise.resolve([]),
      },
      layers: [],
      answers: journal,
      mayStore: () => Promise.resolve(true),
      placeOf: () => Promise.resolve(undefined),
      changed: () => {},
      endWork: () => {},
      noteErased: (userId, at) => people.noteErased(userId, at),
      processes: shared.processes,
      clock,
      timer: () => () => {},
      logger: silent,
    });
    return { journal, ledger };
  }
  async function left(): Promise<string> {
    const lines: string[] = [];
    for await (const { record } of data.common.scan(`channels/${generalId}/journal.jsonl`, z.unknown()))
      lines.push(JSON.stringify(record));
    const own = await data.common.list(`users/${aliceId}`);
    return [...lines, ...own.map(({ path }) => path)].join('\n');
  }
  return { answering: open(), erasing: open(), left };
}

describe('the journal of a channel in which nothing else is held about a person', () => {
  it('has nothing of them once they were erased by another process, whatever that came between [K11] [X2]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { minLength: 60, maxLength: 60 }), async (pauses) => {
        const { answering, erasing, left } = twoProcesses(() => pauses.shift() ?? 0);
        const answer = async () => {
          const { journal } = answering;
          await saveBestEffort(silent, 'a beginning', () => journal.begin({ ...question, replyIds: ['1'] }));
          await saveBestEffort(silent, 'an answer', () => journal.prepare({ ...question, text: 'Hello.' }));
        };
        const [failures] = await Promise.all([erasing.ledger.erase(aliceId, erasedAt), answer()]);
        expect([...failures.keys()]).toEqual([]);
        expect(await left()).toBe('');
      }),
      { numRuns: runs(100) },
    );
  });

  it('is found by an erasing that comes later, and has what is asked after it', async () => {
    const { answering, erasing, left } = twoProcesses(() => 0);
    await answering.journal.begin({ ...question, replyIds: ['1'] });
    expect(await left()).toContain('Alice');
    await erasing.ledger.erase(aliceId, erasedAt);
    expect(await left()).toBe('');
    const later = { ...question, messageIds: [snowflakeAt(new Date(startTime + 1000))] };
    await answering.journal.prepare({ ...later, text: 'Hello.' });
    expect(await answering.journal.unsent(generalId)).toHaveLength(1);
  });
});
