import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

import { snowflakeAt } from '../../../src/core/snowflake.ts';
import { createRollingSummary } from '../../../src/memory/rolling/rolling-summary.ts';
import { createShortTerm } from '../../../src/memory/short-term/short-term.ts';
import { createFileStore, type FileStore } from '../../../src/storage/files/store.ts';
import { generalId } from '../../support/incoming.ts';
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

/** A channel in which so many people have talked, the last ones a moment ago; gives the ids of their messages, oldest first. */
async function talkedIn(root: string, people: number, ofLate: number): Promise<readonly string[]> {
  const dayMs = 86_400_000;
  const ids: string[] = [];
  for (let index = 0; index < people; index += 1) {
    const at = new Date(Date.now() - (index < people - ofLate ? 10 * dayMs - index : 60_000 - index));
    const id = snowflakeAt(at);
    const userId = String(300_000_000_000_000_000n + BigInt(index));
    const folder = join(root, 'data', 'sessions', generalId, userId);
    const said = {
      type: 'message',
      role: 'user',
      id,
      at: at.toISOString(),
      authorId: userId,
      author: 'Someone',
    };
    const line = {
      ...said,
      text: `Words ${index}`,
      attachments: [],
      visibility: 'everywhere',
      homeId: generalId,
    };
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'messages.jsonl'), `${JSON.stringify({ sequence: 1, record: line })}\n`);
    await utimes(join(folder, 'messages.jsonl'), at, at);
    ids.push(id);
  }
  return ids;
}

describe('what is remembered of a channel [G3b]', () => {
  it('takes the logs of those who talked since, however many have talked there', async () => {
    const { store, root } = await openStore();
    const ids = await talkedIn(root, 300, 3);
    const logs = new Set<string>();
    const { log } = openSessions({
      ...store,
      scan: (key, ...rest) => {
        logs.add(key);
        return store.scan(key, ...rest);
      },
      logState: (key) => {
        logs.add(key);
        return store.logState(key);
      },
    });
    const newest = ids.slice(-3).toSorted();
    const found = await log.rememberedSince(generalId, snowflakeAt(new Date(Date.now() - 300_000)));
    expect(found.flatMap((message) => message.ids).toSorted()).toEqual(newest);
    expect(logs.size).toBe(3);
    // A channel of which so little stands that all of it was fetched.
    const all = await log.rememberedSince(generalId, '0');
    expect(all.flatMap((message) => message.ids)).toEqual(expect.arrayContaining(newest));
    expect(logs.size).toBe(200);
  });
});
