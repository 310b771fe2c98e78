import { hash, randomUUID } from 'node:crypto';

import { z } from 'zod';

import { messageChangeSchema, type MessageChange } from '../core/changes.ts';
import { limits } from '../core/limits.ts';
import type { SessionKey } from '../core/place.ts';
import { sentencesOf } from '../core/sentences.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import type { Writes } from '../core/writes.ts';
import { idsOf, type LogFold, type LoggedMessage, type SequencedMessage } from './log/records.ts';

const notesSchema = z
  .array(z.object({ key: z.string(), lines: z.array(z.string()).readonly() }).readonly())
  .readonly();

/** Lines of notes, each as its SHA-256, by the store's key of the note. */
export type NoteLines = z.infer<typeof notesSchema>;

/** What happened, with what deleting needs to know that the record does not say. */
const changeSchema = z.union([
  messageChangeSchema,
  z.object({ kind: z.literal('forgotten'), commandId: z.string() }),
  /** Messages of one conversation that are older than people's words are kept [K15]. */
  z.object({ kind: z.literal('expired') }),
  /** A person had a matter erased [K11]: whatever says these words, and was said until the command. */
  z.object({ kind: z.literal('purged'), words: z.string(), commandId: z.string() }),
  /** A person had all that is held about them erased [K11]; what was said before `at`, ISO 8601, is used no more. */
  z.object({ kind: z.literal('erased'), at: z.string() }),
]);

const recordSchema = z.object({
  id: z.string(),
  /** Whose memory it is about; a channel's id while nobody knows whose. */
  userId: z.string(),
  change: changeSchema,
  /** When it was said; ISO 8601, UTC. */
  at: z.string(),
  /** From then on it cannot be undone. It covers until all is deleted, however long that takes. */
  until: z.string(),
  /** With the answers to them [K4]. */
  messages: z
    .array(
      z
        .object({
          channelId: z.string(),
          messageId: z.string(),
          /** Of one that says something else too: what goes, each sentence as its hash. */
          sentences: z.array(z.string()).readonly().optional(),
        })
        .readonly(),
    )
    .readonly(),
  /** Items as they were then, by {@link markOf}. */
  items: z.array(z.string()).readonly(),
  notes: notesSchema,
});

/** One change of a person's memory on its way to every layer [F5]: what it covers, in ids and hashes. */
export type WithheldRecord = Readonly<z.infer<typeof recordSchema>>;

const documentSchema = z.object({ version: z.literal(1), records: z.array(recordSchema).readonly() });
type WithheldDocument = Readonly<z.infer<typeof documentSchema>>;

/** `changes/<userId>.json`, `changes/<channelId>.json`, and `changes/workspace.json` for lines of the owners' notes. */
export const withheldKind: DocumentKind<WithheldDocument> = { version: 1, schema: documentSchema };

export const changesFolder = 'changes';
/** Whose document has the records about the owners' workspace. */
const workspaceId = 'workspace';
/** Until a change is tried again that the disk came between; milliseconds. */
const againMs = 60_000;

export function withheldKey(userId: string): string {
  return `${changesFolder}/${userId}.json`;
}

/** A record that covers nothing yet, and is final at once. */
export function emptyRecord(userId: string, at: string, change: WithheldRecord['change']): WithheldRecord {
  return {
    id: randomUUID().slice(0, 8),
    userId,
    change,
    at,
    until: at,
    messages: [],
    items: [],
    notes: [],
  };
}

/**
 * The records of changes that are not done [F5], those of a person in one document, as part of jobs of their queue; what
 * they say about the owners' notes also in that of the workspace. Rejects with `StoreError`.
 */
