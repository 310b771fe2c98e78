import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';

import Papa from 'papaparse';
import { fromBufferPromise } from 'yauzl';

import { formTextMaxChars, type CommandReply } from '../core/commands.ts';
import type { AttachedFile } from '../core/message.ts';
import type { Place } from '../core/place.ts';
import { chunk, encodingOf, parseJson, withoutFence, withoutInvisible } from '../core/text.ts';
import { itemMaxChars, type DurableItem, itemKinds, sourceIn } from '../memory/durable/document.ts';
import { itemsFile } from '../memory/durable/durable-memory.ts';
import { readExportedItems, type ImportResult } from '../memory/durable/import-items.ts';
import { shownReminder } from '../memory/reminders/notices.ts';
import { remindersFile } from '../memory/reminders/reminders.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, linesOf, listedItem, present } from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import type { Pending } from './memory-data.ts';
import { readingPlace, type MemoryCall } from './memory-ports.ts';

/** A file that is handed in: as large as Discord takes one from anybody. */
const importMaxBytes = 10 * 1024 * 1024;
/** Items that are shown of what a file has, before it is stored. */
const mostShown = 20;
/** Of each reminder that is shown, characters. */
const remindedMaxChars = 60;

/**
 * Shows what a file, or what is pasted behind the command, would have the bot remember [K10]; without them, how to get
 * it from another assistant.
 */
export async function previewImport(
  call: MemoryCall,
  { file, list = '' }: { readonly file?: AttachedFile | undefined; readonly list?: string | undefined },
  pending: Pending,
): Promise<CommandReply> {
  // One word, such as *please*, cannot be a list.
  if (file === undefined && !/\s/u.test(list)) return howToImport();
  const refusal = await refusalToStore(call);
  if (refusal !== undefined) return refusal;
  if (file === undefined) return showImport(call, readImportText(list, originOf(call)), [], pending);
  const bytes =
    file.bytes === undefined
      ? await call.discord.readAttachment(file, call.speaker.id, importMaxBytes)
      : Buffer.from(file.bytes);
  if (bytes === 'too-large') return { text: 'That file is larger than 10 MB, so nothing was imported.' };
  if (bytes === 'unavailable')
    return { text: 'I could not fetch that file from Discord. Please try again in a minute.' };
  const reminders = await call.memory.reminders.stillToCome(call.speaker.id, await remindersIn(bytes));
  return showImport(call, await readImportFile(bytes, originOf(call)), reminders, pending);
}

type BroughtReminders = Awaited<ReturnType<MemoryCall['memory']['reminders']['stillToCome']>>;

/** Of an archive of ours, what its person was to be reminded of. */
async function remindersIn(bytes: Buffer): Promise<readonly unknown[]> {
  if (!isArchive(bytes)) return [];
  const found = await unpackFile(bytes, (path) => path === remindersFile, itemsMaxBytes);
  return typeof found === 'string' ? [] : [dataIn(new TextDecoder().decode(found))].flat(2);
}

const paste = 'memory import';

function howToImport(): CommandReply {
  return {
    text: `Ask ChatGPT, Claude or another assistant for what it knows about you:\n\`\`\`\n${requestToAssistants}\n\`\`\`\nThen paste its list here, or give it to \`/memory import\` as a file. I also read \`memories.json\` from an assistant's data export, and my own exports. I show you what I would remember, and store nothing before you say so.`,
    buttons: [{ label: 'Paste the list', line: paste, opensForm: true, takes: 'nothing' }],
    form: { title: 'Import', label: 'One item a line', value: '', maxChars: formTextMaxChars, line: paste },
  };
}

function originOf({ id, place, at }: MemoryCall) {
  return { place, messageId: id, now: new Date(at) };
}

