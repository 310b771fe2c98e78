import { isSnowflake } from '../core/snowflake.ts';
import type { DocumentKind, Versioned } from '../core/store.ts';
import { notesKind } from '../memory/channel/document.ts';
import { notedKey, notedKind } from '../memory/channel/noted.ts';
import { proposalsKey } from '../memory/durable/proposals.ts';
import { sessionsKey, sessionsKind } from '../memory/log/sessions.ts';
import { ledgersFolder, loneLedgerKey } from '../memory/open-changes.ts';
import { undoKey } from '../memory/undo.ts';
import type { RawEntry, RawRecord, RawStore } from '../storage/raw.ts';

/** How memory is laid out: for a process that has the store alone, or for several that share it [X2]. */
export type Layout = 'alone' | 'shared';

/** A store to be moved, as its target is to have it [X4]. */
export interface LaidOut extends Pick<RawStore, 'keys' | 'read'> {
  /** Of whom something lapses in time, which in a shared store somebody has to be called for. */
  readonly waiting: readonly string[];
}

/** What waits for people: one log of all where a process has the store alone, else one a person. */
const lapsingKeys = [undoKey, proposalsKey];

const keysAtOnce = 200;

type Source = Pick<RawStore, 'keys' | 'read'>;
type Log = Extract<RawEntry, { kind: 'log' }>;

/**
 * What a store holds, laid out for another kind of store, so that nothing is out of reach there: what waits for people by person or for all, open changes in one ledger,
 * and for everybody where their conversations and channel notes are, which a shared store is not looked through for. It is the same each time, as long as the source is.
 * Rejects with `StoreError`.
 */
export async function laidOutFor(layout: Layout, source: Source): Promise<LaidOut> {
  const keys = await source.keys();
  const made = new Map<string, Log>();
  /** What stands in others then. */
  const taken = new Set<string>();

  const ownLogs = (key: string): readonly string[] =>
    keys.filter(
      (each) => each.startsWith('users/') && each.endsWith(`/${key}`) && each.split('/').length === 3,
    );

  async function logsOf(parts: readonly string[]): Promise<readonly Log[]> {
    const found: Log[] = [];
    for await (const entry of entriesOf(source, parts)) if (entry.kind === 'log') found.push(entry);
    return found;
  }

  /** Puts the records of some logs in order, as another's. */
  function put(key: string, records: readonly RawRecord[]): void {
    const numbered = records.map(({ json }, index) => ({ sequence: index + 1, json }));
    made.set(key, { kind: 'log', key, records: numbered, highest: numbered.length });
  }

  async function divide(key: string): Promise<void> {
    if (!keys.includes(key)) return;
    taken.add(key);
    const people = new Map<string, RawRecord[]>();
    for (const { records } of await logsOf([key]))
      for (const record of records) {
        const { userId } = fieldsOf(record);
        if (isSnowflake(userId)) people.set(userId, [...(people.get(userId) ?? []), record]);
      }
    const own = new Map((await logsOf(ownLogs(key))).map((log) => [log.key, log.records]));
    for (const [userId, records] of people) {
      const ownKey = `users/${userId}/${key}`;
      put(ownKey, inOrder([...(own.get(ownKey) ?? []), ...records]));
    }
  }

  async function unite(key: string, parts: readonly string[], order: typeof inOrder): Promise<void> {
    if (parts.length === 0) return;
    for (const part of parts) taken.add(part);
    const records = (await logsOf(keys.includes(key) ? [key, ...parts] : parts)).flatMap(
      (log) => log.records,
    );
    if (records.length > 0 || keys.includes(key)) put(key, order(records));
  }

  if (layout === 'shared') for (const key of lapsingKeys) await divide(key);
  else {
    for (const key of lapsingKeys) await unite(key, ownLogs(key), inOrder);
    const ledgers = keys.filter((key) => key.startsWith(`${ledgersFolder}/`));
    await unite(loneLedgerKey, ledgers, (records) => records);
  }

  const sessions = sessionsIn(keys);
  if (layout === 'shared') await addJournaled(sessions, source, keys);
  const noted = await notedIn(source, keys);
  /** What is to be in a document about a person, beside what is. */
  const lists = new Map<string, (present: RawEntry | undefined) => RawEntry>([
    ...Array.from(sessions, ([userId, channels]) => {
      const key = sessionsKey(userId);
      return [key, (present?: RawEntry) => withChannels(key, present, channels)] as const;
    }),
    ...Array.from(noted, ([userId, channels]) => {
      const key = notedKey(userId);
      return [key, (present?: RawEntry) => withNoted(key, present, channels)] as const;
    }),
  ]);
  const all = new Set([...keys.filter((key) => !taken.has(key)), ...made.keys(), ...lists.keys()]);
  const waiting = new Set(
    [...all].flatMap((key) => {
      const [folder, userId = '', name = '', more] = key.split('/');
      return folder === 'users' && lapsingKeys.includes(name) && more === undefined ? [userId] : [];
    }),
  );

  return {
    waiting: [...waiting].toSorted(),
    keys: () => Promise.resolve([...all].toSorted()),
    async read(asked) {
      const stored = new Map<string, RawEntry>();
      const there = asked.filter((key) => !made.has(key));
      for (const entry of await source.read(there)) stored.set(entry.key, entry);
      return asked.flatMap(
        (key) => made.get(key) ?? lists.get(key)?.(stored.get(key)) ?? stored.get(key) ?? [],
      );
    },
  };
}

