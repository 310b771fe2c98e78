import { expect, it } from 'vitest';

import type { StatusSources } from '../../src/bot/bot-ports.ts';
import { createReadStatus } from '../../src/bot/commands.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Store } from '../../src/core/store.ts';
import { createBotSettings } from '../../src/memory/settings/bot-settings.ts';
import { usage } from '../support/status-facts.ts';
import { MemoryStore } from '../support/memory-store.ts';

const unreadable = () => Promise.reject(new Error('EIO'));

/** What the status reads from `store`, three seconds after the start. */
async function statusOf(store: Pick<Store, 'list'>, changes: Partial<StatusSources> = {}) {
  let now = 1000;
  const sources: StatusSources = {
    model: { isOffline: false, state: { kind: 'reachable' }, openCalls: { running: 1, waiting: 2 } },
    gateway: () => ({ pingMs: 41, readsContent: true, malformed: 0 }),
    usage: () => Promise.resolve(usage),
    lastWrite: () => undefined,
    quarantined: () => Promise.resolve(['durable.json']),
    ...changes,
  };
  const { config } = readConfig({ DISCOCLAW_MODEL: 'opus', DISCOCLAW_FAST_MODEL: 'sonnet' });
  const botSettings = createBotSettings(new MemoryStore());
  const readStatus = createReadStatus(config, {
    store,
    botSettings,
    clock: () => new Date(now),
    mainModel: async () => 'opus',
    queues: () => ({ turns: { running: 3, waiting: 4, stopped: 1 }, afterTurn: 5, writes: 6 }),
    sources,
  });
  now = 4000;
  return readStatus();
}

it('counts a person once and each session once, however many files they have', async () => {
  const store = new MemoryStore();
  await store.writeText('users/1/notebook/plans.md', 'four');
  await store.writeText('users/1/profile.md', 'four');
  await store.writeText('sessions/10/1/a.md', 'four');
  await store.writeText('sessions/10/1/b.md', 'four');
  await store.writeText('sessions/11/1/a.md', 'four');
  await store.writeText('sessions/10/2/a.md', 'four');
  await store.writeText('channels/10/notes.md', 'four');
  expect(await statusOf(store)).toMatchObject({
    upMs: 3000,
    usage,
    kept: { sessions: 3, users: 2, files: 7, bytes: 28 },
    quarantined: ['durable.json'],
    afterTurn: 5,
    modelCalls: { running: 1, waiting: 2 },
  });
});

it('leaves out what cannot be read from disk, and tells the rest', async () => {
  const status = await statusOf({ list: unreadable }, { usage: unreadable, quarantined: unreadable });
  expect(status).toMatchObject({ usage: undefined, kept: undefined, quarantined: undefined, pingMs: 41 });
  expect(status.version).toMatch(/^\d+\.\d+\.\d+/);
});