/** Nothing is stored yet. */
async function showImport(
  call: MemoryCall,
  read: ImportFile,
  reminders: BroughtReminders,
  pending: Pending,
): Promise<CommandReply> {
  const { speaker, memory } = call;
  if (read.unusable !== undefined && reminders.length === 0) return { text: read.unusable };
  const { items = [], leftOut: unread = [] } = read.unusable === undefined ? read : {};
  const { added, known, refused } = await memory.durable.wouldRemember(speaker.id, items);
  const leftOut = [...unread, ...refusals(refused)];
  const counts = present(
    known > 0 && `${counted(known, 'item')} I know already.`,
    leftOut.length > 0 && `Left out: ${leftOut.join('; ')}.`,
  );
  const count = added.length + reminders.length;
  if (count === 0) return { text: linesOf('There is nothing new in it.', counts) };

  const line = pending.add(speaker.id, (accepting) => storeImport(accepting, items, reminders));
  const text = linesOf(
    added.length > 0 && `There ${added.length === 1 ? 'is' : 'are'} ${counted(added.length, 'new item')}:`,
    added.slice(0, mostShown).map((item) => listedItem(item, call)),
    added.length > mostShown && `… and ${added.length - mostShown} more.`,
    counts,
    reminders.length > 0 && `${counted(reminders.length, 'reminder')} still to come, by direct message:`,
    reminders.map((each) => `- ${shownReminder(each, remindedMaxChars)}`),
    `Nothing is stored yet. Say \`!${line}\` within 10 minutes to store ${count === 1 ? 'it' : 'them'}.`,
  );
  return { text, buttons: [{ label: '✅ Store', line }, { label: 'Leave it' }] };
}

/** Stores what was shown, as one change. */
async function storeImport(
  call: MemoryCall,
  items: readonly DurableItem[],
  reminders: BroughtReminders,
): Promise<CommandReply> {
  const refusal = await refusalToStore(call);
  if (refusal !== undefined) return refusal;
  const { added, refused, undoId } = await call.memory.durable.rememberAll(call.work, items);
  let set = 0;
  for (const { at, ...rest } of reminders) {
    const here = { at: new Date(at), place: readingPlace(call.place, true), messageId: call.id };
    set += typeof (await call.memory.reminders.set(call.work, { ...rest, ...here })) === 'string' ? 0 : 1;
  }
  return {
    text: linesOf(
      `Imported ${counted(added.length, 'item')}. \`!memory show\` lists what I remember.`,
      reminders.length > 0 &&
        `Set ${set} of ${counted(reminders.length, 'reminder')}. \`!reminders\` lists them.`,
      refused.full > 0 && `${counted(refused.full, 'item')} did not fit any more.`,
    ),
    buttons: undoButton(undoId),
  };
}

function refusals(refused: ImportResult['refused']): readonly string[] {
  const reasons = [
    ['empty', 'without any text'],
    ['too-long', `over ${itemMaxChars} characters`],
    ['secret', 'that looks like a password, key or card number'],
    ['full', 'for which there is no room'],
  ] as const;
  return reasons.flatMap(([reason, text]) =>
    refused[reason] > 0 ? [`${counted(refused[reason], 'item')} ${text}`] : [],
  );
}

const kilobyte = 1024;
/** Of a list of lines. */
const listMaxBytes = 256 * kilobyte;
/** Of items as JSON: more than all that a person can have, with what they corrected. */
const itemsMaxBytes = 4 * 1024 * kilobyte;
/** Entries of such a file or list that are looked at. */
const mostEntries = 5000;
const archiveMaxEntries = 20_000;
const mostColumns = 100;
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
  const found = isArchive(bytes) ? await unpackFile(bytes, hasItems, itemsMaxBytes) : bytes;
  if (typeof found === 'string') return { unusable: archiveLines[found] };
  if (found.length > itemsMaxBytes) return { unusable: tooLongLine };
  const encoding = encodingOf(found);
  if (encoding === 'utf-8' && (!isUtf8(found) || found.includes(0)))
    return { unusable: 'That is neither an export nor a text file, so nothing was imported.' };
  const text = new TextDecoder(encoding).decode(found);
  const data = dataIn(text);
  if (data === undefined && found !== bytes) return { unusable: archiveLines.damaged };
  const isTooLong = data === undefined && bytes.length > listMaxBytes;
  return isTooLong ? { unusable: tooLongLine } : readImportText(text, origin, data);
}

function isArchive(bytes: Buffer): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

/** Of a file in an archive: ours by its path, others' wherever it lies. */
const hasItems = (path: string) => path === itemsFile || path.split('/').at(-1) === memoriesFile;

/** JSON, JSON Lines or a table of values that hold memories, or a text with one item a line [K10]. */
function readImportText(text: string, origin: Origin, data = dataIn(text)): ImportFile {
  const entries = data === undefined ? linesIn(text, origin) : entriesIn(data, origin);
  const hasTalk = data !== undefined && /"(?:mapping|chat_messages|messages)"\s*:/u.test(text);
  return entries.length === 0 && hasTalk ? { unusable: conversationsLine } : itemsOf(entries, origin);
}

