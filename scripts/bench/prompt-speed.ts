import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { botName } from '../../src/bot/layers.ts';
import { layersAlone } from '../../src/bot/memory-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import type { ChatMessage } from '../../src/core/chat.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { Store } from '../../src/core/store.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  type DurableDocument,
  type DurableItem,
} from '../../src/memory/durable/document.ts';
import { createDurableMemory } from '../../src/memory/durable/durable-memory.ts';
import type { LogRecord } from '../../src/memory/log/records.ts';
import { createSessionStates, logKey, sessionFolder } from '../../src/memory/log/session-state.ts';
import { requestBody } from '../../src/model/anthropic/request-body.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { PromptComposer } from '../../src/turn/prompt-input.ts';
import { timing, type Bench, type Subject } from './measured.ts';
import { ours } from './versions.ts';
import { withoutUndo } from '../../test/support/undo.ts';

const rounds = 1_000;
const coldRounds = 200;
const userId = '100000000000000001';
const channelId = '200000000000000001';
const session = { channelId, userId };
const place: Place = { audience: 'dm', channelId, homeId: channelId };
const start = Date.UTC(2026, 0, 1);
const logger = createLogger({ level: 'warn' });
const clock = () => new Date();
const timeOf = (minute: number): Date => new Date(start + minute * 60_000);

const beginnings = 'gar kit par lan tea riv mon sto win for mar bre col dan fen hol jun lim nor pla'.split(
  ' ',
);
const endings =
  'den chen sers guage pots ering days ries ning ests ched ads ours cing ders ping gles its thern ying'.split(
    ' ',
  );

/** A sentence of so many words of some four hundred; each number gives another one. */
export function sentence(number: number, words: number): string {
  return Array.from({ length: words }, (_, word) => {
    const mixed = (number * 7919 + word * 104_729) % 30_011;
    return `${beginnings[mixed % 20] ?? ''}${endings[Math.floor(mixed / 20) % 20] ?? ''}`;
  }).join(' ');
}

