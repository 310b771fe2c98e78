import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { z } from 'zod';

import type { Place } from '../src/core/place.ts';
import { snowflakeAt } from '../src/core/snowflake.ts';
import type { Store } from '../src/core/store.ts';
import { createMessageSource } from '../src/memory/recall/message-source.ts';
import type { Passage } from '../src/memory/recall/passages.ts';
import { rankingWeights } from '../src/memory/recall/ranking-weights.ts';
import type { RankingWeights } from '../src/memory/recall/ranking-weights.ts';
import { createRecall } from '../src/memory/recall/recall.ts';
import type { Recall } from '../src/memory/recall/recall.ts';
import { logKey } from '../src/memory/session-log/session-keys.ts';
import { createSessionLog } from '../src/memory/session-log/session-log.ts';
import type { SessionLog } from '../src/memory/session-log/session-log.ts';
import { createLogger } from '../src/observability/logger.ts';
import { createKeyedQueue } from '../src/queue/keyed-queue.ts';
import { createFileStore } from '../src/storage/files/file-store.ts';

const usage = `Measures how well and how fast recall finds messages.

npm run bench:recall -- FILE [--perturb]     how well: conversations with questions and the messages that answer them
npm run bench:recall -- --synthetic 100000   how fast: so many made-up messages of one person

FILE: [{ id, docs: [{ id, sess, spk, ts, text }], qs: [{ q, cat, gold: [doc id] }] }]
R@k: the share of a question's messages among the first k that are returned. --perturb: also with each weight 30 % lower and higher, and by halves.`;

const conversationsSchema = z.array(
  z.object({
    id: z.string(),
    docs: z.array(
      z.object({ id: z.string(), sess: z.number(), spk: z.string(), ts: z.string(), text: z.string() }),
    ),
    qs: z.array(z.object({ q: z.string(), cat: z.string(), gold: z.array(z.string()).min(1) })),
  }),
);

type Conversation = z.infer<typeof conversationsSchema>[number];
type Question = Conversation['qs'][number];

/** A conversation in the product's own log, and which message is which document. */
interface Logged {
  readonly conversation: Conversation;
  readonly userId: string;
  readonly documents: ReadonlyMap<string, string>;
}

/** What was measured of one question; shares from 0 to 1. */
interface Measured {
  readonly question: Question;
  readonly conversation: string;
  readonly at5: number;
  readonly at10: number;
  readonly at20: number;
  readonly hit10: number;
  readonly reciprocalRank: number;
  readonly milliseconds: number;
}

const clock = () => new Date();
const timeZone = 'UTC';
const depth = 20;

function dmOf(userId: string): Place {
  const channelId = `9${userId.slice(1)}`;
  return { audience: 'dm', channelId, homeId: channelId };
}

function userIdOf(index: number): string {
  return String(100_000_000_000_000_001n + BigInt(index));
}

/** `1:56 pm on 8 May, 2023` or ISO 8601. */
function parseTime(text: string): Date {
  const [, clockTime, half, date] = /^(\d+:\d+) (am|pm) on (.*)$/u.exec(text) ?? [];
  return new Date(date === undefined ? text : `${date} ${clockTime} ${half} UTC`);
}

async function logConversation(log: SessionLog, conversation: Conversation, index: number): Promise<Logged> {
  const userId = userIdOf(index);
  const place = dmOf(userId);
  const documents = new Map<string, string>();
  let before = 0;
  for (const { id: documentId, spk, ts, text } of conversation.docs) {
    const time = Math.max(parseTime(ts).getTime(), before + 1000);
    before = time;
    const now = new Date(time);
    const id = snowflakeAt(now);
    documents.set(id, documentId);
    const speaker = { id: userId, name: spk, isOwner: false };
    await log.recordUser({
      speaker,
      place,
      now,
      messages: [{ id, text, at: now.toISOString(), attachments: [] }],
      othersPresent: false,
    });
  }
  return { conversation, userId, documents };
}

function search(recall: Recall, userId: string, query: string): Promise<readonly Passage[]> {
  const speaker = { id: userId, isOwner: false };
  return recall.search({
    query,
    scope: 'messages',
    limit: depth,
    speaker,
    place: dmOf(userId),
    now: clock(),
    excluded: [],
  });
}

async function measure(recall: Recall, { conversation, userId, documents }: Logged): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const question of conversation.qs) {
    const start = performance.now();
    const passages = await search(recall, userId, question.q);
    const milliseconds = performance.now() - start;
    const gold = new Set(question.gold);
    const found = passages.map(({ unit: { reference } }) =>
      gold.has((reference.kind === 'message' && documents.get(reference.messageId)) || ''),
    );
    const at = (k: number) => found.slice(0, k).filter(Boolean).length / gold.size;
    measured.push({
      question,
      conversation: conversation.id,
      at5: at(5),
      at10: at(10),
      at20: at(20),
      hit10: at(10) > 0 ? 1 : 0,
      reciprocalRank: found.includes(true) ? 1 / (found.indexOf(true) + 1) : 0,
      milliseconds,
    });
  }
  return measured;
}

function percent(measured: readonly Measured[], value: (of: Measured) => number): string {
  const mean = measured.reduce((sum, one) => sum + value(one), 0) / measured.length;
  return (100 * mean).toFixed(1).padStart(6);
}

