import { buffer } from 'node:stream/consumers';

import { fromBufferPromise } from 'yauzl';

import type { AttachedFile } from '../core/chat.ts';
import type { CommandReply } from '../core/commands.ts';
import { wellFormed, withoutInvisible } from '../core/text.ts';
import {
  itemKinds,
  listedAs,
  readExportedItems,
  type DurableItem,
  type ItemKind,
} from '../memory/durable/document.ts';
import { itemsFile } from '../memory/durable/durable-memory.ts';
import type { ImportResult } from '../memory/durable/import-items.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, linesOf, listedItem, present } from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import type { Pending } from './memory-erase.ts';
import { readingPlace, type MemoryCall } from './memory-ports.ts';

const kilobyte = 1024;
/** A file that is handed in: as large as Discord takes one from anybody. */
const importMaxBytes = 10 * 1024 * kilobyte;
/** Of a list of lines. */
const listMaxBytes = 256 * kilobyte;
/** Of the items of an export: more than all that a person can have, with what they corrected. */
const itemsMaxBytes = 4 * 1024 * kilobyte;
/** Entries of such a file or list that are looked at. */
const mostEntries = 5000;
const archiveMaxEntries = 20_000;

/** Shows what a file would have the bot remember [K10]; nothing is stored yet. In a server only the asker sees it. */
export async function previewImport(
  call: MemoryCall,
  file: AttachedFile,
  pending: Pending,
): Promise<CommandReply> {
  const { id, speaker, place, ephemeral, at, ports } = call;
  const refusal = await refusalToStore(call);
  if (refusal !== undefined) return refusal;
  const bytes = await ports.readAttachment(file, speaker.id, importMaxBytes);
  if (bytes === 'too-large') return { text: 'That file is larger than 10 MB, so nothing was imported.' };
  if (bytes === 'unavailable')
    return { text: 'I could not fetch that file from Discord. Please try again in a minute.' };
  const read = await readImportFile(bytes, { place, messageId: id, now: new Date(at) });
  if (read.unusable !== undefined) return { text: read.unusable };
  const { added, known, refused } = await ports.durable.wouldRemember(speaker.id, read.items);
  const leftOut = [...read.leftOut, ...refusals(refused, ports.settings.itemMaxChars)];
  const counts = present(
    known > 0 && `${counted(known, 'item')} I know already.`,
    leftOut.length > 0 && `Left out: ${leftOut.join('; ')}.`,
  );
  if (added.length === 0) return { text: linesOf('There is nothing new in that file.', counts) };

  const line = `memory import-accept ${pending.add(speaker.id, { imported: read.items })}`;
  const text = linesOf(
    `That file has ${counted(added.length, 'new item')}:`,
    added.map((item) => listedItem(item, readingPlace(place, true))),
    counts,
    `Nothing is stored yet. Say \`!${line}\` within 10 minutes to store ${added.length === 1 ? 'it' : 'them'}.`,
  );
  if (ephemeral || place.audience === 'dm')
    return { text, buttons: [{ label: '✅ Store', line }, { label: 'Leave it' }] };
  const sent = await ports.sendDirect(speaker.id, [{ text }], id);
  return {
    text:
      sent === 'sent'
        ? 'I have sent you the list as a direct message. Nothing is stored until you accept it there.'
        : 'I show such a list to you alone, and could not send you a direct message. Please use `/memory import` with the file.',
  };
}

/** Stores what was shown, as one change. */
export async function acceptImport(call: MemoryCall, token: string, pending: Pending): Promise<CommandReply> {
  const { speaker, ports } = call;
  const refusal = await refusalToStore(call);
  if (refusal !== undefined) return refusal;
  const items = pending.take(speaker.id, token)?.imported;
  if (items === undefined)
    return {
      text: "That import has expired, or isn't yours. Please give the file to `/memory import` again.",
    };
  const { added, refused, undoId } = await ports.durable.rememberAll(call.work, items);
  return {
    text: linesOf(
      `Imported ${counted(added.length, 'item')}. \`!memory show\` lists what I remember.`,
      refused.full > 0 && `${counted(refused.full, 'item')} did not fit any more.`,
    ),
    buttons: undoButton(undoId),
  };
}

function refusals(refused: ImportResult['refused'], itemMaxChars: number): readonly string[] {
  const reasons = {
    empty: 'without any text',
    'too-long': `over ${itemMaxChars} characters`,
    secret: 'that looks like a password, key or card number',
    full: 'for which there is no room',
  } as const;
  return (['empty', 'too-long', 'secret', 'full'] as const)
    .filter((reason) => refused[reason] > 0)
    .map((reason) => `${counted(refused[reason], 'item')} ${reasons[reason]}`);
}

