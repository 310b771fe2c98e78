import { join } from 'node:path';

import { botName } from '../../src/bot/layers.ts';
import type { ChatMessage } from '../../src/core/chat.ts';
import { plainWrites } from '../../test/support/plain-writes.ts';
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
import type { LogRecord } from '../../src/memory/log/records.ts';
import { createSessionStates, logKey, sessionFolder } from '../../src/memory/log/session-state.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createFileStore } from '../../src/storage/files/store.ts';

export const logger = createLogger({ level: 'warn' });
export const clock = () => new Date();

/** The product's own store over files in a folder. */
export function openFiles(folder: string) {
  const [dataDir, workspaceDir] = [join(folder, 'data'), join(folder, 'workspace')];
  return createFileStore({ dataDir, workspaceDir, clock, logger });
}

export const userId = '100000000000000001';
const channelId = '200000000000000001';
const session = { channelId, userId };
const reach = { visibility: 'dm', homeId: channelId } as const;
export const place: Place = { audience: 'dm', channelId, homeId: channelId };
const timeOf = (minute: number): Date => new Date(Date.UTC(2026, 0, 1) + minute * 60_000);

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

/** Has a store hold all that is remembered of the person. */
export async function writePerson(store: Store, items: number): Promise<void> {
  await writeItems(store, userId, items);
  for (const message of conversation) await store.append(logKey(session), recordOf(message));
  for (const [path, lines] of Object.entries(notebook))
    await store.writeText(`users/${userId}/notebook/${path}`, noteOf(lines));
  await store.writeText(`${sessionFolder(session)}/overview.md`, noteOf(10));
  await store.writeText('workspace/SOUL.md', sentence(0, 200));
  const states = createSessionStates({ store, writes: plainWrites() });
  const summary = { text: sentence(0, 150), updatedAt: timeOf(30).toISOString(), ...reach };
  const rolling = { from: 0, cursor: 30, seen: 30, revision: 1, rebuild: false, summary };
  await states.update({ ...session, startedAfter: undefined }, (state) => ({
    ...state,
    place,
    speakerName: 'Alice',
    rolling,
  }));
}

/** Has a store hold so many items of somebody. */
export async function writeItems(store: Store, person: string, count: number): Promise<void> {
  await store.update(durableKey(person), durableDocumentKind, () => documentOf(count));
}

function documentOf(count: number): DurableDocument {
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

function recordOf({ id, at, text, author }: ChatMessage): LogRecord {
  const common = { type: 'message', id, at, text, author: author.name, ...reach } as const;
  return author.kind === 'self'
    ? { ...common, role: 'assistant', attachments: [], ids: [id], replyTo: [], hasThirdPartyText: false }
    : { ...common, role: 'user', attachments: [], authorId: userId };
}

function noteOf(lines: number): string {
  const body = Array.from({ length: lines }, (_, line) => `- ${sentence(line, 12)}`).join('\n');
  return `# Notes\n> Summary: ${sentence(lines, 8)}\n\n${body}\n`;
}

/** Random numbers from 0 up to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
