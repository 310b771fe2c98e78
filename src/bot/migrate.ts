import { createHash } from 'node:crypto';

import pLimit from 'p-limit';
import { z } from 'zod';

import { readConfig, type Environment } from '../config/config.ts';
import { StoreError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { LogEntry, Store, Versioned } from '../core/store.ts';
import { parseJson } from '../core/text.ts';
import { createLogger } from '../observability/logger.ts';
import { RequestError } from './command-line.ts';
import { dataFolders, rootFiles } from './disk-checks.ts';
import { openStore } from './open-store.ts';

const readsAtOnce = 32;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
/** Whatever stands there is copied as it is. */
const anyDocument = {
  version: Number.MAX_SAFE_INTEGER,
  schema: z.custom<Versioned>((value) => isObject(value) && 'version' in value),
};
const anyRecord = z.custom<object>(isObject);

type Entry =
  | { readonly text: string }
  | { readonly records: readonly LogEntry<object>[]; readonly highest: number };

interface Moved {
  readonly copied: number;
  /** Copied by an earlier run that was interrupted. */
  readonly there: number;
  readonly records: number;
  /** Files with bytes other than text, such as pictures in the workspace; only their text is copied. */
  readonly notText: readonly string[];
}

/** Continues an interrupted copy [X4]; never changes the source. @throws {RequestError} @throws {StoreError} */
export async function moveAll(from: Store, to: Store): Promise<Moved> {
  const keys = await keysOf(from);
  const before = await copiedBefore(from, to, new Set(keys));
  const notText = new Set<string>();
  let [copied, there, records] = [0, 0, 0];
  await pLimit(readsAtOnce).map(keys, async (key) => {
    const entry = await readEntry(from, key);
    if (entry === undefined) return;
    if ('records' in entry) records += entry.records.length;
    else if (entry.text.includes('\uFFFD') && documentOf(key, entry.text) === undefined) notText.add(key);
    if (before.get(key) === 'whole') {
      there += 1;
      return;
    }
    if (before.has(key)) await to.remove(key);
    await writeEntry(to, key, entry);
    const stored = await readEntry(to, key);
    if (stored === undefined || hashOf(stored) !== hashOf(entry))
      throw new StoreError(`${key} is not what it was, and was not copied`, key);
    copied += 1;
  });
  const after = await keysOf(to);
  if (after.length !== copied + there)
    throw new StoreError(`The target has ${after.length} entries instead of ${copied + there}`, '.');
  return { copied, there, records, notText: [...notText] };
}

/** How much of each entry the target has. @throws {RequestError} where it holds what the source does not. */
async function copiedBefore(from: Store, to: Store, known: ReadonlySet<string>) {
  const present = await pLimit(readsAtOnce).map(await keysOf(to), async (key) => {
    const [source, target] = [await readEntry(from, key), await readEntry(to, key)];
    if (!known.has(key) || source === undefined || target === undefined)
      throw new RequestError(`The target holds ${key} already, which the source does not.`);
    if (hashOf(source) === hashOf(target)) return [key, 'whole'] as const;
    // A text is written as a whole; of a log, an interrupted copy leaves the beginning.
    if ('records' in source && 'records' in target && target.highest <= source.highest)
      return [key, 'beginning'] as const;
    throw new RequestError(`The target holds another ${key} than the source: empty it first.`);
  });
  return new Map(present);
}

/** Sorted; without logs that never held a record. */
async function keysOf(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of [...dataFolders, 'workspace'])
    for (const { path } of await store.list(folder)) found.push(`${folder}/${path}`);
  for (const key of rootFiles) if ((await store.readText(key)) !== undefined) found.push(key);
  const isEmpty = async (key: string) => isLog(key) && (await store.logState(key)).highest === 0;
  const kept = await pLimit(readsAtOnce).map(found, async (key) => ((await isEmpty(key)) ? [] : [key]));
  return kept.flat().toSorted();
}

