import { hash } from 'node:crypto';

import { z } from 'zod';

import type { DocumentKind, Store } from '../core/store.ts';
import { sentencesOf } from './durable/evidence.ts';

const notesSchema = z
  .array(z.object({ key: z.string(), lines: z.array(z.string()).readonly() }).readonly())
  .readonly();

/** Lines of notes, each as its SHA-256, by the store's key of the note. */
export type NoteLines = z.infer<typeof notesSchema>;

const recordSchema = z.object({
  id: z.string(),
  /** Who had it forgotten. */
  userId: z.string(),
  /** When it was said; ISO 8601, UTC. */
  at: z.string(),
  /** From then on it cannot be undone. It covers until all is deleted, however long that takes. */
  until: z.string(),
  /** Since when work on some conversations waits, those whose log has any of it: for this one or one before it. */
  waitingSince: z.string(),
  waiting: z.array(z.string()).readonly(),
  /** The snowflake of the command. */
  commandId: z.string(),
  /** With the answers to them [K4]. */
  messages: z
    .array(z.object({ channelId: z.string(), messageIds: z.array(z.string()).readonly() }).readonly())
    .readonly(),
  /** Of messages that say something else too: what goes, each sentence as its hash. */
  sentences: z
    .array(
      z
        .object({ channelId: z.string(), messageId: z.string(), hashes: z.array(z.string()).readonly() })
        .readonly(),
    )
    .readonly(),
  /** Items as they were then, by {@link markOf}. */
  items: z.array(z.string()).readonly(),
  notes: notesSchema,
});

/** What a person had forgotten and can take back [K5]: what it covers, in ids and hashes, without a word of it. */
export type WithheldRecord = Readonly<z.infer<typeof recordSchema>>;

const documentSchema = z.object({ version: z.literal(1), records: z.array(recordSchema).readonly() });
export type WithheldDocument = Readonly<z.infer<typeof documentSchema>>;

/** `changes/<userId>.json`, and `changes/workspace.json` for the lines of the owners' notes. */
export const withheldKind: DocumentKind<WithheldDocument> = { version: 1, schema: documentSchema };

export const changesFolder = 'changes';
/** Whose document has the records about the owners' workspace. */
export const workspaceId = 'workspace';

export function withheldKey(userId: string): string {
  return `${changesFolder}/${userId}.json`;
}

/** What is withheld of a person: nothing that reads their memory may tell it. */
export type Withheld = ReturnType<typeof withheld>;

/**
 * The one rule of what was forgotten and can still come back [F5], beside `mayUse`: a look into what the records cover.
 * What was said or written later is not covered, though it be the same.
 */
export function withheld(records: readonly WithheldRecord[]) {
  const messages = new Set(records.flatMap((record) => record.messages.flatMap((each) => each.messageIds)));
  const partly = new Map<string, Set<string>>();
  for (const { messageId, hashes } of records.flatMap((record) => record.sentences))
    partly.set(messageId, new Set([...(partly.get(messageId) ?? []), ...hashes]));
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

/** How long work on a conversation waits at most, however often something of it is forgotten. */
const waitsAtMostMs = 20 * 60_000;

/** The records for which work on some conversations waits: what it made of them could not be taken back. */
export function recordsWaitedFor(
  { records }: Withheld,
  now: Date,
  isMeant: (record: WithheldRecord) => boolean,
): readonly WithheldRecord[] {
  return records.filter(
    (record) => now.getTime() - Date.parse(record.waitingSince) < waitsAtMostMs && isMeant(record),
  );
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
