import {
  itemKinds,
  listedAs,
  readExportedItems,
  type DurableItem,
  type ItemKind,
} from '../memory/durable/document.ts';
import { itemsFile } from '../memory/durable/durable-memory.ts';
import { wellFormed, withoutInvisible } from '../core/text.ts';
import { isArchive, unpackFile } from './archive.ts';
import { counted } from './answer-lines.ts';

const kilobyte = 1024;
/** A file that is handed in: as large as Discord takes one from anybody. */
export const importMaxBytes = 10 * 1024 * kilobyte;
/** Of a list of lines. */
const listMaxBytes = 256 * kilobyte;
/** Of the items of an export: more than all that a person can have, with what they corrected. */
const itemsMaxBytes = 4 * 1024 * kilobyte;
/** Entries of such a file or list that are looked at. */
const mostEntries = 5000;

/** What a file holds, or a line for its owner that says why it holds nothing. */
export type ImportFile =
  | {
      readonly kind: 'items';
      readonly items: readonly DurableItem[];
      /** What could not be taken for items. */
      readonly leftOut: readonly string[];
    }
  | { readonly kind: 'unusable'; readonly line: string };

type Origin = Parameters<typeof listedAs>[2];

/** Reads the items of a file from anywhere [K10]: an export, its `items.json`, or a text with one item a line. Nothing of it is trusted. */
export async function readImportFile(bytes: Buffer, origin: Origin): Promise<ImportFile> {
  if (isArchive(bytes)) {
    const found = await unpackFile(bytes, itemsFile, itemsMaxBytes);
    if (typeof found === 'string') return unusable(archiveLines[found]);
    const list = jsonList(decoded(found) ?? '');
    return list === undefined ? unusable(archiveLines.damaged) : exportedItems(list, origin);
  }
  const isTooLong = bytes.length > listMaxBytes;
  if (bytes.length > itemsMaxBytes) return unusable(tooLongLine);
  const text = decoded(bytes);
  if (text === undefined)
    return unusable('That is neither an export of mine nor a text file, so nothing was imported.');
  const list = text.trimStart().startsWith('[') ? jsonList(text) : undefined;
  if (list !== undefined) return exportedItems(list, origin);
  return isTooLong ? unusable(tooLongLine) : listedItems(text, origin);
}

const tooLongLine =
  'That file is too long: 256 KB of text at most. Nothing was imported; please split it up.';

const archiveLines = {
  missing: `There is no \`${itemsFile}\` in that archive, so nothing was imported. Of an export in several parts, only the one with that file has items.`,
  'too-large': `\`${itemsFile}\` in that archive is larger than anything that I export, so nothing was imported.`,
  damaged: 'That archive is damaged or not from me, so nothing was imported.',
} as const;

function unusable(line: string): ImportFile {
  return { kind: 'unusable', line };
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function jsonList(text: string): readonly unknown[] | undefined {
  try {
    const data: unknown = wellFormed(JSON.parse(text));
    return Array.isArray(data) && data.every((each) => typeof each === 'object') ? data : undefined;
  } catch {
    return undefined;
  }
}

function exportedItems(list: readonly unknown[], { now }: Origin): ImportFile {
  const { items, damaged } = readExportedItems(list.slice(0, mostEntries), now);
  return {
    kind: 'items',
    items,
    leftOut: [
      ...(damaged === 0 ? [] : [`${counted(damaged, 'entry', 'entries')} that I cannot read as an item`]),
      ...surplus(list.length),
    ],
  };
}

/** The last line first: of what was stored at the same moment, the last is shown first. */
function listedItems(text: string, origin: Origin): ImportFile {
  const items = withoutInvisible(text)
    .split('\n')
    .flatMap((line) => readLine(line) ?? []);
  return {
    kind: 'items',
    items: items
      .slice(0, mostEntries)
      .map(({ text: words, kind }) => listedAs(words, kind, origin))
      .toReversed(),
    leftOut: surplus(items.length),
  };
}

function surplus(entries: number): readonly string[] {
  return entries <= mostEntries ? [] : [`${entries - mostEntries} after the first ${mostEntries}`];
}

/** Bullets, numbers and boxes before an item. */
const mark = /^(?:[-*+•‣–]|\d{1,4}[.)])[^\S\n]+(?:\[[ xX]\][^\S\n]+)?/u;
const kindMark = /^\[(?<kind>\w{1,20})\][^\S\n]*/u;
/** Headings, rules and fences are not items. */
const layout = /^(?:#{1,6}\s|```|~~~|[-*_=]{3,}$)/u;

/** An item as a line of a list names it; `undefined` for what only gives the list its form. */
function readLine(line: string): { readonly text: string; readonly kind: ItemKind } | undefined {
  const trimmed = line.trim();
  if (trimmed === '' || layout.test(trimmed)) return undefined;
  const words = trimmed.replace(mark, '');
  const named = kindMark.exec(words);
  const kind = itemKinds.find((each) => each === named?.groups?.['kind']?.toLowerCase());
  const text = kind === undefined ? words : words.slice(named?.[0].length ?? 0);
  return text === '' ? undefined : { text, kind: kind ?? 'fact' };
}
