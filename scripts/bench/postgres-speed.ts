import { layersAlone } from '../../src/bot/memory-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { processTimer } from '../../src/core/time.ts';
import { durableDocumentKind, durableKey } from '../../src/memory/durable/document.ts';
import { createSessionStates, logKey, sessionFolder } from '../../src/memory/log/session-state.ts';
import { sessionsKey, sessionsKind } from '../../src/memory/log/sessions.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createDatabase, type Database } from '../../src/storage/postgres/database.ts';
import { createPostgresStore, type PostgresStore } from '../../src/storage/postgres/store.ts';
import { createWorkQueue } from '../../src/storage/postgres/work-queue.ts';
import { startPostgresServer } from '../../test/support/postgres-server.ts';
import { print, type Bench } from './measured.ts';
import { conversation, documentOf, noteOf, recordOf, sentence } from './prompt-speed.ts';

const few: number = 1000;
const many: number = 1_000_000;
const groups = 3;
const samplesAGroup = 300;
/** Nobody twice, also of the few. */
const warmUp = few - groups * samplesAGroup;
const jobs = 20_000;
const jobRounds = 5;
/** Of whom all others are copies. */
const model = '100000000000000000';
const channelId = '200000000000000001';
const place: Place = { audience: 'dm', channelId, homeId: channelId };
const logger = createLogger({ level: 'warn' });
const clock = () => new Date();

/**
 * What a database with very many people costs beside one with a thousand. The server syncs nothing and keeps its data in
 * memory where there is room, so that it is our work and its that are timed.
 */
export async function benchPostgres(bench: Bench): Promise<void> {
  const server = await startPostgresServer();
  try {
    const beside = createDatabase({ url: server.url, logger, connections: 1, patienceMs: 5000 });
    const [small, large] = [`${server.url}_few`, `${server.url}_many`];
    for (const url of [small, large])
      await beside.query({ text: `create database ${new URL(url).pathname.slice(1)}` });
    await beside.close();
    await fill(small, few);
    await fill(large, many);
    await benchPeople(bench, small, large);
  } finally {
    await server.dispose();
  }
}

const kinds = {
  cold: ['reading a person’s sections for the first time', 'one SELECT by key'],
  warm: ['reading them once more', 'one SELECT by key'],
  remember: ['remember', 'one INSERT and commit'],
} as const;
type Kind = keyof typeof kinds;

async function benchPeople(bench: Bench, small: string, large: string): Promise<void> {
  const subjects = [await openPeople(small, few), await openPeople(large, many), await openBare(large)];
  const found = subjects.map((): Record<Kind, number[]> => ({ cold: [], warm: [], remember: [] }));
  for (let sample = -warmUp; sample < groups * samplesAGroup; sample += 1)
    for (const [index, subject] of subjects.entries())
      for (const kind of ['cold', 'warm', 'remember'] as const) {
        const begun = performance.now();
        await subject[kind](sample);
        if (sample >= 0) found[index]?.[kind].push(performance.now() - begun);
      }
  for (const subject of subjects) await subject.close();
  const [ofFew, ofMany, bare] = found;
  for (const kind of ['cold', 'warm', 'remember'] as const)
    for (const share of [0.5, 0.99]) {
      const at = (all: Record<Kind, number[]> | undefined) => quantiles(all?.[kind] ?? [], share);
      const [name, floorName] = kinds[kind];
      const p = `p${share * 100}`;
      const common = { unit: 'ms', ours: at(ofMany) };
      bench.tell({
        ...common,
        name: `${name}, ${p}`,
        floor: { name: `the same among ${few} people`, values: at(ofFew) },
      });
      bench.tell({
        ...common,
        name: `${name}, ${p}`,
        floor: { name: floorName, values: at(bare) },
      });
    }
}

