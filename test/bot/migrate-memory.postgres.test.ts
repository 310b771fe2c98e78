import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { createCommands } from '../../src/bot/commands.ts';
import { layersAlone } from '../../src/bot/memory-alone.ts';
import { moveAll } from '../../src/bot/migrate.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { processTimer } from '../../src/core/time.ts';
import { createOneProcess, type Processes } from '../../src/core/processes.ts';
import type { Store } from '../../src/core/store.ts';
import { createWorkQueue, type WorkQueue } from '../../src/core/work-queue.ts';
import { openRawFiles } from '../../src/storage/files/raw-files.ts';
import { openRawDatabase } from '../../src/storage/postgres/raw-database.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from '../storage/postgres/temporary-database.ts';
import { createTemporaryStores, type TemporaryStores } from '../storage/files/temporary-store.ts';
import { closedEdges } from '../support/closed-edges.ts';
import { aliceId, bobId, generalId, publicPlace } from '../support/incoming.ts';
import { oneServer } from '../support/servers.ts';
import { dmPlace, messageId, silent } from '../support/sessions.ts';
import { beginningNow } from '../../src/core/writes.ts';

const carlId = '100000000000000003';
const undoLastsMs = 10 * 60_000;

/** Memory over a store that is opened for it, alone or shared. */
interface Opened {
  readonly store: Store & { close(): Promise<void> };
  readonly shared?: { readonly processes: Processes; readonly work: WorkQueue };
}

describe.each(['files to a database', 'a database to files'])('memory that was moved from %s [X4]', (way) => {
  let database: TemporaryDatabase;
  let files: TemporaryStores;
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await files.dispose();
    await database.dispose();
  });

  const inFiles = async (): Promise<Opened> => ({ store: await files.open({ clock: () => new Date() }) });
  const inDatabase = async (): Promise<Opened> => {
    const store = await database.open();
    return { store, shared: { processes: store, work: store.work } };
  };

  /** What is made by `fill`, moved, and opened again so much later. */
  async function moved(fill: (memory: ReturnType<typeof memoryOver>) => Promise<unknown>, laterMs = 0) {
    files = await createTemporaryStores();
    database = await createTemporaryDatabase();
    const isForth = way.startsWith('files');
    const source = await (isForth ? inFiles() : inDatabase());
    await fill(memoryOver(source, 0));
    await source.store.close();
    const rawFiles = await openRawFiles({ ...files, clock: () => new Date(), logger: silent });
    const rawDatabase = await openRawDatabase(database.url, silent);
    const [from, to] = isForth ? [rawFiles, rawDatabase] : [rawDatabase, rawFiles];
    await moveAll(from, to);
    // Called once more, it finds everything there.
    expect(await moveAll(from, to)).toMatchObject({ copied: 0 });
    await from.close();
    await to.close();
    const target = await (isForth ? inDatabase() : inFiles());
    closing.push(() => target.store.close());
    return { ...memoryOver(target, laterMs), store: target.store };
  }

  it('can be undone as before', async () => {
    const memory = await moved(async ({ give }) => {
      await give('remember I like tea');
      await give('remember I like rum');
      await give('forget rum');
    });
    expect(await memory.give('show')).not.toContain('rum');
    expect(await memory.give('undo')).toContain('Undone');
    expect(await memory.give('show')).toContain('rum');
  });

  it('is final in time, though nobody says anything', async () => {
    const memory = await moved(async ({ give }) => {
      await give('remember I like rum');
      await give('forget rum');
    }, undoLastsMs);
    await memory.start();
    await expect.poll(() => recordsIn(memory.store, 'undo.jsonl')).toBe(0);
  });

  it('still waits for people who want to be asked', async () => {
    const memory = await moved(({ proposals }) =>
      proposals.remember(
        beginningNow(bobId),
        { text: 'I like tea', place: publicPlace, messageId: messageId(1), type: 'discord', stillStands },
        'ask',
      ),
    );
    const [waiting] = await memory.proposals.list(bobId);
    expect(waiting?.item.text).toBe('I like tea');
    await memory.proposals.accept(beginningNow(bobId), waiting?.id ?? '', {
      text: 'I like green tea',
      place: publicPlace,
      messageId: messageId(2),
    });
    expect(await memory.proposals.list(bobId)).toEqual([]);
  });

  it('finds what channels know by its author, and what was said by its speaker', async () => {
    const memory = await moved(async ({ channelNotes, say }) => {
      await say('Hello.', messageId(1));
      const said = { authorId: carlId, author: 'Carl', text: 'We ship on Friday', messageId: messageId(2) };
      const place = { guildId: publicPlace.guildId ?? '', channelId: generalId };
      await channelNotes.keep(place, { ...said, at: new Date().toISOString() }, stillStands);
    });
    expect(await memory.channelNotes.saying(carlId, 'Friday', dmPlace)).toEqual([
      { channelId: generalId, messageIds: [messageId(2)] },
    ]);
    expect(await memory.sessionLog.sessionsOfPerson(aliceId)).toEqual([
      { channelId: generalId, userId: aliceId },
    ]);
    await memory.changes.erase(carlId, new Date().toISOString());
    expect(await memory.channelNotes.saying(carlId, 'Friday', dmPlace)).toEqual([]);
  });

  it('follows a change that a kill came into', async () => {
    const memory = await moved(async ({ say, leftOpen }) => {
      await say('My cat is called Tom.', messageId(1));
      await leftOpen({ kind: 'deleted', channelId: generalId, messageIds: [messageId(1)] });
    });
    const session = { channelId: generalId, userId: aliceId };
    expect(await memory.sessionLog.message(session, messageId(1))).toContain('Tom');
    await memory.changes.finish();
    expect(await memory.sessionLog.message(session, messageId(1))).toBeUndefined();
  });
});