/** What a file holds, or a line for its owner that says why it holds nothing. */
type ImportFile =
  | {
      readonly items: readonly DurableItem[];
      readonly leftOut: readonly string[];
      readonly unusable?: undefined;
    }
  | { readonly unusable: string };

type Origin = Parameters<typeof listedAs>[2];

/** An export, its `items.json`, or a text with one item a line [K10]. Nothing of it is trusted. */
export async function readImportFile(bytes: Buffer, origin: Origin): Promise<ImportFile> {
  if (isArchive(bytes)) {
    const found = await unpackFile(bytes, itemsFile, itemsMaxBytes);
    if (typeof found === 'string') return { unusable: archiveLines[found] };
    const list = jsonList(decoded(found) ?? '');
    return list === undefined ? { unusable: archiveLines.damaged } : exportedItems(list, origin);
  }
  if (bytes.length > itemsMaxBytes) return { unusable: tooLongLine };
  const text = decoded(bytes);
  if (text === undefined)
    return { unusable: 'That is neither an export of mine nor a text file, so nothing was imported.' };
  const list = text.trimStart().startsWith('[') ? jsonList(text) : undefined;
  if (list !== undefined) return exportedItems(list, origin);
  return bytes.length > listMaxBytes ? { unusable: tooLongLine } : listedItems(text, origin);
}

const tooLongLine =
  'That file is too long: 256 KB of text at most. Nothing was imported; please split it up.';

const archiveLines = {
  missing: `There is no \`${itemsFile}\` in that archive, so nothing was imported. Of an export in several parts, only the one with that file has items.`,
  'too-large': `\`${itemsFile}\` in that archive is larger than anything that I export, so nothing was imported.`,
  damaged: 'That archive is damaged or not from me, so nothing was imported.',
} as const;

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
  const unread = damaged > 0 && `${counted(damaged, 'entry', 'entries')} that I cannot read as an item`;
  return { items, leftOut: present(unread, surplus(list.length)) };
}

/** The last line first: of what was stored at the same moment, the last is shown first. */
function listedItems(text: string, origin: Origin): ImportFile {
  const lines = withoutInvisible(text)
    .split('\n')
    .flatMap((line) => readLine(line) ?? []);
  const items = lines.slice(0, mostEntries).map(({ words, kind }) => listedAs(words, kind, origin));
  return { items: items.toReversed(), leftOut: present(surplus(lines.length)) };
}

function surplus(entries: number): string | false {
  return entries > mostEntries && `${entries - mostEntries} after the first ${mostEntries}`;
}

/** Bullets, numbers and boxes before an item. */
const mark = /^(?:[-*+•‣–]|\d{1,4}[.)])[^\S\n]+(?:\[[ xX]\][^\S\n]+)?/u;
const kindMark = /^\[(?<kind>\w{1,20})\][^\S\n]*/u;
/** Headings, rules and fences are not items. */
const layout = /^(?:#{1,6}\s|```|~~~|[-*_=]{3,}$)/u;

/** An item as a line of a list names it; `undefined` for what only gives the list its form. */
function readLine(line: string): { readonly words: string; readonly kind: ItemKind } | undefined {
  const trimmed = line.trim();
  if (trimmed === '' || layout.test(trimmed)) return undefined;
  const text = trimmed.replace(mark, '');
  const named = kindMark.exec(text);
  const kind = itemKinds.find((each) => each === named?.groups?.['kind']?.toLowerCase());
  const words = kind === undefined ? text : text.slice(named?.[0].length ?? 0);
  return words === '' ? undefined : { words, kind: kind ?? 'fact' };
}

function isArchive(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

/** From a stranger: nothing else is unpacked, and never more than `maxBytes`. */
export async function unpackFile(
  archive: Buffer,
  path: string,
  maxBytes: number,
): Promise<Uint8Array | 'missing' | 'too-large' | 'damaged'> {
  try {
    const zip = await fromBufferPromise(archive);
    if (zip.entryCount > archiveMaxEntries) return 'too-large';
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== path) continue;
      if (entry.uncompressedSize > maxBytes) return 'too-large';
      // The stream fails as soon as there is more than that.
      return await buffer(await zip.openReadStreamPromise(entry));
    }
    return 'missing';
  } catch {
    return 'damaged';
  }
}
