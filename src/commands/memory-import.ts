import type { AttachedFile, CommandButton } from '../core/chat.ts';
import type { CommandReply } from '../core/commands.ts';
import { itemKinds, type DurableItem } from '../memory/durable/document.ts';
import type { ImportResult } from '../memory/durable/import-items.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, linesOf, listedItem, present } from './answer-lines.ts';
import { readImportFile, readImportList, type ImportFile } from './import-file.ts';
import { refusalToStore } from './memory-control.ts';
import type { Pending } from './memory-erase.ts';
import { readingPlace, type MemoryCall } from './memory-ports.ts';

/** A file that is handed in: as large as Discord takes one from anybody. */
const importMaxBytes = 10 * 1024 * 1024;
/** Items that are shown of what a file has, before it is stored. */
const mostShown = 20;
/** Characters that Discord takes into a form's field. */
const formMaxChars = 4000;

/** Asks another assistant for what it keeps, in the form that `readImportList` reads. */
const requestToAssistants = `List everything you remember about me, from your saved memories and from our conversations: facts, preferences, projects, constraints, people, tools, and how I like you to work. Use my own words where you can, and leave nothing out. Answer with a single code block, one memory a line, each as:
[YYYY-MM-DD] - what you remember
The date is when you learned it; leave it out where you do not know it. No passwords or other secrets.`;

/** Shows what a file would have the bot remember [K10]; without one, how to get it from another assistant. */
export async function previewImport(
  call: MemoryCall,
  file: AttachedFile | undefined,
  pending: Pending,
): Promise<CommandReply> {
  if (file === undefined) return howToImport();
  const refusal = await refusalToStore(call);
  if (refusal !== undefined) return refusal;
  const bytes =
    file.bytes === undefined
      ? await call.ports.readAttachment(file, call.speaker.id, importMaxBytes)
      : Buffer.from(file.bytes);
  if (bytes === 'too-large') return { text: 'That file is larger than 10 MB, so nothing was imported.' };
  if (bytes === 'unavailable')
    return { text: 'I could not fetch that file from Discord. Please try again in a minute.' };
  return showImport(call, await readImportFile(bytes, originOf(call)), pending);
}

/** The same for a list that was pasted; without one, the form for it. */
export async function previewList(call: MemoryCall, list: string, pending: Pending): Promise<CommandReply> {
  if (list === '') {
    const form = {
      title: 'Import',
      label: 'One item a line',
      value: '',
      maxChars: formMaxChars,
      line: pasteLine,
    };
    return { ...howToImport(), form };
  }
  return (await refusalToStore(call)) ?? showImport(call, readImportList(list, originOf(call)), pending);
}

const pasteLine = 'memory import-list';

function howToImport(): CommandReply {
  const pasting: CommandButton = {
    label: 'Paste the list',
    line: pasteLine,
    opensForm: true,
    takes: 'nothing',
  };
  return {
    text: `Ask ChatGPT, Claude or another assistant for what it knows about you:\n\`\`\`\n${requestToAssistants}\n\`\`\`\nThen paste its list here, or give it to \`/memory import\` as a file. I also read \`memories.json\` from an assistant's data export, and my own exports. I show you what I would remember, and store nothing before you say so.`,
    buttons: [pasting],
  };
}

function originOf({ id, place, at }: MemoryCall) {
  return { place, messageId: id, now: new Date(at) };
}

/** Nothing is stored yet. In a server only the asker sees it. */
async function showImport(call: MemoryCall, read: ImportFile, pending: Pending): Promise<CommandReply> {
  const { id, speaker, place, ephemeral, ports } = call;
  if (read.unusable !== undefined) return { text: read.unusable };
  const { added, known, refused } = await ports.durable.wouldRemember(speaker.id, read.items);
  const leftOut = [...read.leftOut, ...refusals(refused, ports.settings.itemMaxChars)];
  const counts = present(
    known > 0 && `${counted(known, 'item')} I know already.`,
    leftOut.length > 0 && `Left out: ${leftOut.join('; ')}.`,
  );
  if (added.length === 0) return { text: linesOf('There is nothing new in it.', counts) };

  const line = `memory import-accept ${pending.add(speaker.id, { imported: read.items })}`;
  const text = linesOf(
    `There ${added.length === 1 ? 'is' : 'are'} ${counted(added.length, 'new item')}${kindsOf(added)}:`,
    added.slice(0, mostShown).map((item) => listedItem(item, { ...call, view: readingPlace(place, true) })),
    added.length > mostShown && `… and ${added.length - mostShown} more.`,
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
      text: "That import has expired, or isn't yours. Please give it to `/memory import` again.",
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

/** How many of each kind, where there are several. */
function kindsOf(items: readonly DurableItem[]): string {
  const counts = itemKinds.flatMap((kind) => {
    const count = items.filter((item) => item.kind === kind).length;
    return count === 0 ? [] : [counted(count, kind, kind === 'person' ? 'people' : undefined)];
  });
  return counts.length < 2 ? '' : ` (${counts.join(', ')})`;
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