/** By who names it: what people name as they like is text. */
function isLog(key: string): boolean {
  return key.endsWith('.jsonl') && !/^(?:workspace|users\/[^/]+\/notebook)\//u.test(key);
}

async function readEntry(store: Store, key: string): Promise<Entry | undefined> {
  if (isLog(key)) {
    const { highest } = await store.logState(key);
    const records: LogEntry<object>[] = [];
    for await (const entry of store.scan(key, anyRecord)) records.push(entry);
    return { records, highest };
  }
  const text = await store.readText(key);
  return text === undefined ? undefined : { text };
}

/** A document where it is one, however its file is laid out. */
function documentOf(key: string, text: string): Versioned | undefined {
  if (!key.endsWith('.json') || /^(?:workspace|users\/[^/]+\/notebook)\//u.test(key)) return undefined;
  try {
    return anyDocument.schema.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}

async function writeEntry(store: Store, key: string, entry: Entry): Promise<void> {
  if ('text' in entry) {
    const document = documentOf(key, entry.text);
    if (document === undefined) await store.writeText(key, entry.text);
    else await store.update(key, anyDocument, () => document);
    return;
  }
  // Cursors stand on the numbers: also those that were removed are given out.
  const records = new Map(entry.records.map(({ sequence, record }) => [sequence, record]));
  const numbers = Array.from({ length: entry.highest }, (_, index) => index + 1);
  await Promise.all(numbers.map((number) => store.append(key, records.get(number) ?? {})));
  if (records.size < entry.highest)
    await store.rewrite(key, anyRecord, ({ sequence, record }) =>
      records.has(sequence) ? record : undefined,
    );
}

/** Equal for entries that differ only in their JSON's layout. */
function hashOf(entry: Entry): string {
  const text = 'text' in entry ? canonical(entry.text) : JSON.stringify(entry);
  return createHash('sha256').update(text).digest('hex');
}

function canonical(text: string): string {
  try {
    return JSON.stringify(parseJson(text));
  } catch {
    return text;
  }
}

/** `npm run migrate -- FROM TO`, each `files` or a database's address [X4]. @throws {RequestError} @throws {StoreError} */
export async function runMigrate(from: string, to: string, environment: Environment): Promise<void> {
  if (from === to) throw new RequestError('Source and target are the same.');
  const logger = createLogger({ level: 'warn' });
  const { store: source } = await open(from, environment, logger);
  try {
    const { store: target } = await open(to, environment, logger);
    try {
      process.stdout.write(reportOf(await moveAll(source, target)));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function reportOf({ copied, there, records, notText }: Moved): string {
  const lines = [
    `${copied + there} documents, texts and logs (${records} records) are the same in both, by count and hash.`,
    ...(there > 0 ? [`${there} of them had been copied before.`] : []),
    ...(notText.length > 0
      ? [`Not all bytes of these are text, and only text was copied: ${notText.join(', ')}.`]
      : []),
    'Copies in quarantine and former contents stayed behind. Set DISCOCLAW_STORE to use what was copied; the source is as it was.',
  ];
  return `${lines.join('\n')}\n`;
}

/** For this process alone. @throws {RequestError} for another name than `files` or a database's address. @throws {StoreError} */
async function open(name: string, environment: Environment, logger: Logger) {
  if (name !== 'files' && (!/^postgres(?:ql)?:\/\//u.test(name) || !URL.canParse(name)))
    throw new RequestError('Name a source and a target: files, or postgres://USER:PASSWORD@HOST/DATABASE.');
  // Files allow one process only, whatever is configured for the database.
  const alone = { DISCOCLAW_SHARDS: undefined, DISCOCLAW_SHARD_IDS: undefined };
  const { config } = readConfig({ ...environment, ...alone, DISCOCLAW_STORE: name });
  return openStore(config, { as: 'alone', clock: () => new Date(), logger });
}
