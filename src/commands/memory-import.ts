import type { AttachedFile } from '../core/message.ts';
import { formTextMaxChars, type CommandReply } from '../core/commands.ts';
import { itemMaxChars, type DurableItem } from '../memory/durable/document.ts';
import type { ImportResult } from '../memory/durable/import-items.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, linesOf, listedItem, present } from './answer-lines.ts';
import { readImportFile, readImportText, requestToAssistants, type ImportFile } from './import-file.ts';
import { refusalToStore } from './memory-control.ts';
import type { Pending } from './memory-erase.ts';
import type { MemoryCall } from './memory-ports.ts';

/** A file that is handed in: as large as Discord takes one from anybody. */
const importMaxBytes = 10 * 1024 * 1024;
/** Items that are shown of what a file has, before it is stored. */
const mostShown = 20;

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
  if (file === undefined) return showImport(call, readImportText(list, originOf(call)), pending);
  const bytes =
    file.bytes === undefined
      ? await call.discord.readAttachment(file, call.speaker.id, importMaxBytes)
      : Buffer.from(file.bytes);
  if (bytes === 'too-large') return { text: 'That file is larger than 10 MB, so nothing was imported.' };
  if (bytes === 'unavailable')
    return { text: 'I could not fetch that file from Discord. Please try again in a minute.' };
  return showImport(call, await readImportFile(bytes, originOf(call)), pending);
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
async function showImport(call: MemoryCall, read: ImportFile, pending: Pending): Promise<CommandReply> {
  const { speaker, memory } = call;
  if (read.unusable !== undefined) return { text: read.unusable };
  const { added, known, refused } = await memory.durable.wouldRemember(speaker.id, read.items);
  const leftOut = [...read.leftOut, ...refusals(refused)];
  const counts = present(
    known > 0 && `${counted(known, 'item')} I know already.`,
    leftOut.length > 0 && `Left out: ${leftOut.join('; ')}.`,
  );
  if (added.length === 0) return { text: linesOf('There is nothing new in it.', counts) };

  const line = pending.add(speaker.id, (accepting) => storeImport(accepting, read.items));
  const text = linesOf(
    `There ${added.length === 1 ? 'is' : 'are'} ${counted(added.length, 'new item')}:`,
    added.slice(0, mostShown).map((item) => listedItem(item, call)),
    added.length > mostShown && `… and ${added.length - mostShown} more.`,
    counts,
    `Nothing is stored yet. Say \`!${line}\` within 10 minutes to store ${added.length === 1 ? 'it' : 'them'}.`,
  );
  return { text, buttons: [{ label: '✅ Store', line }, { label: 'Leave it' }] };
}

/** Stores what was shown, as one change. */
async function storeImport(call: MemoryCall, items: readonly DurableItem[]): Promise<CommandReply> {
  const refusal = await refusalToStore(call);
  if (refusal !== undefined) return refusal;
  const { added, refused, undoId } = await call.memory.durable.rememberAll(call.work, items);
  return {
    text: linesOf(
      `Imported ${counted(added.length, 'item')}. \`!memory show\` lists what I remember.`,
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
