import { describe, expect, it } from 'vitest';

import { unconditional } from '../../../src/core/writes.ts';
import { createDurableMemory, type DurableMemory } from '../../../src/memory/durable/durable-memory.ts';
import { createStagedFiles } from '../../../src/memory/notebook/background.ts';
import { createNotebook } from '../../../src/memory/notebook/notebook.ts';
import { createUndoableNotes } from '../../../src/memory/notebook/undoable.ts';
import { emptyRecord, hashOf } from '../../../src/memory/withheld.ts';
import { aliceId, publicPlace } from '../../support/incoming.ts';
import { durableSettings, notebookSettings } from '../../support/layer-settings.ts';
import { dmPlace, openSessions, silent, startTime } from '../../support/sessions.ts';

const key = `users/${aliceId}/notebook/USER.md`;
const dayMs = 86_400_000;
const nothing = (): Promise<void> => Promise.resolve();

const all = async (files: AsyncIterable<{ readonly text: string }>) => {
  let texts = '';
  for await (const { text } of files) texts += text;
  return texts;
};

/** A look back replaces a line of Alice's profile. */
async function setUp(
  before = '- Lives in Porto\n- Keeps bees\n',
  after = '- Lives in Braga\n- Keeps bees\n',
) {
  const sessions = openSessions();
  const { store, writes, states, log, clock } = sessions;
  const undoable = createUndoableNotes({ store, writes, clock });
  const settings = notebookSettings;
  const notebook = createNotebook({
    settings,
    store,
    writes,
    states,
    log,
    undoable,
    timeZone: 'UTC',
    logger: silent,
  });
  const ledger = sessions.ledgerOver([notebook]);
  await store.writeText(key, before);
  const lookBack = async (path: string, text: string, fails = false): Promise<void> => {
    const files = createStagedFiles(
      store,
      () => true,
      'I left Porto, I live in Braga now',
      (...change) => undoable.changeInBackground(aliceId, ...change),
    );
    await files.writeText(path, text);
    await files.commit(fails ? () => Promise.reject(new Error('full')) : nothing);
  };
  const untold = async (place = dmPlace) =>
    undoable.untold({ speaker: { id: aliceId, name: 'Alice', isOwner: false }, place });
  const undoIt = async (): Promise<void> => {
    const [change] = await undoable.part.list(aliceId);
    if (change !== undefined) await undoable.part.undo(aliceId, change.id);
  };
  return {
    ...sessions,
    undoable,
    notebook,
    ledger,
    lookBack: () => lookBack(key, after),
    write: lookBack,
    untold,
    undoIt,
  };
}

