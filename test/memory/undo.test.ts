import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import type { MemoryLayer } from '../../src/memory/layer.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import { durableDocumentKind, durableKey, emptyDurableDocument } from '../../src/memory/durable/document.ts';
import { undoForMs } from '../../src/memory/undo.ts';
import { createFileStore, type FileStore } from '../../src/storage/files/store.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { item as itemWith } from './durable/fixtures.ts';
import { messageId, openSessions, session, silent, startTime } from '../support/sessions.ts';
import { durableSettings } from '../support/layer-settings.ts';
import { runs } from '../support/runs.ts';
import { unconditional } from '../../src/core/writes.ts';

const work = unconditional(aliceId);

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'undo-'));
  folders.push(folder);
  return folder;
}

function openStore(folder: string): Promise<FileStore> {
  return createFileStore({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'workspace'),
    clock: () => new Date(),
    logger: silent,
  });
}

/** A person's memory in files: what was said, items, and what can be undone. Opened again over the same folder it is what a restart finds. */
async function openMemory(folder: string, beganAt = startTime, others: readonly MemoryLayer[] = []) {
  const store = await openStore(folder);
  const sessions = openSessions(store);
  sessions.time.now = beganAt;
  const layers: MemoryLayer[] = [];
  const forgetting = sessions.forgettingOver(layers);
  const durable: DurableMemory = createDurableMemory({
    settings: durableSettings,
    store,
    writes: sessions.writes,
    forgetting,
    parts: [forgetting.part],
    clock: sessions.clock,
    timeZone: 'UTC',
    logger: silent,
  });
  layers.push(durable, ...others);
  const ledger = sessions.ledgerOver(layers);
  await ledger.finish();
  await durable.expireItems(aliceId);
  const finish = () => forgetting.finish(aliceId).catch(() => undefined);
  await finish();
  return {
    ...sessions,
    store,
    durable,
    /** Time goes on, and what becomes due by then is done. */
    async pass(ms: number): Promise<void> {
      sessions.time.now += ms;
      await durable.expireItems(aliceId);
      await finish();
    },
    /** All that the file with the items says; no file says as little as an empty one. */
    async document() {
      const document = await store.read(durableKey(aliceId), durableDocumentKind);
      return { ...emptyDurableDocument, ...document, gone: document?.gone ?? [] };
    },
    async state() {
      return {
        items: await durable.list(aliceId),
        former: [...(await durable.historiesOf(aliceId))],
        said: (await sessions.log.since(session, 0)).messages,
      };
    },
  };
}

type Memory = Awaited<ReturnType<typeof openMemory>>;

/** The files below a folder, hidden ones too, that hold some bytes. */
async function filesWith(folder: string, words: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(path)).includes(words)) found.push(path);
  }
  return found;
}

/** Alice says something, is answered, and the bot notices it. */
async function notice(memory: Memory, text: string): Promise<string> {
  const [id = ''] = await memory.turn(text, `So: ${text}`);
  const outcome = await memory.durable.remember(work, {
    text,
    place: publicPlace,
    messageId: id,
    type: 'discord',
  });
  return outcome.outcome === 'refused' ? outcome.reason : outcome.item.id;
}

let commands = 0;
const commandId = () => messageId(900_000 + (commands += 1));