/** Times what a turn computes before the model is asked, and what remembering computes before anything is written. */
export async function benchPrompts(bench: Bench): Promise<void> {
  for (const items of [200, 1_000]) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-prompts-'));
    try {
      await writePerson(folder, items);
      await benchPrompt(bench, folder, items);
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  for (const isFull of [false, true]) {
    const name = `remembering${isFull ? ' in place of an old item' : ''}, without storage`;
    const [run, floor] = [createRemembering(4_000, isFull), createRemembering(200, isFull)];
    await bench.measure({ name: `${name}, 4,000 items`, run, floorName: '200 items', floor }, rounds);
  }
}

async function benchPrompt(bench: Bench, folder: string, items: number): Promise<void> {
  const warm = await openPerson(folder);
  let body = await warm.ask(0);
  await bench.measure(
    {
      name: `a warm prompt as a request's body, ${items} items`,
      run: async (round) => (body = await warm.ask(round)),
      floorName: 'JSON.stringify of the body',
      floor: async () => JSON.stringify(body),
    },
    rounds,
  );
  await warm.close();
  await bench.compare({
    rows: { time: [`a person's first prompt, ${items} items`, 'ms'] },
    rounds: coldRounds,
    floor: { name: 'reading and parsing the files', subject: timing(() => readAndParse(folder)) },
    open: async (version) => (version === ours ? firstPrompts(folder) : undefined),
  });
}

/** The first prompt of a bot that is there, and knows nothing of the person. */
function firstPrompts(folder: string): Subject<'time'> {
  return {
    async sample(round) {
      const cold = await openPerson(folder);
      const asked = await timing(() => cold.ask(round)).sample(round);
      await cold.close();
      return asked;
    },
  };
}

function rootsIn(folder: string) {
  return { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') };
}

/** The bot's memory as far as a prompt needs it, with nothing of the person in the process yet. */
async function openPerson(folder: string) {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC', DISCOCLAW_DURABLE_MAX_ITEMS: '1000' });
  const store = await createFileStore({ ...rootsIn(folder), clock, logger, readOnly: true });
  const memory = layersAlone(config, {
    store,
    clock,
    logger,
  });
  const composer = new PromptComposer({
    channelContext: memory.workspace.channelContext,
    layers: memory.layers,
    soul: memory.workspace.soul,
    history: { recent: (_channelId, limit) => Promise.resolve(conversation.slice(-limit)) },
    attachments: { open: () => Promise.resolve([]) },
    readReplied: () => Promise.resolve('gone'),
    log: memory.sessionLog,
    people: memory.people,
    botName,
    timeZone: config.timeZone,
    historyBudget: config.prompt.historyBudget,
    maxChars: config.prompt.maxChars,
    logger,
  });
  const tools = memory.tools.map(({ definition }) => definition);
  const { signal } = new AbortController();

  return {
    async ask(round: number) {
      const now = new Date(timeOf(conversation.length).getTime() + round + rounds);
      const message = { id: snowflakeAt(now), at: now.toISOString(), attachments: [] };
      const { prompt } = await composer.compose(
        {
          speaker: { id: userId, name: 'Alice', isOwner: false },
          place,
          messages: [{ ...message, text: `What do you know about ${sentence(round + rounds, 12)}?` }],
          now,
          hasThirdPartyText: true,
        },
        { isMemoryOff: false, areActionsOff: false },
        signal,
      );
      const { system, messages } = prompt;
      const request = { userId, model: config.model.main, system, messages, maxTokens: 4096, tools };
      return requestBody({ purpose: 'chat', ...request });
    },
    close: () => store.close(),
  };
}

/** What the person said in a DM; every second message is an answer. */
export const conversation: readonly ChatMessage[] = Array.from({ length: 40 }, (_, index) => ({
  id: snowflakeAt(timeOf(index)),
  channelId,
  author:
    index % 2 === 0
      ? { id: userId, name: 'Alice', kind: 'human' }
      : { id: '100000000000000009', name: botName, kind: 'self' },
  text: sentence(index, 20),
  at: timeOf(index).toISOString(),
  attachments: [],
}));

/** A notebook of usual size: the lines of each file. */
const notebook = {
  'USER.md': 25,
  'MEMORY.md': 25,
  'facts/user.md': 20,
  'facts/work.md': 20,
  'episodes/2025-11.md': 20,
  'episodes/2025-12.md': 20,
  'topics/garden.md': 40,
  'topics/kitchen.md': 40,
  'topics/parser.md': 40,
  'daily/2025-12-31.md': 10,
  'daily/2026-01-01.md': 10,
};

/** Fills a data folder with all that is remembered of the person. */
async function writePerson(folder: string, items: number): Promise<void> {
  const store = await createFileStore({ ...rootsIn(folder), clock, logger });
  await store.update(durableKey(userId), durableDocumentKind, () => documentOf(items));
  for (const message of conversation) await store.append(logKey(session), recordOf(message));
  for (const [path, lines] of Object.entries(notebook))
    await store.writeText(`users/${userId}/notebook/${path}`, noteOf(lines));
  await store.writeText(`${sessionFolder(session)}/overview.md`, noteOf(10));
  await store.writeText('workspace/SOUL.md', sentence(0, 200));
  const states = createSessionStates({ store, writes: createKeyedQueue() });
  const reach = { visibility: 'dm', homeId: channelId } as const;
  const summary = { text: sentence(0, 150), updatedAt: timeOf(30).toISOString(), ...reach };
  const rolling = { from: 0, cursor: 30, seen: 30, revision: 1, rebuild: false, summary };
  await states.update(session, (state) => ({ ...state, place, speakerName: 'Alice', rolling }));
  await store.close();
}

export function documentOf(count: number): DurableDocument {
  const items = Array.from({ length: count }, (_, index): DurableItem => {
    const at = timeOf(index - count).toISOString();
    return {
      id: index.toString(16).padStart(8, '0'),
      kind: 'fact',
      text: sentence(index, 12),
      status: 'active',
      visibility: 'everywhere',
      pinned: false,
      source: { type: 'manual', channelId, messageId: snowflakeAt(timeOf(index)) },
      createdAt: at,
      updatedAt: at,
    };
  });
  return { ...emptyDurableDocument, items };
}

export function recordOf({ id, at, text, author }: ChatMessage): LogRecord {
  const reach = { visibility: 'dm', homeId: channelId } as const;
  const common = { type: 'message', id, at, text, author: author.name, ...reach } as const;
  return author.kind === 'self'
    ? { ...common, role: 'assistant', attachments: [], ids: [id], replyTo: [], hasThirdPartyText: false }
    : { ...common, role: 'user', attachments: [], authorId: userId };
}

export function noteOf(lines: number): string {
  const body = Array.from({ length: lines }, (_, line) => `- ${sentence(line, 12)}`).join('\n');
  return `# Notes\n> Summary: ${sentence(lines, 8)}\n\n${body}\n`;
}

/** What has to be read at least: documents and logs are parsed, texts are not. */
async function readAndParse(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  await Promise.all(
    files.map(async (file) => {
      if (!file.isFile() || !/\.(?:json|jsonl|md)$/u.test(file.name)) return;
      const text = await readFile(join(file.parentPath, file.name), 'utf8');
      if (file.name.endsWith('.json')) JSON.parse(text);
      if (file.name.endsWith('.jsonl')) for (const line of text.trim().split('\n')) JSON.parse(line);
    }),
  );
}

/** A store of one document that is held as it is given: what is timed is the change alone. */
function createHeldStore(document: DurableDocument): Pick<Store, 'isShared' | 'read' | 'update' | 'remove'> {
  let held: unknown = document;
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one document, of one kind
    read: <T>() => Promise.resolve(held as T | undefined),
    async update<T>(_key: string, _kind: unknown, change: (current: T | undefined) => T | undefined) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      const current = held as T | undefined;
      const next = change(current) ?? current;
      held = next;
      return next;
    },
    remove: () => Promise.resolve(),
    isShared: false,
  };
}

/** Remembers one thing after the other among so many; with `isFull` each pushes an old one out. */
function createRemembering(items: number, isFull: boolean) {
  const durable = createDurableMemory({
    settings: { enabled: true, maxItems: isFull ? items : 100 * items, injectMaxChars: 2000 },
    store: createHeldStore(documentOf(items)),
    writes: createKeyedQueue(),
    changes: {
      forget: () => Promise.reject(new Error('Nothing is forgotten')),
      restore: () => Promise.resolve(),
    },
    ...withoutUndo,
    clock,
    timeZone: 'UTC',
    logger,
  });
  return (round: number) =>
    durable.remember(userId, {
      text: `${sentence(round + rounds, 11)} ${round}`,
      place,
      messageId: snowflakeAt(new Date()),
      type: 'manual',
    });
}