const stillStands = (): Promise<boolean> => Promise.resolve(true);

/** Layers and commands over a store, by a clock that is ahead by so much. */
function memoryOver({ store, shared }: Opened, aheadMs: number) {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC' });
  const clock = (): Date => new Date(Date.now() + aheadMs);
  const recent = new RecentChanges();
  const { processes, work } = shared ?? {
    processes: createOneProcess(),
    work: createWorkQueue({ clock, timer: processTimer, logger: silent }),
  };
  const memory = layersAlone(config, {
    store,
    recent,
    server: oneServer,
    channels: {
      placeOf: () => Promise.resolve(publicPlace),
      personMay: () => Promise.resolve(true),
    },
    processes,
    expireAt: (userId, time) => work.add(userId, 'expire', time),
    timer: processTimer,
    clock,
    logger: silent,
  });
  const commands = createCommands(config, memory, {
    ...closedEdges,
    tellOfChannel: () => Promise.resolve(''),
    outbox: createOutbox({ store, changes: recent }),
    logger: silent,
    readStatus: () => Promise.reject(new Error('nobody asks')),
    channels: { personMay: () => Promise.resolve(false) },
  });
  return {
    ...memory,
    /** Work after turns begins, and what is over lapses. */
    async start(): Promise<void> {
      const { undo, proposals } = memory;
      work.start(async ({ userId }) => {
        await undo.expire(userId);
        await proposals.expire(userId);
      });
      await memory.expireEverybody();
    },
    async give(this: void, words: string): Promise<string> {
      const command = commands.parse(`!memory ${words}`);
      if (command === undefined) throw new Error(`No command: ${words}`);
      const { text } = await commands.command({
        id: messageId(900),
        command,
        speaker: { id: aliceId, name: 'Alice', isOwner: false },
        place: dmPlace,
        ephemeral: true,
        at: clock().toISOString(),
        startedAfter: undefined,
      });
      return text;
    },
    say: (text: string, id: string) =>
      memory.sessionLog.recordUser({
        speaker: { id: aliceId, name: 'Alice', isOwner: false },
        place: publicPlace,
        messages: [{ id, text, at: clock().toISOString(), attachments: [] }],
        now: clock(),
        hasThirdPartyText: false,
        startedAfter: undefined,
      }),
    /** As a process leaves a change that is killed when it has just begun with it. */
    leftOpen: (change: object) => store.append('changes/of-one-that-is-gone.jsonl', change),
  };
}

/** Of all logs of a name, wherever they lie. */
async function recordsIn(store: Store, name: string): Promise<number> {
  const own = (await store.list('users')).filter(({ path }) => path.endsWith(`/${name}`));
  let count = 0;
  for (const key of [name, ...own.map(({ path }) => `users/${path}`)])
    for await (const _ of store.scan(key, z.object({}))) count += 1;
  return count;
}
