import { buffer } from 'node:stream/consumers';

import { fromBufferPromise } from 'yauzl';

import type { Place } from '../core/place.ts';
import { chunk, counted, parseJson, withoutInvisible } from '../core/text.ts';
import {
  itemKinds,
  itemMaxChars,
  readExportedItems,
  sourceIn,
  type DurableItem,
} from '../memory/durable/document.ts';
import { itemsFile } from '../memory/durable/durable-memory.ts';

const kilobyte = 1024;
/** Of a list of lines. */
const listMaxBytes = 256 * kilobyte;
/** Of items as JSON: more than all that a person can have, with what they corrected. */
const itemsMaxBytes = 4 * 1024 * kilobyte;
/** Entries of such a file or list that are looked at. */
const mostEntries = 5000;
const archiveMaxEntries = 20_000;
/** In what ChatGPT and Claude export. */
const memoriesFile = 'memories.json';

/** What a file holds, or a line for its owner that says why it holds nothing. */
export type ImportFile =
  | {
      readonly items: readonly DurableItem[];
      readonly leftOut: readonly string[];
      readonly unusable?: undefined;
    }
  | { readonly unusable: string };

/** Where and when it was brought, for entries that do not say. */
interface Origin {
  readonly place: Place;
  readonly messageId: string;
  readonly now: Date;
}

/**
 * An export of ours or of another assistant, its JSON, or a text with one item a line [K10]. Nothing of it is trusted.
 */
export async function readImportFile(bytes: Buffer, origin: Origin): Promise<ImportFile> {
  if (isArchive(bytes)) {
    const isWanted = (path: string) => path === itemsFile || path.split('/').at(-1) === memoriesFile;
    const found = await unpackFile(bytes, isWanted, itemsMaxBytes);
    if (typeof found === 'string') return { unusable: archiveLines[found] };
    const data = jsonList(decoded(found) ?? '');
    return data === undefined ? { unusable: archiveLines.damaged } : itemsOf(entriesIn(data, origin), origin);
  }
  if (bytes.length > itemsMaxBytes) return { unusable: tooLongLine };
  const text = decoded(bytes);
  if (text === undefined)
    return { unusable: 'That is neither an export nor a text file, so nothing was imported.' };
  const data = jsonList(text);
  if (data !== undefined) return itemsOf(entriesIn(data, origin), origin);
  return bytes.length > listMaxBytes ? { unusable: tooLongLine } : readImportList(text, origin);
}

/** A text with one item a line [K10]. */
export function readImportList(text: string, origin: Origin): ImportFile {
  return itemsOf(linesIn(text, origin), origin);
}

const tooLongLine =
  'That file is too long: 256 KB of text at most. Nothing was imported; please split it up.';

const archiveLines = {
  missing: `There is neither \`${itemsFile}\` nor \`${memoriesFile}\` in that archive, so nothing was imported. Of an export in several parts, only the one with that file has items.`,
  'too-large': 'The items in that archive are larger than I can read, so nothing was imported.',
  damaged: 'That archive is damaged, or not an export that I know, so nothing was imported.',
} as const;