function row(name: string, measured: readonly Measured[]): string {
  const values = [
    percent(measured, ({ at5 }) => at5),
    percent(measured, ({ at10 }) => at10),
    percent(measured, ({ at20 }) => at20),
    percent(measured, ({ hit10 }) => hit10),
    percent(measured, ({ reciprocalRank }) => reciprocalRank),
  ];
  return `${name.padEnd(24)} ${values.join(' ')}  ${measured.length}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function withLog(work: (log: SessionLog, store: Store) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-recall-'));
  const logger = createLogger({ level: 'warn' });
  const dirs = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') };
  const store = await createFileStore({ ...dirs, clock, logger });
  try {
    await work(createSessionLog({ store, writes: createKeyedQueue(), clock, botName: 'Discoclaw' }), store);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

async function benchQuality(file: string, isPerturbed: boolean): Promise<void> {
  const conversations = conversationsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  await withLog(async (log) => {
    const logged = await Promise.all(
      conversations.map((conversation, index) => logConversation(log, conversation, index)),
    );
    const measureAll = async (weights: RankingWeights): Promise<Measured[]> => {
      const recall = createRecall({ sources: [createMessageSource({ log })], timeZone, weights });
      const measured: Measured[] = [];
      for (const one of logged) measured.push(...(await measure(recall, one)));
      return measured;
    };
    const start = performance.now();
    const recall = createRecall({ sources: [createMessageSource({ log })], timeZone });
    for (const { userId } of logged) await search(recall, userId, 'x');
    const indexing = performance.now() - start;
    const measured = await measureAll(rankingWeights);
    print(`${'category'.padEnd(24)}    R@5   R@10   R@20 Hit@10    MRR  questions`);
    for (const cat of new Set(measured.map(({ question }) => question.cat))) {
      print(
        row(
          cat,
          measured.filter(({ question }) => question.cat === cat),
        ),
      );
    }
    for (const { id } of conversations) {
      print(
        row(
          id,
          measured.filter(({ conversation }) => conversation === id),
        ),
      );
    }
    print(row('overall', measured));
    print(`a query: ${median(measured.map(({ milliseconds }) => milliseconds)).toFixed(2)} ms (median)`);
    print(`indexing: ${indexing.toFixed(0)} ms; ${memory()}`);
    if (isPerturbed) await perturb(measureAll);
  });
}

async function perturb(measureAll: (weights: RankingWeights) => Promise<Measured[]>): Promise<void> {
  print('\neach weight 30 % lower and higher, over all and by halves');
  for (const [name, value] of Object.entries<number | readonly number[]>({ ...rankingWeights })) {
    for (const factor of [0, 0.7, 1.3]) {
      const changed = typeof value === 'number' ? value * factor : value.map((weight) => weight * factor);
      const measured = await measureAll({ ...rankingWeights, [name]: changed });
      const half = (rest: number) => measured.filter((_, index) => index % 2 === rest);
      const halves = [half(0), half(1)].map((part) => percent(part, ({ at10 }) => at10)).join(' ');
      print(`${row(`${name} × ${factor}`, measured)}  ${halves}`);
    }
  }
}

function memory(): string {
  globalThis.gc?.();
  return `${Math.round(process.memoryUsage().heapUsed / 1024 / 1024)} MB of heap in use`;
}

/** Words as often as in real language: the n-th most frequent one n times more seldom than the first. */
function syntheticText(random: () => number): string {
  const length = 5 + Math.floor(random() * 25);
  return Array.from({ length }, () => syntheticWord(random)).join(' ');
}

function syntheticWord(random: () => number): string {
  const rank = Math.floor(30_000 ** random());
  return `w${rank.toString(36)}x`;
}

/** Always the same numbers, from 0 to 1. */
function sameRandom(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function benchSpeed(count: number): Promise<void> {
  await withLog(async (log, store) => {
    const random = sameRandom();
    const userId = userIdOf(0);
    const place = dmOf(userId);
    const session = { channelId: place.channelId, userId };
    const start = Date.UTC(2025, 0, 1);
    const sizeOfBatch = 1000;
    for (let first = 0; first < count; first += sizeOfBatch) {
      const size = Math.min(sizeOfBatch, count - first);
      // Straight into the log's file: writing them one by one as turns takes minutes and is not what is measured.
      await Promise.all(
        Array.from({ length: size }, (_, offset) => {
          const time = new Date(start + (first + offset) * 5 * 60_000);
          const id = snowflakeAt(time);
          const isBot = (first + offset) % 2 === 1;
          return store.append(logKey(session), {
            type: 'message',
            id,
            at: time.toISOString(),
            text: syntheticText(random),
            attachments: [],
            visibility: 'dm',
            homeId: place.homeId,
            ...(isBot
              ? { role: 'assistant', author: 'Discoclaw', ids: [id], replyTo: [] }
              : { role: 'user', author: 'Alice', authorId: userId }),
          });
        }),
      );
    }
    const before = memory();
    const recall = createRecall({ sources: [createMessageSource({ log })], timeZone });
    const built = performance.now();
    await search(recall, userId, 'x');
    print(`indexing ${count} messages: ${(performance.now() - built).toFixed(0)} ms`);
    print(`before: ${before}, after: ${memory()}`);
    const times: number[] = [];
    for (let query = 0; query < 200; query += 1) {
      const words = Array.from({ length: 6 }, () => syntheticWord(random)).join(' ');
      const asked = performance.now();
      await search(recall, userId, words);
      times.push(performance.now() - asked);
    }
    const slowest = Math.max(...times).toFixed(2);
    print(`a query of six words: ${median(times).toFixed(2)} ms (median), ${slowest} ms (slowest)`);
  });
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { synthetic: { type: 'string' }, perturb: { type: 'boolean', default: false } },
});
const [file] = positionals;
if (values.synthetic !== undefined) await benchSpeed(Number(values.synthetic));
else if (file !== undefined) await benchQuality(file, values.perturb);
else print(usage);
