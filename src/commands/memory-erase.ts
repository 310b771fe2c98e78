import { randomBytes } from 'node:crypto';

import type { CommandReply } from '../core/commands.ts';
import { lruCache } from '../core/limits.ts';
import { saysNothing, searchForm } from '../core/text.ts';
import { eraseButton } from '../memory/durable/notices.ts';
import { countHoldings, countSaying, type Holdings } from '../memory/holdings.ts';
import { brieflyQuoted, counted, linesOf, present } from './answer-lines.ts';
import type { MemoryCall } from './memory-ports.ts';

/** How long something waits for its person's word; milliseconds. */
const waitsForMs = 10 * 60_000;
/** What waits at the same time, of all people. */
const mostWaiting = 150;

/** What a person was shown, done at their word: by the call that says it. */
type Shown = (call: MemoryCall) => Promise<CommandReply>;

export type Pending = ReturnType<typeof createPending>;

/** What waits for a person's word, in memory alone. */
export function createPending() {
  const waiting = lruCache<string, { readonly userId: string; readonly done: Shown }>(mostWaiting, {
    maxAge: waitsForMs,
  });
  return {
    /** The command that does it, without `!`. */
    add(userId: string, done: Shown): string {
      const token = randomBytes(6).toString('hex');
      waiting.set(token, { userId, done });
      return `memory confirm ${token}`;
    },
    /** Once, and for its person alone. Rejects as it does. */
    async carryOut(call: MemoryCall, token: string): Promise<CommandReply> {
      const found = waiting.get(token);
      if (found?.userId !== call.speaker.id) return { text: expired };
      waiting.delete(token);
      return found.done(call);
    },
    /** Nothing waits for a person any more. */
    drop(userId: string): void {
      for (const [token, each] of Array.from(waiting)) if (each.userId === userId) waiting.delete(token);
    },
  };
}

const expired = "That has expired, or isn't yours. Nothing was done; please give the first command again.";

/** A question with the button that erases; nothing is erased yet [K11]. */
function question(text: readonly string[], label: string, line: string): CommandReply {
  return {
    text: linesOf(text, `-# Nothing is erased yet. Without buttons: \`!${line}\`, within 10 minutes.`),
    buttons: [{ label, line, isDanger: true }, { label: 'Keep it' }],
  };
}

const notYetErased =
  'I could not erase all of it yet, because of a disk error. I will finish when I start again; please tell the person who runs me.';

export async function askToErase({ speaker, memory }: MemoryCall, pending: Pending): Promise<CommandReply> {
  const held = await countHoldings(speaker.id, memory);
  return question(
    [
      `This erases everything that I hold about you: ${listed(held)}, and your settings. It cannot be undone; \`!memory export\` sends you a copy first.`,
      'What is on Discord stays there; only you can delete your messages. I will never again use anything said before now.',
    ],
    'Erase everything',
    pending.add(speaker.id, (call) => {
      pending.drop(speaker.id);
      return eraseEverything(call, held);
    }),
  );
}

function listed({ items, messages, notes, servers }: Holdings): string {
  return `${counted(items, 'item')}, ${counted(messages, 'message')} (including my answers), ${counted(notes, 'note')}, from our direct messages and ${counted(servers, 'server')}`;
}

/** Erases everything that is held about the asker, who was shown what that is. */
async function eraseEverything(
  { speaker, place, at, memory }: MemoryCall,
  held: Holdings,
): Promise<CommandReply> {
  const isDone = (await memory.changes.erase(speaker.id, at)).size === 0;
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
export async function eraseOwnMessages({ id, place, discord }: MemoryCall): Promise<CommandReply> {
  if (place.audience !== 'dm') return { text: 'I do that in our DM only: say `!memory erase-dm` there.' };
  const { deleted, isAll } = await discord.deleteOwn(place.channelId, id);
  return {
    isFarewell: true,
    text: `Deleted ${counted(deleted, 'message')} of mine here.${isAll ? '' : ' There are more: say `!memory erase-dm` for the next ones.'}`,
  };
}

/** Counts what says some words, with the button that erases it. */
export async function askToPurge(
  { speaker, memory }: MemoryCall,
  words: string,
  pending: Pending,
): Promise<CommandReply> {
  if (searchForm(words) === '') return { text: 'Please say what: `!memory purge <words>`.' };
  const { items, messages, notes } = await countSaying(speaker.id, words, memory);
  // They may mean all of it [K4].
  const all = saysNothing(words) ? [eraseButton] : [];
  const pointer = all.length > 0 && '`!memory erase` erases everything that I hold about you, after asking.';
  if (items + messages + notes === 0)
    return {
      text: linesOf(`Nothing that I hold about you says ${brieflyQuoted(words)}`, pointer),
      buttons: all,
    };
  const found = `${counted(items, 'item')}, ${counted(messages, 'message')}, ${counted(notes, 'note')} (including summaries)`;
  const reply = question(
    [
      ...present(pointer),
      `This erases what says ${brieflyQuoted(words)} in all our conversations: ${found}. Answers to these messages go too, and summaries are rewritten without it. It cannot be undone, nor can your earlier changes be then.`,
    ],
    'Erase it',
    pending.add(speaker.id, (call) => purgeWords(call, words)),
  );
  return { ...reply, buttons: [...(reply.buttons ?? []), ...all] };
}

/** Erases what says the words. */
async function purgeWords({ id, speaker, memory }: MemoryCall, words: string): Promise<CommandReply> {
  const { failures, messages } = await memory.changes.purge({ userId: speaker.id, words, commandId: id });
  return {
    text:
      failures.size === 0
        ? `Erased: everything that says ${brieflyQuoted(words)}, with ${counted(messages, 'message')} (including my answers). They are still on Discord; I no longer use or find them.`
        : notYetErased,
  };
}
