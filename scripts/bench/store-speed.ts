import { mkdtemp, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

import type { FileStore } from '../../src/storage/files/store.ts';
import { timing, type Bench, type Subject } from './measured.ts';
import { openStoreOf, type Version } from './versions.ts';

const rounds = 200;
const items = Array.from({ length: 200 }, (_, index) => ({
  id: String(index),
  text: 'An item of eighty characters. '.repeat(3),
}));
const kind = {
  version: 1,
  schema: z.object({
    version: z.literal(1),
    items: z.array(z.object({ id: z.string(), text: z.string() })),
  }),
};

/** What every remembered thing waits for: a document of two hundred items replaced, and a line appended to a log. */
export async function benchStore(bench: Bench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-store-'));
  const user = 'users/100000000000000001';
  const bareLog = await open(join(folder, 'bare.jsonl'), 'a');
  try {
    await bench.compare({
      rows: { time: ['replacing a document', 'ms'] },
      rounds,
      floor: {
        name: 'write, fsync and rename alone',
        subject: timing((round) => replaceBare(join(folder, 'bare.json'), JSON.stringify({ items, round }))),
      },
      open: (version) =>
        storeOf(version, (store, round) =>
          store.update(`${user}/durable.json`, kind, () => ({
            version: 1,
            items: [...items, { id: 'last', text: String(round) }],
          })),
        ),
    });
    await bench.compare({
      rows: { time: ['appending to a log', 'ms'] },
      rounds,
      floor: {
        name: 'append and fdatasync alone',
        subject: timing(async (round) => {
          await bareLog.appendFile(`${JSON.stringify({ round })}\n`);
          await bareLog.datasync();
        }),
      },
      open: (version) =>
        storeOf(version, (store, round) =>
          store.append('sessions/200000000000000001/100000000000000001/messages.jsonl', { round }),
        ),
    });
  } finally {
    await bareLog.close();
    await rm(folder, { recursive: true });
  }
}

/** The store of a version, over a folder of its own, and what it does each round. */
async function storeOf(
  version: Version,
  work: (store: FileStore, round: number) => Promise<unknown>,
): Promise<Subject<'time'>> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-store-'));
  const store = await openStoreOf(version, folder);
  return {
    ...timing((round) => work(store, round)),
    async close() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function replaceBare(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w');
  await file.writeFile(text);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
}