function decoded(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The entries of an export as JSON; `undefined` where the text is none. */
function jsonList(text: string): readonly unknown[] | undefined {
  try {
    const data = parseJson(text);
    const list: readonly unknown[] | undefined = Array.isArray(data)
      ? data
      : isRecord(data)
        ? [data]
        : undefined;
    return list?.flatMap((each) => listsIn(each) ?? [each]);
  } catch {
    return undefined;
  }
}

function isRecord(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

const listNames = ['memories', 'conversations_memory', 'project_memories'] as const;
/** An entry's text is under the first of these that it has. */
const textNames = ['memory', 'content', 'text', 'title'] as const;
const createdNames = ['createdAt', 'created_at', 'create_time', 'created', 'date'] as const;
const updatedNames = ['updatedAt', 'updated_at', 'update_time', 'updated'] as const;

/** What stands below the names that other assistants give their lists; `undefined` where there is none of them. */
function listsIn(data: unknown): readonly unknown[] | undefined {
  if (!isRecord(data) || !listNames.some((name) => name in data)) return undefined;
  return listNames.flatMap((name) => {
    const list = data[name] ?? [];
    return isRecord(list) ? Object.values(list) : list;
  });
}

function isOurs(each: unknown): boolean {
  return isRecord(each) && 'visibility' in each;
}

/** As entries of an export of ours. */
function entriesIn(list: readonly unknown[], origin: Origin): readonly unknown[] {
  return list.flatMap((each) => {
    if (typeof each === 'string') return linesIn(each, origin);
    if (!isRecord(each) || isOurs(each)) return [each];
    const text = textNames.map((name) => each[name]).find((value) => typeof value === 'string');
    if (text === undefined) return [each];
    const times = { createdAt: timeIn(each, createdNames), updatedAt: timeIn(each, updatedNames) };
    return piecesOf(text).map((piece) => entryOf(piece, each['kind'], times, origin));
  });
}

/** ISO 8601, also from seconds or milliseconds since 1970. */
function timeIn(each: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const time = names.map((name) => each[name]).find((value) => value !== undefined && value !== null);
  if (typeof time !== 'number' && typeof time !== 'string') return undefined;
  const date = new Date(typeof time === 'number' && time < 1e11 ? time * 1000 : time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function entryOf(
  text: string,
  kind: unknown,
  {
    createdAt,
    updatedAt,
  }: { readonly createdAt: string | undefined; readonly updatedAt?: string | undefined },
  { place, messageId, now }: Origin,
) {
  return {
    text,
    kind: itemKinds.find((each) => each === kind),
    source: sourceIn(place, 'manual', messageId),
    createdAt: createdAt ?? updatedAt ?? now.toISOString(),
    updatedAt,
  };
}

function itemsOf(entries: readonly unknown[], { now }: Origin): ImportFile {
  const first = entries.slice(0, mostEntries);
  // Of equally old items, the last is shown first.
  const { items, damaged } = readExportedItems(first.some(isOurs) ? first : first.toReversed(), now);
  const surplus = entries.length - mostEntries;
  const leftOut = [
    damaged > 0 ? `${counted(damaged, 'entry', 'entries')} that I cannot read as an item` : '',
    surplus > 0 ? `${surplus} after the first ${mostEntries}` : '',
  ];
  return { items, leftOut: leftOut.filter((line) => line !== '') };
}

/** Bullets, numbers and boxes before an item. */
const mark = /^(?:[-*+•‣–]|\d{1,4}[.)])[^\S\n]+(?:\[[ xX]\][^\S\n]+)?/u;
/** The kind or day of an item, such as `[2024-05-01] - `. */
const bracket = /^\[(?<named>[^[\]\n]{1,30})\](?:[^\S\n]*[-–—:](?=\s))?[^\S\n]*/u;
/** Headings, rules and fences are not items. */
const layout = /^(?:#{1,6}\s|```|~~~|[-*_=]{3,}$|\*{1,2}[^\s*][^*]*\*{1,2}:?$)/u;

/** The items that a text names, without what only gives it its form. */
function linesIn(text: string, origin: Origin): readonly unknown[] {
  return withoutInvisible(text)
    .split('\n')
    .flatMap((line) => {
      const trimmed = line.trim();
      if (trimmed === '' || layout.test(trimmed)) return [];
      const item = trimmed.replace(mark, '');
      const [whole = '', named = ''] = bracket.exec(item) ?? [];
      const kind = itemKinds.find((each) => each === named.toLowerCase());
      const createdAt = timeIn({ named: /^\d{4}-\d\d(?:-\d\d)?/u.exec(named)?.[0] }, ['named']);
      const isNamed = kind !== undefined || createdAt !== undefined || /^(?:date )?unknown$/iu.test(named);
      const words = isNamed ? item.slice(whole.length) : item;
      return words === '' ? [] : piecesOf(words).map((piece) => entryOf(piece, kind, { createdAt }, origin));
    });
}

/** `Intl.Segmenter` takes the square of a text's length, and this text may be anything. */
const sentenceEnd = /(?<=[\p{L}\p{N}]{3}[.!?…]["”’»)]?\s)|(?<=[。！？])/u;

/** Splits what is too long for one item, such as Claude's paragraphs, at sentences. */
function piecesOf(text: string): readonly string[] {
  if (text.length <= itemMaxChars) return [text];
  return chunk(text.split(sentenceEnd), ({ length }) => length, itemMaxChars).map((part) =>
    part.join('').trim(),
  );
}

function isArchive(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

/** From a stranger: nothing else is unpacked, and never more than `maxBytes`. */
export async function unpackFile(
  archive: Buffer,
  isWanted: (path: string) => boolean,
  maxBytes: number,
): Promise<Uint8Array | 'missing' | 'too-large' | 'damaged'> {
  try {
    const zip = await fromBufferPromise(archive);
    if (zip.entryCount > archiveMaxEntries) return 'too-large';
    for await (const entry of zip.eachEntry()) {
      if (!isWanted(entry.fileName)) continue;
      if (entry.uncompressedSize > maxBytes) return 'too-large';
      // The stream fails as soon as there is more than that.
      return await buffer(await zip.openReadStreamPromise(entry));
    }
    return 'missing';
  } catch {
    return 'damaged';
  }
}
