import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createWrites } from '../../src/core/writes.ts';
import { createChangeLedger } from '../../src/memory/changes.ts';
import { createSessions } from '../../src/memory/log/sessions.ts';
import { createErasures } from '../../src/memory/settings/erasures.ts';
import { createPersonSettings } from '../../src/memory/settings/person-settings.ts';
import { createOutbox, outboxInJobs, saveBestEffort } from '../../src/turn/outbox.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { SharedData } from '../support/shared-store.ts';
import { silent, startTime } from '../support/sessions.ts';
import { runs } from '../support/runs.ts';

const asked = snowflakeAt(new Date(startTime - 60_000));
const erasedAt = new Date(startTime).toISOString();
const work = { userId: aliceId };
const question = { ...work, work, speakerName: 'Alice', place: publicPlace, messageIds: [asked] };

const clock = () => new Date(startTime);

/** Two processes whose notices are lost: one answers, the other one erases. */
function twoProcesses(pause: () => number) {
  const data = new SharedData({ now: () => startTime, pause, arrives: () => false });
  function open() {
    const { store, shared } = data.open();
    const { locks } = shared.processes;
    const erasures = createErasures(store);
    const writes = createWrites({ locks, erasedAt: erasures.at, clock });
    const people = createPersonSettings({ store, writes, defaultMode: 'auto', clock, logger: silent });
    const sessions = createSessions(store);
    const recent = new RecentChanges();
    const outbox = outboxInJobs(createOutbox({ store, changes: recent }), {
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
        held: () => Promise.resolve([]),
      },
      layers: [],
      answers: outbox,
      mayStore: () => Promise.resolve(true),
      placeOf: () => Promise.resolve(undefined),
      changed: () => {},
      endWork: () => {},
      noteErased: erasures.note,
      processes: shared.processes,
      expireAt: () => Promise.resolve(),
      clock,
      logger: silent,
    });
    return { outbox, ledger, writes };
  }
  async function left(): Promise<string> {
    const outbox = createOutbox({ store: data.open().store, changes: new RecentChanges() });
    const replies = [...(await outbox.unsent(generalId)), ...(await outbox.unfinished(generalId))];
    const own = await data.common.list(`users/${aliceId}`);
    return [...replies.map((reply) => JSON.stringify(reply)), ...own.map(({ path }) => path)].join('\n');
  }
  return { answering: open(), erasing: open(), left };
}

describe('the outbox of a channel in which nothing else is held about a person', () => {
  it('holds nothing of them once another process erased them, at whatever moment [K11] [X2]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { minLength: 60, maxLength: 60 }), async (pauses) => {
        const { answering, erasing, left } = twoProcesses(() => pauses.shift() ?? 0);
        const answer = async () => {
          const { outbox } = answering;
          await saveBestEffort(silent, 'a beginning', () => outbox.begin({ ...question, replyIds: ['1'] }));
          await saveBestEffort(silent, 'an answer', () => outbox.prepare({ ...question, text: 'Hello.' }));
        };
        const [failures] = await Promise.all([erasing.ledger.erase(aliceId, erasedAt), answer()]);
        expect([...failures.keys()]).toEqual([]);
        expect(await left()).toBe('');
      }),
      { numRuns: runs(100) },
    );
  });
});