/** Asks another assistant for what it keeps, in a form that `readImportText` reads. */
const requestToAssistants = `List everything you remember about me, from your saved memories and from our conversations: facts, preferences, projects, constraints, people, tools, and how I like you to work. Use my own words where you can, and leave nothing out. Answer with a single code block, one memory a line, each as:
[YYYY-MM-DD] - what you remember
The date is when you learned it; leave it out where you do not know it. No passwords or other secrets.`;

const conversationsLine = `Those are conversations, and I do not guess memories from them, so nothing was imported. Ask the assistant that you had them with:\n\`\`\`\n${requestToAssistants}\n\`\`\``;

const tooLongLine =
  'That file is too long: 256 KB of text at most. Nothing was imported; please split it up.';

const archiveLines = {
  missing: `There is neither \`${itemsFile}\` nor \`${memoriesFile}\` in that archive, so nothing was imported. Of an export in several parts, only the one with that file has items.`,
  'too-large': 'The items in that archive are larger than I can read, so nothing was imported.',
  damaged: 'That archive is damaged, or not an export that I know, so nothing was imported.',
} as const;

/** `undefined` where the text is neither JSON, nor JSON Lines, nor a table of values. */
function dataIn(text: string): object | undefined {
  const body = withoutFence(text).trim();
  if (/^[{["]/u.test(body))
    for (const documents of [[body], body.split('\n').filter((line) => line.trim() !== '')])
      try {
        return documents.map(parseJson);
      } catch {
        // The next form, then.
      }
  return body.length > listMaxBytes ? undefined : parseTable(body);
}

/** Values with commas, semicolons or tabs between them, as objects; `undefined` where no column is named as one of texts. */
function parseTable(text: string): readonly object[] | undefined {
  const [names = ''] = text.split('\n', 1);
  // Of one column alone, no sign parts the values.
  const delimiter = /[,;\t]/u.exec(names)?.[0] ?? Papa.RECORD_SEP;
  const { data } = Papa.parse<string[]>(withoutInvisible(text), { delimiter, skipEmptyLines: 'greedy' });
  const [head = [], ...rows] = data;
  const keys = head
    .slice(0, mostColumns)
    .map((name) => textNames.find((each) => each === name.trim().toLowerCase()) ?? name.trim());
  if (!keys.some((key) => textNames.some((name) => name === key))) return undefined;
  return rows.map((row, at) =>
    at < mostEntries ? Object.fromEntries(keys.map((key, index) => [key, row[index]])) : row,
  );
}

function isRecord(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** Other assistants' lists, whose texts need no name. */
const listNames = new Set(['memories', 'conversations_memory', 'project_memories', 'facts', 'results']);
/** What was said, and what assistants are told of themselves. */
const talkNames = new Set(['mapping', 'chat_messages', 'messages', 'tools', 'sources']);
/** An entry's text is under the first of these that it has. */
const textNames = ['memory', 'content', 'text', 'value', 'fact'] as const;
const createdNames = ['createdAt', 'created_at', 'create_time', 'created', 'date'] as const;
const updatedNames = ['updatedAt', 'updated_at', 'update_time', 'updated'] as const;

function isOurs(each: unknown): boolean {
  return isRecord(each) && 'visibility' in each;
}

/** As messages and blocks of memory say whose they are. */
const assistants = /^(?:assistant|system|tool|persona)$/iu;
const mostDepth = 3;

/** What data holds as entries of an export of ours, as deep as exports have it; `isList`: texts in it are memories. */
function entriesIn(data: unknown, origin: Origin, depth = 0, isList = true): readonly unknown[] {
  if (depth > mostDepth) return [];
  if (Array.isArray(data))
    return data.flatMap((each: unknown, index) =>
      index < mostEntries ? entriesIn(each, origin, depth + Number(Array.isArray(each)), isList) : [each],
    );
  if (typeof data === 'string') return isList ? linesIn(data, origin) : [];
  if (!isRecord(data) || isOurs(data)) return isList ? [data] : [];
  const whose = [data['role'], data['sender'], data['label']];
  if (whose.some((each) => typeof each === 'string' && assistants.test(each))) return [];
  const keys = Object.keys(data);
  const isTalk = keys.some((name) => talkNames.has(name));
  const names = isList ? [...textNames, 'title'] : textNames;
  const text = isTalk
    ? undefined
    : names.map((name) => data[name]).find((value) => typeof value === 'string');
  const times = { createdAt: timeIn(data, createdNames), updatedAt: timeIn(data, updatedNames) };
  if (text !== undefined) return linesIn(text, origin, data['kind'], times);
  const inner = keys.filter((name) => listNames.has(name) || typeof data[name] === 'object');
  if (inner.length === 0 && isList && !isTalk) return [data];
  return inner.flatMap((name) => {
    if (talkNames.has(name)) return [];
    // Claude has projects by their ids.
    const within = name === 'project_memories' ? Object.values(data[name] ?? {}) : data[name];
    return entriesIn(within, origin, depth + 1, listNames.has(name));
  });
}

/** ISO 8601, also from seconds or milliseconds since 1970. */
function timeIn(each: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const time = names.map((name) => each[name]).find((value) => value !== undefined && value !== null);
  if (typeof time !== 'number' && typeof time !== 'string') return undefined;
  const date = new Date(typeof time === 'number' && time < 1e11 ? time * 1000 : time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

interface Times {
  readonly createdAt: string | undefined;
  readonly updatedAt?: string | undefined;
}

function entryOf(
  text: string,
  kind: unknown,
  { createdAt, updatedAt }: Times,
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

/** Bullets, numbers, boxes and arrows before an item. */
const mark = /^(?:(?:#{1,6}|[-*+•‣◦▪▫●○·–—→➤✓✔☐☑✅>]|\(?\d{1,4}[.)]|\[[ xX]\])[^\S\n]+)+/u;
const isRule = /^\|[\s:|-]*$/u;
/** The kind or day of an item, such as `[2024-05-01] - `. */
const bracket = /^\[(?<named>[^[\]\n]{1,30})\](?:[^\S\n]*[-–—:](?=\s))?[^\S\n]*/u;
/** Headings, rules and fences are not items. */
const layout = /^(?:#{1,6}\s|```|~~~|[-*_=]{3,}$|\*{1,2}[^\s*][^*]*\*{1,2}:?$)/u;

/** The items that a text names, without what only gives it its form; `kindOf` and `times` where a line says nothing else. */
function linesIn(
  text: string,
  origin: Origin,
  kindOf?: unknown,
  times: Times = { createdAt: undefined },
): readonly unknown[] {
  const lines = withoutInvisible(text)
    .split('\n')
    .map((line) => line.trim());
  return lines.flatMap((line, index) => {
    // What stands above the rule of a table is its head.
    if (
      line === '' ||
      (lines.length > 1 && layout.test(line)) ||
      isRule.test(line) ||
      (line.startsWith('|') && isRule.test(lines[index + 1] ?? ''))
    )
      return [];
    const item = (line.startsWith('|') ? rowText(line) : line)
      .replace(mark, '')
      .replace(/^\*\*([^*]+)\*\*/u, '$1');
    const [whole = '', named = ''] = bracket.exec(item) ?? [];
    const kind = itemKinds.find((each) => each === named.toLowerCase());
    const createdAt = dayIn(named);
    const isNamed = kind !== undefined || createdAt !== undefined || /^(?:date )?unknown$/iu.test(named);
    const words = isNamed ? item.slice(whole.length) : item;
    if (words === '') return [];
    const at = createdAt === undefined ? times : { createdAt };
    return piecesOf(words).map((piece) => entryOf(piece, kind ?? kindOf, at, origin));
  });
}

function dayIn(text: string): string | undefined {
  return timeIn({ text: /^\d{4}-\d\d(?:-\d\d)?/u.exec(text)?.[0] }, ['text']);
}

const isName = (cell: string) =>
  dayIn(cell) !== undefined || itemKinds.some((kind) => kind === cell.toLowerCase());

/** A row of a table as a line: its kind and day first, without its number. */
function rowText(row: string): string {
  const cells = row.split('|').map((cell) => cell.trim());
  const kept = cells.filter((cell) => cell !== '' && !/^\d{1,4}[.)]?$/u.test(cell));
  const name = kept.length > 1 ? kept.find(isName) : undefined;
  const words = kept.filter((cell) => cell !== name).join(': ');
  return name === undefined ? words : `[${name}] ${words}`;
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

/** From a stranger: nothing else is unpacked, and never more than `maxBytes`. */
export async function unpackFile(
  archive: Buffer,
  isImported: (path: string) => boolean,
  maxBytes: number,
): Promise<Uint8Array | 'missing' | 'too-large' | 'damaged'> {
  try {
    const zip = await fromBufferPromise(archive);
    if (zip.entryCount > archiveMaxEntries) return 'too-large';
    for await (const entry of zip.eachEntry()) {
      if (!isImported(entry.fileName)) continue;
      if (entry.uncompressedSize > maxBytes) return 'too-large';
      // The stream fails as soon as there is more than that.
      return await buffer(await zip.openReadStreamPromise(entry));
    }
    return 'missing';
  } catch {
    return 'damaged';
  }
}