export function createChangeRecords({
  store,
  writes,
  expireAt,
  clock,
}: {
  readonly store: Pick<Store, 'read' | 'update' | 'remove' | 'list'>;
  readonly writes: Pick<Writes, 'runInWorkspace'>;
  readonly expireAt: (id: string, time?: Date) => Promise<void>;
  readonly clock: Clock;
}) {
  async function recordsOf(id: string): Promise<readonly WithheldRecord[]> {
    return (await store.read(withheldKey(id), withheldKind))?.records ?? [];
  }

  async function change(
    id: string,
    make: (records: readonly WithheldRecord[]) => readonly WithheldRecord[],
  ): Promise<readonly WithheldRecord[]> {
    const left = await store.update(
      withheldKey(id),
      withheldKind,
      (before) => ({ version: 1 as const, records: make(before?.records ?? []) }),
      { erase: true },
    );
    if (left?.records.length === 0) await store.remove(withheldKey(id));
    return left?.records ?? [];
  }

  /** Resolves when it is on disk. The owners' notes first: a record about them without its person's is none. */
  async function enter(id: string, record: WithheldRecord): Promise<void> {
    await expireAt(id, laterOf(record.until));
    const shared = record.notes.filter(({ key }) => key.startsWith('workspace/'));
    if (shared.length > 0) {
      const part = { ...record, messages: [], items: [], notes: shared };
      await writes.runInWorkspace(() => change(workspaceId, (all) => [...all, part]));
    }
    const all = await change(id, (before) => [...withFinal(before, record), record]);
    const isFinal = all.some(({ change: { kind }, until }) => kind === 'forgotten' && until <= record.at);
    if (isFinal) await expireAt(id, laterOf(record.at));
  }

  /** It is done or undone, and what it makes pointless goes too. */
  async function leave(id: string, record: WithheldRecord): Promise<void> {
    await change(id, (all) => {
      const at = all.findIndex((each) => each.id === record.id);
      return all.filter((each, index) => index !== at && !(index < at && isSupersededBy(each, record)));
    });
    await dropStrays(id);
  }

  /** A kill came before the person's own record was there, or after it had gone. */
  async function dropStrays(userId: string): Promise<void> {
    const shared = await recordsOf(workspaceId);
    if (!shared.some(({ userId: of }) => of === userId)) return;
    const own = new Set((await recordsOf(userId)).map(({ id }) => id));
    const isKept = (record: WithheldRecord): boolean => record.userId !== userId || own.has(record.id);
    if (!shared.every(isKept))
      await writes.runInWorkspace(() => change(workspaceId, (all) => all.filter(isKept)));
  }

  /** Whom, or which channel, there are records of. */
  async function ids(): Promise<readonly string[]> {
    const files = await store.list(changesFolder);
    const own = files.flatMap(({ path }) => /^(?<id>\d+)\.json$/u.exec(path)?.groups?.['id'] ?? []);
    return [...new Set([...own, ...(await recordsOf(workspaceId)).map(({ userId }) => userId)])];
  }

  /** Not at once: what is being carried out now needs no second look. */
  function laterOf(moment: string): Date {
    return new Date(Math.max(Date.parse(moment), clock().getTime() + againMs));
  }

  return { recordsOf, enter, leave, dropStrays, ids, laterOf };
}

/** What was forgotten before a purge can be undone no more [K11]; else only the newest can be [L3]. */
function withFinal(records: readonly WithheldRecord[], { change, at }: WithheldRecord) {
  const undoable = records.filter((each) => each.change.kind === 'forgotten' && each.until > at);
  const final = change.kind === 'purged' ? undoable : undoable.slice(0, 1 - limits.undoableChanges);
  return records.map((each) => (final.includes(each) ? { ...each, until: at } : each));
}

/** Whether a change of a person is pointless once a later one is done. */
export function isSupersededBy(
  { change: earlier }: WithheldRecord,
  { change: later }: WithheldRecord,
): boolean {
  if (later.kind === 'erased') return true;
  if (earlier.kind !== 'edited') return false;
  return later.kind === 'edited'
    ? later.messageId === earlier.messageId
    : later.kind === 'deleted' && later.messageIds.includes(earlier.messageId);
}