describe('what a look back takes out of a notebook [A3]', () => {
  it('is told once, in direct messages only, and kept for thirty days', async () => {
    const { lookBack, untold, undoIt, undoable, store, time } = await setUp();
    await lookBack();
    expect((await untold(publicPlace)).notices).toEqual([]);
    const { notices, markTold } = await untold();
    expect(notices).toMatchObject([
      { line: expect.stringContaining('took 1 line out of `USER.md`'), buttons: [{ label: 'Undo' }] },
    ]);
    await markTold();
    expect((await untold()).notices).toEqual([]);
    time.now += 29 * dayMs;
    await undoable.expire(aliceId);
    await undoIt();
    expect(await store.readText(key)).toBe('- Lives in Porto\n- Keeps bees\n');
    await lookBack();
    time.now += 30 * dayMs;
    expect(await undoable.part.list(aliceId)).toEqual([]);
    await undoable.expire(aliceId);
    expect(await store.list(`users/${aliceId}/former`)).toEqual([]);
  });

  it('comes back behind what the note says since', async () => {
    const { lookBack, undoIt, store } = await setUp();
    await lookBack();
    await store.writeText(key, '- Lives in Braga\n- Keeps bees\n- Likes rain\n');
    await undoIt();
    await undoIt();
    expect(await store.readText(key)).toBe(
      '- Lives in Braga\n- Keeps bees\n- Likes rain\n- Lives in Porto\n',
    );
  });

  it('is kept of the newest twenty changes of a note [L3], and goes when everything is erased [K11]', async () => {
    const { undoable, store, notebook, time } = await setUp();
    const write = (count: number) => store.writeText(key, `${count}\n`);
    for (let count = 1; count <= 25; count += 1) {
      time.now += 1000;
      const before = await store.readText(key);
      await undoable.change(aliceId, [{ key, before, after: `${count}\n` }], () => write(count));
    }
    const kept = await store.list(`users/${aliceId}/former`);
    expect(kept).toHaveLength(20);
    const texts = await Promise.all(
      kept.map(({ path }) => store.readText(`users/${aliceId}/former/${path}`)),
    );
    expect(texts.join('')).not.toMatch(/^[123]$/mu);
    await notebook.delete({ kind: 'person', userId: aliceId, sessions: [] });
    expect(await store.list(`users/${aliceId}/former`)).toEqual([]);
  });

  it('is neither told nor kept where it was only added to, or could not be written', async () => {
    const { write, untold, store } = await setUp();
    await write(key, '- Lives in Porto\n- Keeps bees\n- Likes rain\n');
    await write(`sessions/1/${aliceId}/overview.md`, 'a');
    await expect(write(key, '- Lives in Braga\n- Keeps bees\n- Likes rain\n', true)).rejects.toThrow('full');
    expect((await untold()).notices).toEqual([]);
    expect(await store.list(`users/${aliceId}/former`)).toEqual([]);
  });

  it('of a tool is kept no more once a message is deleted, which it may repeat [K5][S7]', async () => {
    const { undoable, ledger, store, turn } = await setUp();
    const [said = ''] = await turn('I left Porto', 'I see.', dmPlace);
    const after = '- Keeps bees\n';
    const notes = [{ key, before: await store.readText(key), after }];
    await undoable.change(aliceId, notes, () => store.writeText(key, after));
    await ledger.record({ kind: 'deleted', channelId: dmPlace.channelId, messageIds: [said] });
    expect(await undoable.part.list(aliceId)).toEqual([]);
    expect(await store.list(`users/${aliceId}/former`)).toEqual([]);
  });

  it('comes back after the person’s own last change when `undo` names none', async () => {
    const { lookBack, undoable, notebook, clock, store, writes } = await setUp();
    const durable: DurableMemory = createDurableMemory({
      settings: durableSettings,
      store,
      writes,
      parts: [undoable.part],
      forgetting: { withhold: () => expect.unreachable() },
      clock,
      timeZone: 'UTC',
      logger: silent,
    });
    const request = { text: 'Likes rain', place: dmPlace, messageId: '1', type: 'manual' } as const;
    await durable.remember(unconditional(aliceId), request);
    await lookBack();
    expect(await durable.undo(unconditional(aliceId))).toMatchObject({ what: 'remember', isDone: true });
    expect(await durable.undo(unconditional(aliceId))).toMatchObject({ what: 'note', isDone: true });
    expect(await all(notebook.export(aliceId))).toBe('- Lives in Porto\n- Keeps bees\n');
    expect(await durable.undo(unconditional(aliceId))).toBeUndefined();
  });

  it('is told nowhere as long as it is withheld [F5]', async () => {
    const { lookBack, ledger, notebook } = await setUp();
    await lookBack();
    const record = emptyRecord(aliceId, new Date(startTime).toISOString(), {
      kind: 'forgotten',
      commandId: '1',
    });
    const notes = [{ key, lines: [hashOf('- Lives in Porto')] }];
    await ledger.enter(aliceId, { ...record, until: '2026-01-15T10:10:00.000Z', notes });
    expect(await all(notebook.export(aliceId))).toBe('- Lives in Braga\n- Keeps bees\n- Keeps bees\n');
    expect(await all(notebook.purgeable(aliceId))).not.toContain('Porto');
  });

  it('loses what is withdrawn, keeps the rest, and stands in the export and in what purge looks through', async () => {
    const { lookBack, ledger, store, undoable, notebook, turn } = await setUp(
      '- Lives in Porto\n- Keeps bees\n',
      '- Keeps bees\n',
    );
    const [bees = ''] = await turn('Keeps bees', 'Nice.', dmPlace);
    const [other = ''] = await turn('What a day', 'Indeed.', dmPlace);
    await lookBack();
    await ledger.record({ kind: 'deleted', channelId: dmPlace.channelId, messageIds: [other] });
    expect(await all(undoable.kept(aliceId))).toBe('- Lives in Porto\n- Keeps bees\n');
    expect(await all(notebook.export(aliceId))).toContain('Porto');
    expect(await all(notebook.purgeable(aliceId))).toContain('Porto');
    await ledger.record({ kind: 'deleted', channelId: dmPlace.channelId, messageIds: [bees] });
    expect(await all(undoable.kept(aliceId))).toBe('- Lives in Porto\n');
    await ledger.purge({ userId: aliceId, words: 'Porto', commandId: '999999999999999999' });
    expect(await store.list(`users/${aliceId}/former`)).toEqual([]);
  });
});
