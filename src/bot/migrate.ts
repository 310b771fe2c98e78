import { readConfig, type Environment } from '../config/config.ts';
import { StoreError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { createLogger } from '../observability/logger.ts';
import { openRawFiles } from '../storage/files/raw-files.ts';
import { canonicalHash, type RawEntry, type RawStore } from '../storage/raw.ts';
import { RequestError } from './command-line.ts';

const keysAtOnce = 200;

interface Moved {
  readonly copied: number;
  /** Copied by an earlier run that was interrupted. */
  readonly there: number;
  readonly records: number;
  readonly damagedLines: number;
}

/** Continues an interrupted copy [X4]; never changes the source. @throws {RequestError} @throws {StoreError} */
export async function moveAll(from: RawStore, to: RawStore): Promise<Moved> {
  const keys = await from.keys();
  const wanted = new Set(keys);
  const foreign = (await to.keys()).find((key) => !wanted.has(key));
  if (foreign !== undefined)
    throw new RequestError(`The target holds ${foreign} already, which the source does not.`);
  let [copied, there, records] = [0, 0, 0];
  for (let begin = 0; begin < keys.length; begin += keysAtOnce) {
    const page = keys.slice(begin, begin + keysAtOnce);
    const entries = await from.read(page);
    const present = hashesOf(await to.read(page));
    const missing = entries.filter((entry) => !present.has(entry.key));
    assertSame(entries, present, (key) => `The target holds another ${key} than the source: empty it first.`);
    if (missing.length > 0) {
      await to.write(missing);
      const stored = hashesOf(await to.read(missing.map(({ key }) => key)));
      if (stored.size < missing.length)
        throw new StoreError('Not all that was copied can be read', page[0] ?? '.');
      assertSame(missing, stored, (key) => `${key} is not what it was, and was not copied.`);
    }
    copied += missing.length;
    there += entries.length - missing.length;
    for (const entry of entries) records += entry.kind === 'log' ? entry.records.length : 0;
  }
  await to.whenWritten();
  const after = await to.keys();
  if (after.length !== copied + there)
    throw new StoreError(`The target has ${after.length} entries instead of ${copied + there}`, '.');
  return { copied, there, records, damagedLines: from.damagedLines() };
}

function hashesOf(entries: readonly RawEntry[]): ReadonlyMap<string, string> {
  return new Map(entries.map((entry) => [entry.key, canonicalHash(entry)]));
}

/** @throws {RequestError} where an entry has another hash. */
function assertSame(
  entries: readonly RawEntry[],
  hashes: ReadonlyMap<string, string>,
  complaint: (key: string) => string,
): void {
  for (const entry of entries) {
    const hash = hashes.get(entry.key);
    if (hash !== undefined && hash !== canonicalHash(entry)) throw new RequestError(complaint(entry.key));
  }
}

/** `npm run migrate -- FROM TO`, each `files` or a database's address [X4]. @throws {RequestError} @throws {StoreError} */
export async function runMigrate(from: string, to: string, environment: Environment): Promise<void> {
  if (from === to) throw new RequestError('Source and target are the same.');
  const logger = createLogger({ level: 'warn' });
  const source = await open(from, environment, logger);
  try {
    const target = await open(to, environment, logger);
    try {
      process.stdout.write(reportOf(await moveAll(source, target)));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function reportOf({ copied, there, records, damagedLines }: Moved): string {
  const lines = [
    `${copied + there} documents, texts and logs (${records} records) are the same in both, by count and hash.`,
    ...(there > 0 ? [`${there} of them had been copied before.`] : []),
    ...(damagedLines > 0 ? [`${damagedLines} damaged lines of logs stayed behind.`] : []),
    'Copies in quarantine and last good copies stayed behind. Set DISCOCLAW_STORE to use what was copied; the source is as it was.',
  ];
  return `${lines.join('\n')}\n`;
}

/** @throws {RequestError} for another name than `files` or a database's address. @throws {StoreError} */
async function open(name: string, environment: Environment, logger: Logger): Promise<RawStore> {
  if (name === 'files') {
    // Files allow one process only, whatever is configured for the database.
    const alone = { DISCOCLAW_STORE: undefined, DISCOCLAW_PROCESSES: undefined, DISCOCLAW_SHARDS: undefined };
    const { config } = readConfig({ ...environment, ...alone, DISCOCLAW_SHARD_IDS: undefined });
    return openRawFiles({ ...config.storage, clock: () => new Date(), logger });
  }
  if (!/^postgres(?:ql)?:\/\//u.test(name) || !URL.canParse(name))
    throw new RequestError('Name a source and a target: files, or postgres://USER:PASSWORD@HOST/DATABASE.');
  const { openRawDatabase } = await import('../storage/postgres/raw-database.ts');
  return openRawDatabase(name, logger);
}