describe('forgetting an item', () => {
  it('takes the messages that it came from, with the answers to them, and brings them back when it is undone [K4][K5]', async () => {
    const memory = await openMemory(await newFolder());
    await notice(memory, 'I live in Lisbon');
    await memory.turn('What a day', 'Indeed.');
    const before = await memory.state();
    const done = await memory.durable.forget(work, 'Lisbon', publicPlace, commandId());
    expect(done).toMatchObject({
      forgotten: [{ text: 'I live in Lisbon' }],
      withdrawn: 2,
    });
    const after = await memory.state();
    expect(after.items).toEqual([]);
    expect(after.said.map(({ message }) => message.text)).toEqual(['What a day', 'Indeed.']);
    expect(await memory.durable.undo(work, done.undoId)).toMatchObject({
      what: 'forget',
      isDone: true,
    });
    expect(await memory.state()).toEqual(before);
    expect(await memory.durable.undo(work, done.undoId)).toBeUndefined();
    await memory.store.close();
  });

  it('leaves no byte of it in the folder when it can no longer be undone, even if the bot was stopped meanwhile [S7]', async () => {
    for (const restarts of [false, true]) {
      const folder = await newFolder();
      let memory = await openMemory(folder);
      await notice(memory, 'I live in Lisbon');
      await notice(memory, 'I keep bees');
      await memory.durable.forget(work, 'Lisbon', publicPlace, commandId());
      expect(await filesWith(folder, 'Lisbon')).not.toEqual([]);
      if (restarts) {
        await memory.store.close();
        memory = await openMemory(folder, startTime + undoForMs + 1);
      } else await memory.pass(undoForMs + 1);
      await memory.store.close();
      expect(await filesWith(folder, 'Lisbon')).toEqual([]);
      expect(await filesWith(folder, 'I keep bees')).not.toEqual([]);
    }
  });

  it.each(['while the bot runs', 'at the next start'])(
    'that a layer could not delete stays withheld until it has, %s, and leaves no byte then [S7]',
    async (when) => {
      const folder = await newFolder();
      let memory = await openMemory(folder);
      await notice(memory, 'I live in Lisbon');
      const { store } = memory;
      const rewrite = store.rewrite.bind(store);
      const refusing: typeof rewrite = (key, ...rest) =>
        key.endsWith('messages.jsonl') ? Promise.reject(new StoreError('full', key)) : rewrite(key, ...rest);
      Object.assign(store, { rewrite: refusing });
      await memory.durable.forget(work, 'Lisbon', publicPlace, commandId());
      await memory.pass(undoForMs + 1);
      Object.assign(store, { rewrite });
      expect(await memory.state()).toMatchObject({ items: [], said: [] });
      expect(await filesWith(folder, 'Lisbon')).not.toEqual([]);
      if (when === 'while the bot runs') await memory.pass(1000);
      else {
        await store.close();
        memory = await openMemory(folder, startTime + undoForMs + 1);
      }
      await memory.store.close();
      expect(await filesWith(folder, 'Lisbon')).toEqual([]);
    },
  );

  it('cannot be undone after ten minutes, nor by anybody else [K5]', async () => {
    const memory = await openMemory(await newFolder());
    await notice(memory, 'I live in Lisbon');
    const { undoId } = await memory.durable.forget(work, 'Lisbon', publicPlace, commandId());
    expect(await memory.durable.undo(unconditional('100000000000000002'), undoId)).toBeUndefined();
    await memory.pass(undoForMs);
    expect(await memory.durable.undo(work, undoId)).toBeUndefined();
    await memory.store.close();
  });

  it('brings back the others that went with it though one of its messages is deleted meanwhile [S7][G5]', async () => {
    const folder = await newFolder();
    const memory = await openMemory(folder);
    for (const text of ['I like tea', 'I live in Lisbon']) await notice(memory, text);
    const { items, said } = await memory.state();
    const id = said[0]?.message.id ?? '';
    const itemIds = items.map((item) => item.id);
    const { undoId } = await memory.durable.forget(work, itemIds, publicPlace, commandId());
    const deletion = { kind: 'deleted', channelId: session.channelId, messageIds: [id] } as const;
    await memory.ledgerOver([memory.durable]).record(deletion);
    expect(await memory.durable.undo(work, undoId)).toMatchObject({ isDone: true });
    expect(await memory.state()).toMatchObject({ items: [{ text: 'I live in Lisbon' }] });
    await memory.store.close();
    expect(await filesWith(folder, 'tea')).toEqual([]);
  });
});

const words = ['tea', 'coffee', 'bees', 'Rust', 'Lisbon'] as const;
/** Whatever people do to their items by command; resolves with what undoes it. */
async function command({ durable, turn }: Memory, each: CommandStep): Promise<string | undefined> {
  const everywhere = { ...publicPlace, audience: 'dm' } as const;
  const items = await durable.list(aliceId);
  const [first, other] = [0, 1].map((more) => items[(each.at + more) % Math.max(1, items.length)]?.id ?? '');
  const place = publicPlace;
  const text = `I like ${each.word}`;
  switch (each.do) {
    case 'remember': {
      const request = { text, place, messageId: commandId(), type: 'manual' } as const;
      const stored = await durable.remember(work, request);
      return stored.outcome === 'refused' ? undefined : stored.undoId;
    }
    case 'forget':
      return (await durable.forget(work, each.word, place, commandId())).undoId;
    case 'forget mentions': {
      const [id = ''] = await turn(`So much about ${each.word}`);
      const messages = [{ channelId: session.channelId, messageIds: [id] }];
      const more = { words: each.word, messages };
      return (await durable.forget(work, [], place, commandId(), more)).undoId;
    }
    case 'edit': {
      const edited = await durable.edit(work, first ?? '', `${text} a lot`, everywhere, commandId());
      return 'undoId' in edited ? edited.undoId : undefined;
    }
    case 'hide':
      return (await durable.setVisibility(work, first ?? '', 'dm', everywhere)).undoId;
    case 'pin':
      return (await durable.setPinned(work, first ?? '', true, everywhere)).undoId;
    case 'keep':
      return (await durable.keepOne(work, first ?? '', other ?? '', everywhere)).undoId;
    case 'confirm':
      return (await durable.confirm(work, [first ?? ''], everywhere)).undoId;
    case 'import': {
      const imported = [each.word, words[each.at % words.length]].map((word) =>
        itemWith({ id: `of-${word}`, text: `I like ${word}` }),
      );
      return (await durable.rememberAll(work, imported)).undoId;
    }
  }
}