async function* entriesOf(source: Source, keys: readonly string[]): AsyncGenerator<RawEntry> {
  for (let begin = 0; begin < keys.length; begin += keysAtOnce)
    yield* await source.read(keys.slice(begin, begin + keysAtOnce));
}

/** The fields by which records that wait are told apart, each empty where it is not there. */
function fieldsOf({ json }: RawRecord): { readonly userId: string; readonly at: string } {
  const { userId = '', at = '' }: { userId?: unknown; at?: unknown } = Object(JSON.parse(json));
  return { userId: String(userId), at: String(at) };
}

/** Oldest first. */
function inOrder(records: readonly RawRecord[]): readonly RawRecord[] {
  const dated = records.map((record) => ({ record, at: fieldsOf(record).at }));
  return dated.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at))).map(({ record }) => record);
}

/** By person, the channels in which anything is of theirs. */
function sessionsIn(keys: readonly string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const key of keys) {
    const [folder, channelId = '', userId = '', ...file] = key.split('/');
    if (folder !== 'sessions' || file.length === 0 || !isSnowflake(channelId) || !isSnowflake(userId))
      continue;
    found.set(userId, (found.get(userId) ?? new Set()).add(channelId));
  }
  return found;
}

/** Adds the channels whose journal has something of a person, also where nothing else is of theirs [K11]. */
async function addJournaled(
  found: Map<string, Set<string>>,
  source: Source,
  keys: readonly string[],
): Promise<void> {
  const journals = keys.filter((key) => /^channels\/\d+\/journal\.jsonl$/u.test(key));
  for await (const entry of entriesOf(source, journals)) {
    const [, channelId = ''] = entry.key.split('/');
    for (const { userId } of entry.kind === 'log' ? entry.records.map(fieldsOf) : [])
      if (isSnowflake(userId)) found.set(userId, (found.get(userId) ?? new Set()).add(channelId));
  }
}

/** By person, the channels in which a note of theirs is, with their guilds. */
async function notedIn(
  source: Source,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const found = new Map<string, Record<string, string>>();
  const notes = keys.filter((key) => /^guilds\/\d+\/notes\/\d+\.json$/u.test(key));
  for await (const entry of entriesOf(source, notes)) {
    const document =
      entry.kind === 'document' ? notesKind.schema.safeParse(JSON.parse(entry.text)).data : undefined;
    const [, guildId = '', , file = ''] = entry.key.split('/');
    for (const { authorId } of document?.notes ?? [])
      if (isSnowflake(authorId))
        found.set(authorId, { ...found.get(authorId), [file.slice(0, -'.json'.length)]: guildId });
  }
  return found;
}

/** As it is where it lacks none; a damaged one is made anew, and one of a newer version left alone. */
function withChannels(key: string, present: RawEntry | undefined, channels: ReadonlySet<string>): RawEntry {
  return completed(key, present, sessionsKind, (list) => {
    const all = new Set([...(list?.channels ?? []), ...channels]);
    return all.size === list?.channels.length ? list : { version: 1 as const, channels: [...all].toSorted() };
  });
}

function withNoted(
  key: string,
  present: RawEntry | undefined,
  channels: Readonly<Record<string, string>>,
): RawEntry {
  return completed(key, present, notedKind, (noted) => {
    const isWhole = Object.entries(channels).every(([id, guildId]) => noted?.channels[id] === guildId);
    return noted !== undefined && isWhole
      ? noted
      : { version: 1 as const, channels: { ...noted?.channels, ...channels } };
  });
}

function completed<T extends Versioned>(
  key: string,
  present: RawEntry | undefined,
  kind: DocumentKind<T>,
  complete: (stored: T | undefined) => T,
): RawEntry {
  const data: unknown = present?.kind === 'document' ? JSON.parse(present.text) : undefined;
  const { version }: { version?: unknown } = Object(data);
  if (present !== undefined && Number(version) > kind.version) return present;
  const stored = kind.schema.safeParse(data).data;
  const whole = complete(stored);
  return present !== undefined && whole === stored
    ? present
    : { kind: 'document', key, text: JSON.stringify(whole) };
}
