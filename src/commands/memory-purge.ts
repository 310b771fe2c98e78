import type { CommandContext, CommandReply } from '../core/commands.ts';
import { searchForm } from '../core/text.ts';
import type { Saying } from '../memory/holdings.ts';
import { brieflyQuoted, counted } from './answer-lines.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';
import type { Pending } from './pending.ts';

/** Characters of the words at least: a single one stands everywhere. */
const wordsMinChars = 2;

/** The words of which their person was told what says them. */
export type PendingPurges = Pending<string>;

/** Counts what says some words, with the button that erases it [K11]; nothing is erased yet. */
export async function askToPurge(
  { speaker }: CommandContext,
  words: string,
  { saying }: Pick<MemoryCommandPorts, 'saying'>,
  pending: PendingPurges,
): Promise<CommandReply> {
  if (searchForm(words).length < wordsMinChars)
    return { text: `Please say at least ${wordsMinChars} characters: \`!memory purge <words>\`.` };
  const found = await saying(speaker.id, words);
  if (found.items + found.messages + found.notes === 0)
    return { text: `Nothing that I hold about you says ${brieflyQuoted(words)}` };
  const line = `memory purge-confirmed ${pending.add(speaker.id, words)}`;
  return {
    text: [
      `This erases what says ${brieflyQuoted(words)} in all our conversations: ${listed(found)}. Answers to these messages go too, and summaries are rewritten without it. It cannot be undone, nor can your earlier changes be then.`,
      `-# Nothing is erased yet. Without buttons: \`!${line}\`, within 10 minutes.`,
    ].join('\n'),
    buttons: [{ label: 'Erase it', line, isDanger: true }, { label: 'Keep it' }],
  };
}

function listed({ items, messages, notes }: Saying): string {
  return `${counted(items, 'item')}, ${counted(messages, 'message')}, ${counted(notes, 'note')} (including summaries)`;
}

/** Erases what says the words that the asker was told of. */
export async function purgeWords(
  { id, speaker }: CommandContext,
  token: string,
  { purge }: Pick<MemoryCommandPorts, 'purge'>,
  pending: PendingPurges,
): Promise<CommandReply> {
  const words = pending.take(speaker.id, token);
  if (words === undefined)
    return {
      text: "That has expired, or isn't yours. Please say `!memory purge` again. Nothing was erased.",
    };
  const { messages, isDone } = await purge(speaker.id, words, id);
  return {
    text: isDone
      ? `Erased: everything that says ${brieflyQuoted(words)}, with ${counted(messages, 'message')} (including my answers). They are still on Discord; I no longer use or find them.`
      : 'I could not erase all of it yet, because of a disk error. I will finish when I start again; please tell the person who runs me.',
  };
}