const commandStep = fc.record({
  do: fc.constantFrom(
    'remember',
    'forget',
    'forget mentions',
    'edit',
    'hide',
    'pin',
    'keep',
    'confirm',
    'import',
  ),
  word: fc.constantFrom(...words),
  at: fc.nat(5),
});
type CommandStep = typeof commandStep extends fc.Arbitrary<infer S> ? S : never;

describe('undo', () => {
  it('inverts every change, one after the other, after a restart too, and leaves nothing of it but what was [K5][A4]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commandStep, { maxLength: 10 }), fc.nat(12), async (steps, restartAt) => {
        const folder = await newFolder();
        let memory = await openMemory(folder);
        const done: { readonly undoId: string; readonly before: unknown }[] = [];
        for (const each of steps) {
          const before = await memory.document();
          const undoId = await command(memory, each);
          if (undoId !== undefined) done.push({ undoId, before });
        }
        for (const [index, { undoId, before }] of done.toReversed().entries()) {
          if (index === restartAt) {
            await memory.store.close();
            memory = await openMemory(folder);
          }
          expect(await memory.durable.undo(work, undoId)).toMatchObject({ isDone: true });
          expect(await memory.document()).toEqual(before);
          expect(await memory.durable.undo(work, undoId)).toBeUndefined();
        }
        await memory.store.close();
      }),
      { numRuns: runs(60) },
    );
  });

  it('is not offered for what leaves everything as it was, and the change before it can be undone', async () => {
    const memory = await openMemory(await newFolder());
    const request = {
      text: 'I like tea',
      place: publicPlace,
      messageId: commandId(),
      type: 'manual',
    } as const;
    await memory.durable.remember(work, request);
    expect(await memory.durable.remember(work, request)).not.toHaveProperty('undoId', expect.any(String));
    expect(await memory.durable.undo(work)).toMatchObject({
      what: 'remember',
      isDone: true,
    });
    expect(await memory.durable.list(aliceId)).toEqual([]);
    await memory.store.close();
  });

  it('of an edit ends with the message that the former words came from, and they leave the disk [G5][S7]', async () => {
    const folder = await newFolder();
    const memory = await openMemory(folder);
    const itemId = await notice(memory, 'I live in Lisbon');
    const [said] = (await memory.state()).said;
    const place = { ...publicPlace, audience: 'dm' } as const;
    const edited = await memory.durable.edit(work, itemId, 'I live in Porto', place, commandId());
    const messageIds = [said?.message.id ?? ''];
    await memory
      .ledgerOver([memory.durable])
      .record({ kind: 'deleted', channelId: session.channelId, messageIds });
    expect(await memory.durable.undo(work, 'undoId' in edited ? edited.undoId : '')).toBeUndefined();
    expect(await memory.durable.list(aliceId)).toMatchObject([{ text: 'I live in Porto' }]);
    await memory.store.close();
    expect(await filesWith(folder, 'Lisbon')).toEqual([]);
  });

  it('is for the newest fifty changes, however often one item is changed [L3]', async () => {
    const memory = await openMemory(await newFolder());
    const itemId = await notice(memory, 'I like tea');
    for (let count = 0; count < 70; count += 1)
      await memory.durable.setPinned(work, itemId, count % 2 === 0, publicPlace);
    expect((await memory.document()).changes).toHaveLength(50);
    expect(await memory.durable.undo(work)).toMatchObject({ what: 'unpin', isDone: true });
    await memory.store.close();
  });

  it('of what the bot noticed keeps it from being noticed again, until the person says so [D2]', async () => {
    const memory = await openMemory(await newFolder());
    const [id = ''] = await memory.turn('I like tea');
    const noticed = { text: 'I like tea', place: publicPlace, messageId: id, type: 'summary' } as const;
    await memory.durable.remember(work, noticed);
    await memory.pass(1000);
    // It was found once more, which must not be what is undone.
    await memory.durable.remember(work, noticed);
    expect(await memory.durable.undo(work)).toMatchObject({
      what: 'remember',
      isDone: true,
    });
    expect((await memory.state()).items).toEqual([]);
    expect(await memory.durable.remember(work, noticed)).toMatchObject({
      reason: 'forgotten',
    });
    expect(await memory.durable.remember(work, { ...noticed, type: 'manual' })).toMatchObject({
      item: { text: 'I like tea' },
    });
    await memory.store.close();
  });

  it('of a forgetting brings the messages back beside what was remembered again meanwhile [K5]', async () => {
    const memory = await openMemory(await newFolder());
    await notice(memory, 'I live in Lisbon');
    const before = await memory.state();
    const forgotten = await memory.durable.forget(work, 'Lisbon', publicPlace, commandId());
    const again = { text: 'I live in Lisbon', place: publicPlace, messageId: commandId() };
    const remembered = await memory.durable.remember(work, { ...again, type: 'manual' });
    expect(remembered).toMatchObject({ outcome: 'revived', item: { text: 'I live in Lisbon' } });
    // It is said again; the messages stay withheld.
    expect(await memory.state()).toMatchObject({ items: [{ text: 'I live in Lisbon' }], said: [] });
    await memory.durable.undo(work, forgotten.undoId);
    const { items, said } = await memory.state();
    expect({ items: items.length, said }).toEqual({ items: 1, said: before.said });
    expect(await memory.durable.undo(work)).toMatchObject({
      what: 'remember',
      isDone: true,
    });
    expect(await memory.state()).toEqual(before);
    await memory.store.close();
  });

  it('of one of two forgettings leaves out what the other took too, and that comes back with the other [K4][K5]', async () => {
    const folder = await newFolder();
    const memory = await openMemory(folder);
    const [id = ''] = await memory.turn('I like tea and coffee', 'Both, then.');
    const noticed = { place: publicPlace, messageId: id, type: 'summary' } as const;
    for (const text of ['I like tea', 'I like coffee'])
      await memory.durable.remember(work, { ...noticed, text });
    const before = await memory.state();
    const tea = await memory.durable.forget(work, 'tea', publicPlace, commandId());
    const coffee = await memory.durable.forget(work, 'coffee', publicPlace, commandId());
    expect(await memory.durable.undo(work, tea.undoId)).toMatchObject({ isDone: true });
    expect(await memory.state()).toMatchObject({ items: [{ text: 'I like tea' }], said: [] });
    expect(await memory.durable.undo(work, coffee.undoId)).toMatchObject({ isDone: true });
    const after = await memory.state();
    expect({ ...after, items: new Set(after.items) }).toEqual({ ...before, items: new Set(before.items) });
    await memory.store.close();
  });

  it('is of the newest change, though all were made within a millisecond', async () => {
    const memory = await openMemory(await newFolder());
    const said = { place: publicPlace, messageId: commandId(), type: 'manual' } as const;
    for (const text of ['I like tea', 'I like coffee'])
      await memory.durable.remember(work, { ...said, text });
    const tea = (await memory.document()).items[0]?.id ?? '';
    await memory.durable.setPinned(work, tea, true, publicPlace);
    expect(await memory.durable.undo(work)).toMatchObject({ what: 'pin', isDone: true });
    await memory.store.close();
  });

  it('says so where something of the change was changed since', async () => {
    const memory = await openMemory(await newFolder());
    const first = await memory.durable.remember(work, {
      text: 'I like tea',
      place: publicPlace,
      messageId: commandId(),
      type: 'manual',
    });
    const { id = '' } = (await memory.state()).items[0] ?? {};
    await memory.durable.setPinned(work, id, true, publicPlace);
    const undoId = first.outcome === 'refused' ? '' : first.undoId;
    expect(await memory.durable.undo(work, undoId)).toMatchObject({ isDone: false });
    expect((await memory.state()).items).toMatchObject([{ text: 'I like tea', pinned: true }]);
    await memory.store.close();
  });
});