/** Of each group of samples. */
function quantiles(values: readonly number[], share: number): readonly number[] {
  return Array.from({ length: groups }, (_, group) => {
    const sorted = values.slice(group * samplesAGroup, (group + 1) * samplesAGroup).toSorted((a, b) => a - b);
    return sorted[Math.floor(share * sorted.length)] ?? NaN;
  });
}

/** All over the range. */
function personOf(sample: number, count: number): string {
  return String(BigInt(model) + 1n + BigInt(((sample + warmUp) * 7919) % count));
}

/** The layers of a bot of several processes over a database. */
function layersOver(store: PostgresStore) {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC' });
  const writes = createKeyedQueue({
    shared: { locks: store.locks, refusalOf: async () => undefined, clock: () => new Date() },
  });
  return layersAlone(config, {
    store,
    writes,
    processes: store,
    lapseAt: (userId, time) => store.work.add(userId, 'lapse', time),
    timer: processTimer,
    logger,
  });
}

async function openPeople(url: string, count: number) {
  const store = await createPostgresStore({ url, logger });
  const memory = layersOver(store);
  const read = async (sample: number): Promise<void> => {
    const now = clock();
    const text = `What do you know about ${sentence(sample + warmUp, 12)}?`;
    const context = {
      speaker: { id: personOf(sample, count), name: 'Alice', isOwner: false },
      place,
      messages: [{ id: snowflakeAt(now), at: now.toISOString(), attachments: [], text }],
      now,
      hasThirdPartyText: false,
    };
    const sections = await Promise.all(memory.layers.map((layer) => layer.sections(context)));
    if (!sections.flat().some(({ lines }) => lines.length > 0)) throw new Error('Nothing was found');
  };
  return {
    cold: read,
    warm: read,
    remember: (sample: number) =>
      memory.durable.remember(personOf(sample, count), {
        text: `I keep ${sentence(sample + warmUp, 8)} ${sample}`,
        place,
        messageId: snowflakeAt(clock()),
        type: 'manual',
      }),
    close: () => store.close(),
  };
}

/** The least that a person's document can be read with, and that anything can be stored with. */
async function openBare(url: string) {
  const database = createDatabase({ url, logger, connections: 1, patienceMs: 5000 });
  await database.query({ text: 'create table bare (id bigint generated always as identity, line json)' });
  const line = JSON.stringify({ text: sentence(0, 12) });
  const select = (sample: number) =>
    database.query({
      name: 'bare read',
      text: 'select document from discoclaw.entries where key = $1',
      values: [durableKey(personOf(sample, many))],
    });
  return {
    cold: select,
    warm: select,
    remember: () =>
      database.query({ name: 'bare write', text: 'insert into bare (line) values ($1)', values: [line] }),
    close: () => database.close(),
  };
}

/** One person as the bot stores them, and copies under other ids. */
async function fill(url: string, count: number): Promise<void> {
  const begun = performance.now();
  const store = await createPostgresStore({ url, logger });
  const session = { channelId, userId: model };
  await store.update(durableKey(model), durableDocumentKind, () => documentOf(5));
  await store.update(sessionsKey(model), sessionsKind, () => ({
    version: 1 as const,
    channels: [channelId],
  }));
  for (const message of conversation.slice(0, 4)) await store.append(logKey(session), recordOf(message));
  for (const path of ['USER.md', 'facts/user.md'])
    await store.writeText(`users/${model}/notebook/${path}`, noteOf(5));
  await store.writeText(`${sessionFolder(session)}/overview.md`, noteOf(5));
  const states = createSessionStates({ store, writes: createKeyedQueue() });
  const reach = { visibility: 'dm', homeId: channelId } as const;
  const summary = { text: sentence(0, 60), updatedAt: clock().toISOString(), ...reach };
  const rolling = { from: 0, cursor: 4, seen: 4, revision: 1, rebuild: false, summary };
  await states.update(session, (state) => ({ ...state, place, speakerName: 'Alice', rolling }));
  await store.close();
  const database = createDatabase({ url, logger, connections: 1, patienceMs: 5000 });
  const keys = (
    await database.query<{ key: string }>({
      text: 'select key from discoclaw.entries where key ~ $1',
      values: [model],
    })
  ).map(({ key }) => key);
  // A page at a time: a statement is not waited for longer than a minute.
  for (let from = 1; from <= count; from += 20_000)
    await copyPerson(database, keys, from, Math.min(count, from + 19_999));
  await database.query({ text: 'analyze discoclaw.entries, discoclaw.records' });
  const [size] = await database.query<{ size: string }>({
    text: 'select pg_size_pretty(pg_database_size(current_database())) as size',
  });
  await database.close();
  const seconds = Math.round((performance.now() - begun) / 1000);
  print(`${count} people in a database of ${size?.size}, made in ${seconds} s`);
}

