import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { createDurableMemory, type DurableMemory } from '../../../src/memory/durable/durable-memory.ts';
import { plainWrites } from '../../support/plain-writes.ts';
import { createFileStore } from '../../../src/storage/files/store.ts';
import { forgettingFor } from '../../support/forgetting.ts';
import { ledgerFor } from '../../support/ledger.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { aliceId, dev, noon } from './fixtures.ts';
import { durableSettings } from '../../support/layer-settings.ts';
import type { MemoryLayer } from '../../../src/memory/layer.ts';
import { undoForMs } from '../../../src/memory/undo.ts';
import { unconditional } from '../../../src/core/writes.ts';

const work = unconditional(aliceId);

let time = noon.getTime();
const clock = () => new Date(time);

it('does not give back what was forgotten when the document is damaged afterwards', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-durable-'));
  const logger = recordingLogger();
  const store = await createFileStore({ dataDir: folder, workspaceDir: folder, clock, logger });
  try {
    const writes = plainWrites();
    const layers: MemoryLayer[] = [];
    const forgetting = forgettingFor({
      store,
      clock,
      openLedger: () => ledgerFor(store, writes, layers, { clock }),
    });
    const durable: DurableMemory = createDurableMemory({
      settings: { ...durableSettings, maxItems: 10, injectMaxChars: 2000 },
      store,
      writes,
      forgetting,
      clock,
      logger,
      timeZone: 'UTC',
    });
    layers.push(durable);
    const messageId = '400000000000000001';
    await durable.remember(work, {
      text: 'Works at Acme',
      place: dev,
      messageId,
      type: 'manual',
    });
    await durable.remember(work, {
      text: 'Prefers Rust',
      place: dev,
      messageId,
      type: 'manual',
    });
    await durable.forget(work, 'Acme', dev, '400000000000000002');
    expect((await durable.list(aliceId)).map(({ text }) => text)).toEqual(['Prefers Rust']);
    time += undoForMs;
    await forgetting.finish(aliceId);

    await writeFile(join(folder, 'users', aliceId, 'durable.json'), 'damaged');
    await expect
      .poll(async () => (await durable.list(aliceId)).map(({ text }) => text))
      .toEqual(['Prefers Rust']);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});
