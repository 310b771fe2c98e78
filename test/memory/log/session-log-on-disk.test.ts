import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

import { snowflakeAt } from '../../../src/core/snowflake.ts';
import { createRollingSummary } from '../../../src/memory/rolling/rolling-summary.ts';
import { createShortTerm } from '../../../src/memory/short-term/short-term.ts';
import { createFileStore, type FileStore } from '../../../src/storage/files/store.ts';
import { generalId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { ScriptedModel, inputOf } from '../../support/scripted-model.ts';
import { openSessions, session, silent, inZone } from '../../support/sessions.ts';
import { shortTermSettings, rollingSettings } from '../../support/layer-settings.ts';

const opened: { store: FileStore; root: string }[] = [];

async function openStore(): Promise<{ store: FileStore; root: string }> {
  const root = await mkdtemp(join(tmpdir(), 'discoclaw-sessions-'));
  const folders = { dataDir: join(root, 'data'), workspaceDir: join(root, 'workspace') };
  const store = await createFileStore({ ...folders, clock: () => new Date(), logger: silent });
  opened.push({ store, root });
  return { store, root };
}

afterEach(async () => {
  for (const { store, root } of opened.splice(0)) {
    await store.close();
    await rm(root, { recursive: true, force: true });
  }
});

/** The names of files below a folder in which the words stand. */
async function filesWith(root: string, words: RegExp): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found: string[] = [];
  for (const file of files) if (words.test(await readFile(file, 'utf8'))) found.push(file.slice(root.length));
  return found;
}

describe('a message that is deleted after every layer has read it [G5]', () => {
  it('is in no log, summary, kept summary or line on disk', async () => {
    const { store, root } = await openStore();
    const sessions = openSessions(store);
    const { states, log, clock } = sessions;
    const base = { store, states, log, clock, timeZone: 'UTC', timeZoneOf: inZone('UTC'), enabled: true };
    const model = new ScriptedModel(
      (request) => `About: ${/Alice: .*|About.*/u.exec(inputOf(request))?.[0]}`,
    );
    const rolling = createRollingSummary({
      settings: { ...rollingSettings, model: 'haiku', everyTurns: 1, maxChars: 500 },
      withPauses: (_, work) => work(),
      ...base,
      model,
      logger: silent,
    });
    const shortTerm = createShortTerm({
      settings: { ...shortTermSettings, maxEntries: 5, maxAgeHours: 6, injectMaxChars: 500 },
      ...base,
    });
    const [asked = ''] = await sessions.turn('my secret', 'I see');
    await rolling.updateIfDue(session);
    await shortTerm.fold?.(session.userId, [session], new AbortController().signal);
    await sessions.turn('something else', 'fine');
    await rolling.updateIfDue(session);
    expect((await filesWith(root, /my secret/u)).length).toBeGreaterThan(3);

    await sessions
      .ledgerOver([rolling, shortTerm])
      .record({ kind: 'deleted', channelId: generalId, messageIds: [asked] });
    expect(await filesWith(root, /my secret/u)).toEqual([]);

    await rolling.updateIfDue(session);
    expect(await filesWith(root, /About:/u)).not.toEqual([]);
    await rolling.reset(session);
    expect((await filesWith(root, /About:/u)).filter((file) => !file.includes('/detail/'))).toEqual([]);
  });
});

describe('what is remembered of a channel [G3b]', () => {
  it('takes the logs of those who talked since, however many have talked there', async () => {
    const store = new MemoryStore();
    const logs = new Set<string>();
    const { log, contextOf } = openSessions(
      Object.assign(store, {
        folders: async (...parameters: Parameters<MemoryStore['folders']>) => {
          const found = await MemoryStore.prototype.folders.apply(store, parameters);
          // All but the last were written to a day ago.
          return found.map((each, index) => ({
            ...each,
            changedAt: Date.now() - (index < found.length - 1 ? 86_400_000 : 0),
          }));
        },
        scan: (...parameters: Parameters<MemoryStore['scan']>) => {
          logs.add(parameters[0]);
          return MemoryStore.prototype.scan.apply(store, parameters);
        },
      }),
    );
    const people = ['100000000000000001', '100000000000000002', '100000000000000003'];
    const at = snowflakeAt(new Date());
    for (const [index, id] of people.entries()) {
      const messages = [{ id: String(BigInt(at) + BigInt(index)), text: 'hi', at: '', attachments: [] }];
      await log.recordUser({ ...contextOf([]), speaker: { id, name: 'Bo', isOwner: false }, messages });
    }
    logs.clear();
    const found = await log.rememberedSince(generalId, at);
    expect(found.map(({ ids }) => ids)).toEqual([[String(BigInt(at) + 2n)]]);
    expect(logs.size).toBe(1);
  });
});
