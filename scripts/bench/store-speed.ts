import { mkdtemp, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

import { createLogger } from '../../src/observability/logger.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { measure } from './measured.ts';

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

/** Times what every remembered thing waits for: a document of two hundred items replaced, and a line appended to a log. */
export async function benchStore(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-store-'));
  const logger = createLogger({ level: 'warn' });
  const dirs = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') };
  const store = await createFileStore({ ...dirs, clock: () => new Date(), logger });
  const user = 'users/100000000000000001';
  try {
    await measure(
      {
        name: 'replacing a document',
        run: (round) =>
          store.update(`${user}/durable.json`, kind, () => ({
            version: 1,
            items: [...items, { id: 'last', text: String(round) }],
          })),
        floorName: 'write, fsync and rename alone',
        floor: (round) => replaceBare(join(folder, 'bare.json'), JSON.stringify({ items, round })),
      },
      rounds,
    );
    const bareLog = await open(join(folder, 'bare.jsonl'), 'a');
    await measure(
      {
        name: 'appending to a log',
        run: (round) =>
          store.append('sessions/200000000000000001/100000000000000001/messages.jsonl', { round }),
        floorName: 'append and fdatasync alone',
        async floor(round) {
          await bareLog.appendFile(`${JSON.stringify({ round })}\n`);
          await bareLog.datasync();
        },
      },
      rounds,
    );
    await bareLog.close();
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

async function replaceBare(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w');
  await file.writeFile(text);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
}
