import { randomBytes } from 'node:crypto';

import type { CommandReply } from '../core/commands.ts';
import { lruCache } from '../core/limits.ts';
import { searchForm } from '../core/text.ts';
import type { DurableItem } from '../memory/durable/document.ts';
import type { Holdings } from '../memory/holdings.ts';
import { brieflyQuoted, counted, linesOf } from './answer-lines.ts';
import type { MemoryCall } from './memory-ports.ts';

/** How long something waits for its person's word; milliseconds. */
const waitsForMs = 10 * 60_000;
/** What waits at the same time, of all people. */
const mostWaiting = 150;
/** Characters of the words at least: a single one stands everywhere. */
const wordsMinChars = 2;

/** What a person was shown before it is done: one of these. */
interface Shown {
  readonly imported?: readonly DurableItem[];
  readonly held?: Holdings;
  readonly words?: string;
}

export type Pending = ReturnType<typeof createPending>;

/** What waits for a person's word, in memory alone. */
export function createPending() {
  const waiting = lruCache<string, Shown & { readonly userId: string }>(mostWaiting, { maxAge: waitsForMs });
  return {
    /** The token by which it is done. */
    add(userId: string, shown: Shown): string {
      const token = randomBytes(6).toString('hex');
      waiting.set(token, { userId, ...shown });
      return token;
    },
    /** Once, and for its person alone. */
    take(userId: string, token: string): Shown | undefined {
      const found = waiting.get(token);
      if (found?.userId !== userId) return undefined;
      waiting.delete(token);
      return found;
    },
    /** Nothing waits for a person any more. */
    drop(userId: string): void {
      for (const [token, each] of waiting.entries()) if (each.userId === userId) waiting.delete(token);
    },
  };
}

/** A question with the button that erases; nothing is erased yet [K11]. */
function question(text: readonly string[], label: string, line: string): CommandReply {
  return {
    text: linesOf(text, `-# Nothing is erased yet. Without buttons: \`!${line}\`, within 10 minutes.`),
    buttons: [{ label, line, isDanger: true }, { label: 'Keep it' }],
  };
}

function hasExpired(command: string): CommandReply {
  return {
    text: `That has expired, or isn't yours. Please say \`!memory ${command}\` again. Nothing was erased.`,
  };
}

const notYetErased =
  'I could not erase all of it yet, because of a disk error. I will finish when I start again; please tell the person who runs me.';

export async function askToErase({ speaker, ports }: MemoryCall, pending: Pending): Promise<CommandReply> {
  const held = await ports.holdings(speaker.id);
  return question(
    [
      `This erases everything that I hold about you: ${listed(held)}, and your settings. It cannot be undone; \`!memory export\` sends you a copy first.`,
      'What is on Discord stays there; only you can delete your messages. I will never again use anything said before now.',
    ],
    'Erase everything',
    `memory erase-confirmed ${pending.add(speaker.id, { held })}`,
  );
}

function listed({ items, messages, notes, servers }: Holdings): string {
  return `${counted(items, 'item')}, ${counted(messages, 'message')} (including my answers), ${counted(notes, 'note')}, from our direct messages and ${counted(servers, 'server')}`;
}

/** Erases everything that is held about the asker, if they were shown what that is. */
export async function eraseEverything(
  { speaker, place, at, ports }: MemoryCall,
  token: string,
  pending: Pending,
): Promise<CommandReply> {
  const held = pending.take(speaker.id, token)?.held;
  if (held === undefined) return hasExpired('erase');
  pending.drop(speaker.id);
  const { isDone } = await ports.erase(speaker.id, at);
  const isDm = place.audience === 'dm';
  return {
    text: linesOf(
      isDone
        ? `Erased: everything that I held about you, ${listed(held)}, and your settings. It cannot be undone.`
        : notYetErased,
      'Only the time of this stays, so that I never use older messages again.',
      speaker.isOwner && 'Your notes in the `workspace` folder are your own files: I left them alone.',
      isDm
        ? 'My own messages are still here on Discord. Shall I delete them?'
        : '`!memory erase-dm` in our DM deletes my own messages there.',
    ),
    buttons: isDm
      ? [{ label: 'Delete my messages here', line: 'memory erase-dm', isDanger: true }, { label: 'No' }]
      : [],
  };
}

/** Deletes the bot's own messages in the asker's DM. */
export async function eraseOwnMessages({ id, place, ports }: MemoryCall): Promise<CommandReply> {
  if (place.audience !== 'dm') return { text: 'I do that in our DM only: say `!memory erase-dm` there.' };
  const { deleted, isAll } = await ports.deleteOwnMessages(place.channelId, id);
  return {
    text: `Deleted ${counted(deleted, 'message')} of mine here.${isAll ? '' : ' There are more: say `!memory erase-dm` for the next ones.'}`,
  };
}

/** Counts what says some words, with the button that erases it. */
export async function askToPurge(
  { speaker, ports }: MemoryCall,
  words: string,
  pending: Pending,
): Promise<CommandReply> {
  if (searchForm(words).length < wordsMinChars)
    return { text: `Please say at least ${wordsMinChars} characters: \`!memory purge <words>\`.` };
  const { items, messages, notes } = await ports.saying(speaker.id, words);
  if (items + messages + notes === 0)
    return { text: `Nothing that I hold about you says ${brieflyQuoted(words)}` };
  const found = `${counted(items, 'item')}, ${counted(messages, 'message')}, ${counted(notes, 'note')} (including summaries)`;
  return question(
    [
      `This erases what says ${brieflyQuoted(words)} in all our conversations: ${found}. Answers to these messages go too, and summaries are rewritten without it. It cannot be undone, nor can your earlier changes be then.`,
    ],
    'Erase it',
    `memory purge-confirmed ${pending.add(speaker.id, { words })}`,
  );
}

/** Erases what says the words that the asker was shown. */
export async function purgeWords(
  { id, speaker, ports }: MemoryCall,
  token: string,
  pending: Pending,
): Promise<CommandReply> {
  const words = pending.take(speaker.id, token)?.words;
  if (words === undefined) return hasExpired('purge');
  const { messages, isDone } = await ports.purge(speaker.id, words, id);
  return {
    text: isDone
      ? `Erased: everything that says ${brieflyQuoted(words)}, with ${counted(messages, 'message')} (including my answers). They are still on Discord; I no longer use or find them.`
      : notYetErased,
  };
}
