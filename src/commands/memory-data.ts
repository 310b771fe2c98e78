import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

import { ZipFile } from 'yazl';

import type { CommandReply } from '../core/commands.ts';
import { lruCache } from '../core/limits.ts';
import type { OutgoingFile } from '../core/reply.ts';
import { chunk, saysNothing, searchForm } from '../core/text.ts';
import { eraseButton } from '../memory/durable/notices.ts';
import { countHoldings, countSaying, type Holdings } from '../memory/holdings.ts';
import type { ExportedFile } from '../memory/layer.ts';
import { counted, brieflyQuoted, linesOf, present } from './answer-lines.ts';
import type { MemoryCall } from './memory-ports.ts';

/** Bytes of each file in an archive besides its content and paths, with room to spare; how far it can be packed is not reckoned with. */
const entryBytes = 200;
/** What Discord takes as one file of a bot, less what an archive may be larger than was reckoned; bytes. */
const partMaxBytes = 10 * 1024 * 1024 - 64 * 1024;

/** By DM [K10], or, where that is closed, with an answer that only the asker sees. */
export async function exportMemory(call: MemoryCall): Promise<CommandReply> {
  const { id, speaker, ephemeral, takesFiles, at, memory, discord } = call;
  const files = await archivesOf(memory.layers, speaker.id, at);
  const whole = 'everything that I hold about you; `README.md` in it says what is where';
  if (takesFiles === true) return { text: `Here is ${whole}.`, files };
  const messages = files.map((file, index) => ({
    text:
      files.length === 1
        ? `📦 Here is ${whole}.`
        : `📦 Here is ${whole}: part ${index + 1} of ${files.length}.`,
    files: [file],
  }));
  if ((await discord.sendDirect(speaker.id, messages, id)) === 'sent')
    return { text: 'I have sent you everything that I hold about you as a direct message.' };
  if (ephemeral) return { text: `Here is ${whole}. I could not send it as a direct message.`, files };
  return {
    text: 'I could not send you a direct message. Please use `/memory export`: only you see its answer, and the file with it.',
  };
}

/** All that is held about a person at a moment, ISO 8601, as one archive or several. */
export async function archivesOf(
  layers: MemoryCall['memory']['layers'],
  userId: string,
  at: string,
  maxBytes = partMaxBytes,
): Promise<readonly OutgoingFile[]> {
  const found: ExportedFile[] = [];
  for (const layer of layers) for await (const file of layer.export(userId)) found.push(file);
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  const parts = partsOf(found, maxBytes - Buffer.byteLength(readme(found, at, '')));
  const archives: OutgoingFile[] = [];
  for (const [index, files] of parts.entries()) {
    const [number, count] = [index + 1, parts.length];
    const text = readme(
      files,
      at,
      count === 1 ? '' : `\nThis is part ${number} of ${count}; each is an archive of its own.\n`,
    );
    const zip = new ZipFile();
    for (const file of [{ path: 'README.md', text }, ...files])
      zip.addBuffer(Buffer.from(file.text), file.path, { mtime: new Date(at) });
    zip.end();
    const part = count === 1 ? '' : `-part-${number}-of-${count}`;
    archives.push({
      name: `discoclaw-memory-${at.slice(0, 10)}${part}.zip`,
      bytes: await buffer(zip.outputStream),
    });
  }
  return archives;
}

/** In order; a file that is too large gets an archive of its own. */
function partsOf(files: readonly ExportedFile[], maxBytes: number) {
  const sizeOf = ({ path, text }: ExportedFile): number =>
    Buffer.byteLength(text) + 2 * Buffer.byteLength(path) + entryBytes;
  const parts = chunk(files, sizeOf, maxBytes - entryBytes);
  return parts.length === 0 ? [[]] : parts;
}

/** What is in an archive, for its owner. */
function readme(files: readonly ExportedFile[], at: string, part: string): string {
  const list = files.map(({ path, text }) => `- \`${path}\` (${counted(Buffer.byteLength(text), 'byte')})`);
  return `# What Discoclaw holds about you

Made on ${at} by \`!memory export\`, from all that it stores about you at that moment.
${part}
## What is where

- \`items.json\`: what it remembers of you: each item with its id, kind, text, where it may be used (\`everywhere\`, \`server\`, \`here\`, \`dm\`), where it comes from and since when; corrected ones too, and with the status \`proposed\` what it asked you about and you have not answered.
  \`!memory import\` takes this archive, or this file, back.
- \`forgotten.json\`: of items that you had forgotten or that made way, hashes without any words, so that they do not come back.
- \`forgotten/\`: what you had forgotten in the last ten minutes and can still undo, with the moment at which it goes; nothing else in here has it.
- \`reminders.json\`: what you are to be reminded of, and when; \`!memory import\` takes from it what is still to come.
- \`settings.json\`: what you chose with \`!memory mode\`, \`pause\` and \`notices\`, and when you erased everything, if you did.
- \`cost.json\`: what your answers, and the notes made of them, have cost today at most, where a limit on that is set.
- \`notebook/\`: the notes that it keeps for you, as you may edit them; in \`.former/\` what they said before it looked back, for thirty days.
- \`short-term/\`: your recent exchanges in public channels, a file a server.
- \`conversations/<channel id>/\`: of each conversation with it \`messages.json\`, what you and it said; \`state.json\`, where it was and how far it was worked through;
  \`summary.md\`, \`overview.md\` and \`detail/\`, what it noted of it. Of files that you attached it keeps the names only.

## In this archive

${list.length === 0 ? 'Nothing: it holds nothing about you.' : list.join('\n')}
`;
}

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
  const found = `${counted(items, 'item')}, ${counted(messages, 'message')}, ${counted(notes, 'note')} (including summaries and reminders)`;
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