/** What a record covers of messages of a conversation that say less than before, or nothing. */
export function coverOf(
  { channelId }: SessionKey,
  withdrawn: readonly { readonly before: LoggedMessage; readonly now: string | undefined }[],
): WithheldRecord['messages'] {
  return withdrawn.flatMap(({ before, now }) => {
    if (now === undefined) return wholly(channelId, idsOf(before));
    const left = new Set(sentencesOf(now).map(({ segment }) => segment.trim()));
    const gone = sentencesOf(before.text).map(({ segment }) => segment.trim());
    const sentences = gone.filter((sentence) => !left.has(sentence)).map(hashOf);
    return [{ channelId, messageId: before.id, sentences }];
  });
}

/** Messages of which nothing is left. */
export function wholly(channelId: string, messageIds: readonly string[]): WithheldRecord['messages'] {
  return messageIds.map((messageId) => ({ channelId, messageId }));
}

/** The conversations that a record touches. */
export function sessionsIn({ userId, messages }: WithheldRecord): readonly SessionKey[] {
  const channels = new Set(messages.map(({ channelId }) => channelId));
  return Array.from(channels, (channelId) => ({ channelId, userId }));
}

/** What deletes a record's messages in one conversation. */
export async function withheldCauses(
  log: { held(session: SessionKey, ids: readonly string[]): Promise<readonly LoggedMessage[]> },
  session: SessionKey,
  record: WithheldRecord,
): Promise<readonly MessageChange[]> {
  const { channelId } = session;
  const { message } = withheld([record]);
  const own = record.messages.filter((each) => each.channelId === channelId);
  const messageIds = own.flatMap((each) => (each.sentences === undefined ? each.messageId : []));
  const causes: MessageChange[] = messageIds.length === 0 ? [] : [{ kind: 'deleted', channelId, messageIds }];
  for (const { messageId } of own.filter(({ sentences }) => sentences !== undefined)) {
    const [held] = await log.held(session, [messageId]);
    const text = held && message(messageId, held.text);
    if (text === undefined) causes.push({ kind: 'deleted', channelId, messageIds: [messageId] });
    else causes.push({ kind: 'edited', channelId, messageId, text });
  }
  return causes;
}

/** What is withheld of a person: nothing that reads their memory may tell it. */
export type Withheld = ReturnType<typeof withheld>;

/**
 * The one rule of what was forgotten and can still come back [F5], beside `mayUse`: a look into what the records cover.
 * What was said or written later is not covered, though it be the same.
 */
export function withheld(records: readonly WithheldRecord[]) {
  const messages = new Set<string>();
  const partly = new Map<string, Set<string>>();
  for (const { messageId, sentences } of records.flatMap((record) => record.messages))
    if (sentences === undefined) messages.add(messageId);
    else partly.set(messageId, new Set([...(partly.get(messageId) ?? []), ...sentences]));
  const items = new Set(records.flatMap((record) => record.items));
  const lines = new Map<string, Set<string>>();
  for (const { key, lines: hashes } of records.flatMap((record) => record.notes))
    lines.set(key, new Set([...(lines.get(key) ?? []), ...hashes]));

  const hasLine = (key: string, line: string): boolean => lines.get(key)?.has(hashOf(line)) === true;

  return {
    records,
    /** Whether nothing of a message may be told. */
    hasMessage: (id: string): boolean => messages.has(id),
    /** Whether anything of it is withheld. */
    touches: (id: string): boolean => messages.has(id) || partly.has(id),
    /** What a message says without it; `undefined` where nothing is left. */
    message(this: void, id: string, text: string): string | undefined {
      if (messages.has(id)) return undefined;
      const hashes = partly.get(id);
      return hashes === undefined ? text : withoutSentences(text, (each) => hashes.has(hashOf(each)));
    },
    /** By {@link markOf}. */
    hasItem: (mark: string): boolean => items.has(mark),
    hasLine,
    /** A note without it; `undefined` where only headings are left. */
    note: (key: string, text: string): string | undefined =>
      lines.has(key) ? linesWithout(text, (line) => hasLine(key, line)) : text,
  };
}

