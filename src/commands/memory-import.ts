import type { AttachedFile } from '../core/chat.ts';
import type { CommandContext, CommandReply } from '../core/commands.ts';
import type { DurableItem } from '../memory/durable/document.ts';
import type { ImportRefusal, ImportResult } from '../memory/durable/import-items.ts';
import { undoButton } from '../memory/undo.ts';
import { counted, listedItem, readingPlace } from './answer-lines.ts';
import { importMaxBytes, readImportFile } from './import-file.ts';
import { refusalToStore } from './memory-control.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';
import type { Pending } from './pending.ts';

/** What was shown and not stored yet. */
export type PendingImports = Pending<readonly DurableItem[]>;

/** Shows what a file would have the bot remember [K10]; nothing is stored yet. In a server it is shown where only the asker sees it. */
export async function previewImport(
  context: CommandContext,
  file: AttachedFile,
  ports: MemoryCommandPorts,
  pending: PendingImports,
): Promise<CommandReply> {
  const { id, speaker, place, ephemeral, at } = context;
  const refusal = await refusalToStore(context, ports);
  if (refusal !== undefined) return refusal;
  const bytes = await ports.readAttachment(file, speaker.id, importMaxBytes);
  if (bytes === 'too-large') return { text: 'That file is larger than 10 MB, so nothing was imported.' };
  if (bytes === 'unavailable')
    return { text: 'I could not fetch that file from Discord. Please try again in a minute.' };
  const read = await readImportFile(bytes, { place, messageId: id, now: new Date(at) });
  if (read.kind === 'unusable') return { text: read.line };
  const result = await ports.durable.wouldRemember(speaker.id, read.items);
  const leftOut = [...read.leftOut, ...refusals(result.refused, ports.settings.itemMaxChars)];
  if (result.added.length === 0)
    return { text: ['There is nothing new in that file.', ...countLines(result, leftOut)].join('\n') };

  const token = pending.add(speaker.id, read.items);
  const view = readingPlace({ place, ephemeral: true });
  const text = [
    `That file has ${counted(result.added.length, 'new item')}:`,
    ...result.added.map((item) => listedItem(item, view)),
    ...countLines(result, leftOut),
    `Nothing is stored yet. Say \`!memory import-accept ${token}\` within 10 minutes to store ${result.added.length === 1 ? 'it' : 'them'}.`,
  ].join('\n');
  const line = `memory import-accept ${token}`;
  const buttons = [{ label: '✅ Store', line }, { label: 'Leave it' }];
  if (ephemeral || place.audience === 'dm') return { text, buttons };
  const sent = await ports.sendDirect(speaker.id, [{ text }], id);
  return {
    text:
      sent === 'sent'
        ? 'I have sent you the list as a direct message. Nothing is stored until you accept it there.'
        : 'I show such a list to you alone, and could not send you a direct message. Please use `/memory import` with the file.',
  };
}

/** Stores what was shown, as one change. */
export async function acceptImport(
  context: CommandContext,
  token: string,
  ports: Pick<MemoryCommandPorts, 'durable' | 'isMemoryOff' | 'people'>,
  pending: PendingImports,
): Promise<CommandReply> {
  const refusal = await refusalToStore(context, ports);
  if (refusal !== undefined) return refusal;
  const { id: userId } = context.speaker;
  const items = pending.take(userId, token);
  if (items === undefined)
    return {
      text: "That import has expired, or isn't yours. Please give the file to `/memory import` again.",
    };
  const { added, refused, undoId } = await ports.durable.rememberAll(userId, items);
  const lines = [
    `Imported ${counted(added.length, 'item')}. \`!memory show\` lists what I remember.`,
    ...(refused.full === 0 ? [] : [`${counted(refused.full, 'item')} did not fit any more.`]),
  ];
  return { text: lines.join('\n'), buttons: undoButton(undoId) };
}

function countLines({ known }: ImportResult, leftOut: readonly string[]): readonly string[] {
  return [
    ...(known === 0 ? [] : [`${counted(known, 'item')} I know already.`]),
    ...(leftOut.length === 0 ? [] : [`Left out: ${leftOut.join('; ')}.`]),
  ];
}

function refusals(refused: ImportResult['refused'], itemMaxChars: number): readonly string[] {
  const reasons: Readonly<Record<ImportRefusal, string>> = {
    empty: 'without any text',
    'too-long': `over ${itemMaxChars} characters`,
    secret: 'that looks like a password, key or card number',
    full: 'for which there is no room',
  };
  return (['empty', 'too-long', 'secret', 'full'] as const).flatMap((reason) =>
    refused[reason] === 0 ? [] : [`${counted(refused[reason], 'item')} ${reasons[reason]}`],
  );
}
