import { join } from 'node:path';

import { reachOf } from '../../src/core/visibility.ts';
import type { Place } from '../../src/core/place.ts';
import { measure } from '../../src/core/logger.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { Store } from '../../src/core/store.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  type ItemSource,
} from '../../src/memory/durable/document.ts';
import type { LogRecord } from '../../src/memory/log/records.ts';
import { logKey, stateKey, stateKind } from '../../src/memory/log/session-state.ts';
import { callCost } from '../../src/model/anthropic/models.ts';
import { createUsageMeter } from '../../src/observability/usage-meter.ts';
import type { TestSandbox } from './sandbox/test-sandbox.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { usualText } from './large-memory.ts';
import { ManualTimer } from './manual-timer.ts';
import { silent } from './sessions.ts';

const items = 200;
const conversations = 20;
const messagesEach = 250;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Has the files of a bot that does not run hold what somebody has who talked with it for a long time: 200 items, 5,000 messages in 20 channels of the
 * sandbox, their summaries, and a month of model calls.
 */
export async function writeLongHistory(folder: string, sandbox: TestSandbox, userId: string) {
  const now = Date.now();
  const store = await createFileStore({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'workspace'),
    clock: () => new Date(now),
    logger: silent,
  });
  const { guilds } = await sandbox.info();
  const [guildId = ''] = Object.values(guilds);
  const talk = {
    texts: Array.from({ length: messagesEach }, (_, message) => usualText(message)),
    summary: Array.from({ length: 8 }, (_, line) => usualText(line)).join('. '),
  };
  const sources: { channelId: string; channelName: string; guildId: string; messageId: string }[] = [];
  for (let index = 0; index < conversations; index += 1) {
    const channelName = `channel-${index}`;
    const { id: channelId } = await sandbox.addChannel({ name: channelName });
    const place = { audience: 'public', channelId, homeId: channelId, guildId, channelName } as const;
    const ids = await writeConversation(store, userId, place, now - (index + 1) * dayMs, talk);
    for (const messageId of ids.slice(0, items / conversations))
      sources.push({ channelId, channelName, guildId, messageId });
  }
  await writeItems(store, userId, now, sources);
  await writeUsage(store, now);
  await store.close();
}

async function writeItems(
  store: Store,
  userId: string,
  now: number,
  sources: readonly Omit<ItemSource, 'type'>[],
): Promise<void> {
  const all = sources.map((source, index) => {
    const at = new Date(now - (items - index) * 2 * dayMs).toISOString();
    return {
      id: index.toString(16).padStart(8, '0'),
      kind: 'fact',
      text: usualText(index),
      status: 'active',
      visibility: index % 2 === 0 ? 'everywhere' : 'dm',
      pinned: index % 50 === 0,
      source: { type: 'discord', ...source },
      createdAt: at,
      updatedAt: at,
    } as const;
  });
  await store.update(durableKey(userId), durableDocumentKind, () => ({
    ...emptyDurableDocument,
    items: all,
  }));
}

/** What was said in a place, every second message an answer, a minute apart, and its summary. Resolves with the ids of the person's own. */
async function writeConversation(
  store: Store,
  userId: string,
  place: Place,
  end: number,
  { texts, summary }: { readonly texts: readonly string[]; readonly summary: string },
): Promise<readonly string[]> {
  const session = { channelId: place.channelId, userId };
  const reach = reachOf(place);
  const records = texts.map((text, index): LogRecord => {
    const date = new Date(end - (texts.length - index) * 60_000);
    const id = snowflakeAt(date);
    const common = { type: 'message', id, at: date.toISOString(), text } as const;
    const where = { ...reach, attachments: [], channelName: place.channelName };
    return index % 2 === 0
      ? { ...common, ...where, role: 'user', author: 'Alice', authorId: userId }
      : { ...common, ...where, role: 'assistant', author: 'Discoclaw', ids: [id], replyTo: [] };
  });
  await Promise.all(records.map((record) => store.append(logKey(session), record)));
  const cursor = texts.length;
  await store.update(stateKey(session), stateKind, () => ({
    version: 1 as const,
    place,
    speakerName: 'Alice',
    rolling: {
      from: 0,
      cursor,
      seen: cursor,
      revision: 1,
      rebuild: false,
      summary: { text: summary, updatedAt: new Date(end).toISOString(), ...reach },
    },
  }));
  return records.map(({ id }) => id).filter((_, index) => index % 2 === 0);
}

const purposes = ['chat', 'summary', 'condense', 'extraction', 'reflection', 'catch-up'] as const;

/** A month of model calls and turns, with those of the last day by hour. */
export async function writeUsage(store: Store, now: number): Promise<void> {
  let at = now;
  const meter = createUsageMeter({
    store,
    clock: () => new Date(at),
    timer: new ManualTimer().set,
    timeZone: 'UTC',
    costOf: (model, used) => callCost(model, used, {}),
    logger: silent,
  });
  const days = Array.from({ length: 28 }, (_, day) => (29 - day) * dayMs);
  const hours = Array.from({ length: 24 }, (_, hour) => (23 - hour) * hourMs);
  for (const [index, ago] of [...days, ...hours].entries()) {
    at = now - ago;
    // More on some days than on others, and little at night.
    const turns =
      ago < dayMs ? Math.round(4 - 4 * Math.cos((at / dayMs) * 2 * Math.PI)) : 30 + ((index * 17) % 41);
    for (let turn = 0; turn < turns; turn += 1)
      measure('turn', { outcome: turn % 23 === 22 ? 'explained' : 'answered' });
    if (index % 9 === 4) measure('modelError', { failure: 'overloaded' });
    if (index % 4 === 1) measure('waited', { queue: 'turns' });
    for (const [part, purpose] of purposes.entries()) {
      const calls = Math.ceil(turns / (1 + 3 * part));
      const usage = {
        inputTokens: 400 * calls,
        outputTokens: 250 * calls,
        cacheReadTokens: (2000 + ((index * 7919 + part) % 1500)) * calls,
        cacheWriteTokens: 500 * calls,
        cacheHourTokens: 0,
      };
      meter.add({ model: purpose === 'chat' ? 'sonnet' : 'haiku', purpose }, usage);
    }
  }
  await meter.flush();
  meter.close();
}

/** The pages that one leads to: those of the navigation, and the first of each kind below them. */
export async function pagesFrom(read: (path: string) => Promise<string>): Promise<readonly string[]> {
  const [, navigation = ''] = /<nav aria-label="Pages">(.*?)<\/nav>/su.exec(await read('/')) ?? [];
  const pages = linksIn(navigation);
  const below = new Map<string, string>();
  for (const page of pages) {
    const content = (await read(page)).split('<main').at(-1) ?? '';
    for (const link of linksIn(content)) {
      const [, kind = ''] = link.split(/[/?]/u);
      if (!pages.includes(link) && !below.has(kind)) below.set(kind, link);
    }
  }
  return [...pages, ...below.values()];
}

function linksIn(html: string): readonly string[] {
  return Array.from(html.matchAll(/href="(\/[^"]*)"/gu), ([, path = '']) => path.replaceAll('&amp;', '&'));
}