/** Rejects with `StoreError`: who cannot know what is withheld must tell nothing. */
export async function readWithheld(store: Pick<Store, 'read'>, userId: string): Promise<Withheld> {
  const ids = [userId, workspaceId];
  const documents = await Promise.all(ids.map((id) => store.read(withheldKey(id), withheldKind)));
  return withheld(documents.flatMap((document) => document?.records ?? []));
}

/** What is withheld of everybody, for what people read together. Rejects with `StoreError`. */
export async function readAllWithheld(store: Pick<Store, 'read' | 'list'>): Promise<Withheld> {
  const files = await store.list(changesFolder);
  const kept = files.filter(({ path }) => path.endsWith('.json'));
  const documents = await Promise.all(
    kept.map(({ path }) => store.read(`${changesFolder}/${path}`, withheldKind)),
  );
  return withheld(documents.flatMap((document) => document?.records ?? []));
}

/** A stretch without what is withheld [F5]. */
export function withoutWithheld(fold: LogFold, own: Withheld): LogFold {
  const messages = fold.messages.flatMap(({ sequence, message }): readonly SequencedMessage[] => {
    if (!idsOf(message).some(own.touches)) return [{ sequence, message }];
    const text = own.message(message.id, message.text);
    return text === undefined ? [] : [{ sequence, message: { ...message, text } }];
  });
  return { ...fold, messages };
}

/** A text without some of its sentences; `undefined` where none is left. */
export function withoutSentences(text: string, isGone: (sentence: string) => boolean): string | undefined {
  const left = sentencesOf(text).filter(({ segment }) => !isGone(segment.trim()));
  const rest = left
    .map(({ segment }) => segment)
    .join('')
    .trim();
  return rest === '' ? undefined : rest;
}

/** An item in one state: changed since, it is another. */
export function markOf(item: {
  readonly id: string;
  readonly text: string;
  readonly question?: string | undefined;
  readonly updatedAt?: string;
  readonly source?: { readonly messageId: string };
}): string {
  const { id, text, question, updatedAt, source } = item;
  return hashOf(JSON.stringify([id, text, question, updatedAt, source?.messageId]));
}

/** Of a sentence, or a line of a note. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** A note without some lines; the same text if there are none, and `undefined` if only headings would be left. */
export function linesWithout(text: string, isGone: (line: string) => boolean): string | undefined {
  let isInComment = false;
  let hasContent = false;
  const lines = text.split('\n');
  const kept: string[] = [];
  for (const line of lines) {
    const isComment: boolean = isInComment || line.includes('<!--');
    isInComment = isComment && !line.includes('-->');
    if (!isComment && isGone(line)) continue;
    hasContent ||=
      !isComment && line.trim() !== '' && !line.startsWith('#') && !line.startsWith('> Summary:');
    kept.push(line);
  }
  if (kept.length === lines.length) return text;
  return hasContent ? kept.join('\n') : undefined;
}

/**
 * A note's new text with the lines that are withheld of the old one, each behind the line it stood behind, or at the
 * end [K5].
 */
export function withWithheldLines(
  before: string,
  after: string,
  isWithheld: (line: string) => boolean,
): string {
  const lines = after.split('\n');
  let next = 0;
  let isFound = true;
  for (const line of before.split('\n')) {
    if (!isWithheld(line)) {
      const at = lines.indexOf(line, next);
      isFound = at !== -1;
      if (isFound) next = at + 1;
      continue;
    }
    const place = isFound ? next : lines.findLastIndex((each) => each.trim() !== '') + 1;
    lines.splice(place, 0, line);
    if (isFound) next += 1;
  }
  return lines.join('\n');
}