async function copyPerson(
  database: Database,
  keys: readonly string[],
  first: number,
  last: number,
): Promise<void> {
  await database.query({
    text: `
      with model as materialized (select * from discoclaw.entries where key = any($4::text[])),
      copied as (
        insert into discoclaw.entries (key, kind, revision, bytes, document, content, highest)
        select replace(model.key, $1::text, ($1::text::bigint + number)::text), kind, revision, bytes,
          replace(document::text, $1::text, ($1::text::bigint + number)::text)::json, content, highest
        from generate_series($2::bigint, $3::bigint) number cross join model
        returning id, kind
      )
      insert into discoclaw.records (log, sequence, token, record)
      select copied.id, sequence, token, record
      from copied join model on copied.kind = 'log' and model.kind = 'log'
      join discoclaw.records record on record.log = model.id`,
    values: [model, first, last, keys],
  });
}

/** How fast work goes through a database's queue, each job of another person: the most that so many can cost. In jobs a second. */
export async function benchQueue(bench: Bench): Promise<void> {
  const server = await startPostgresServer();
  try {
    await (await createPostgresStore({ url: server.url, logger })).close();
    await benchJobs(bench, server.url);
  } finally {
    await server.dispose();
  }
}

async function benchJobs(bench: Bench, url: string): Promise<void> {
  const [together, done, bare]: number[][] = [[], [], []];
  const database = createDatabase({ url, logger, connections: 10, patienceMs: 5000 });
  await database.query({ text: 'create table bare_work (person text primary key, waiting jsonb)' });
  for (let round = -1; round < jobRounds; round += 1) {
    const took = await goThrough(database);
    const least = await insertAndDelete(database);
    if (round < 0) continue;
    together?.push((1000 * jobs) / took.all);
    done?.push((1000 * jobs) / took.working);
    bare?.push((1000 * jobs) / least);
  }
  await database.close();
  const floor = { name: '1,000 rows inserted and deleted at once', values: bare ?? [] };
  bench.tell({ name: 'work through the queue, with adding', unit: 'jobs/s', ours: together ?? [], floor });
  bench.tell({ name: 'work through the queue, added before', unit: 'jobs/s', ours: done ?? [], floor });
}

async function goThrough(database: Database) {
  const queue = createWorkQueue({ database, logger });
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: jobs }, (_, index) => queue.add(personOf(index, jobs), 'after-turn')),
  );
  const added = performance.now();
  let left = jobs;
  await new Promise<void>((resolve) =>
    queue.start(async () => {
      left -= 1;
      if (left === 0) resolve();
    }),
  );
  await queue.idle();
  queue.stop();
  const end = performance.now();
  return { all: end - begun, working: end - added };
}

async function insertAndDelete(database: Database): Promise<number> {
  const begun = performance.now();
  for (let from = 0; from < jobs; from += 1000) {
    const people = Array.from({ length: 1000 }, (_, index) => personOf(from + index, jobs));
    await database.query({
      text: `insert into bare_work (person, waiting) select person, '{"after-turn":0}' from unnest($1::text[]) as given (person)`,
      values: [people],
    });
    await database.query({ text: 'delete from bare_work where person = any($1::text[])', values: [people] });
  }
  return performance.now() - begun;
}
