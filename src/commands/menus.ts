import type { CommandReply, MenuRequest } from '../core/commands.ts';
import { withoutMentionMarks } from '../core/own-words.ts';
import { sessionOf } from '../core/turn-context.ts';
import { readFailure, writeFailure } from './answer-lines.ts';
import type { MenuEntry } from './commands.ts';
import { rememberText } from './memory-items.ts';
import { memoryCall, type MemoryCall, type MemoryCommandPorts } from './memory-ports.ts';
import { searchMemory } from './memory-show.ts';
import { whyMessage } from './memory-why.ts';

/** The entries in the menu of every message, as Discord is to know them. */
export const menuNames = ['Remember this', 'What do you know about this?', 'Why this answer?'] as const;

/** What the menu of every message offers. */
export function createMenuEntries(ports: MemoryCommandPorts): readonly MenuEntry[] {
  const [remember, know, why] = menuNames;
  return [
    {
      name: remember,
      answer: (request) => rememberMessage(memoryCall(request, ports)),
      explain: writeFailure,
    },
    { name: know, answer: (request) => searchMessage(memoryCall(request, ports)), explain: readFailure },
    { name: why, answer: (request) => whyMessage(memoryCall(request, ports)), explain: readFailure },
  ];
}

/** Remembers a message as its owner's word: one that the asker wrote, or one that the bot answered them with. */
async function rememberMessage(call: MenuRequest & MemoryCall): Promise<CommandReply> {
  const { message, ports } = call;
  if (!ports.settings.durableEnabled) return { text: 'Durable memory is switched off on this bot.' };
  const refusal = await refusalOf(call);
  if (refusal !== undefined) return { text: refusal };
  const text = withoutMentionMarks(message.text).trim();
  if (text === '') return { text: 'There is no text in this message that I could remember.' };
  return rememberText({ ...call, id: message.id }, text);
}

/** What the asker's own memory has on the words of anybody's message, without the message itself. */
async function searchMessage(call: MenuRequest & MemoryCall): Promise<CommandReply> {
  const query = withoutMentionMarks(call.message.text).trim();
  if (query === '') return { text: 'There is no text in this message that I could search for.' };
  return searchMemory(call, query, [call.message.id]);
}

async function refusalOf(call: MenuRequest & MemoryCall): Promise<string | undefined> {
  const { message, speaker, ports } = call;
  const { kind, id } = message.author;
  if (kind === 'bot' || (kind === 'human' && id !== speaker.id)) return othersMessage;
  if (await ports.isHidden(message.channelId, message.id)) return noMessage;
  const isOthers = kind === 'self' && (await ports.logged(sessionOf(call), message.id)) === undefined;
  return isOthers ? othersAnswer : undefined;
}

const othersMessage =
  'I remember only what you said yourself or what I answered you, not what others wrote. Nothing was saved; use `/memory remember` to save it in your own words.';
const othersAnswer =
  "This is not one of my answers to you, so I won't remember it for you. Nothing was saved; use `/memory remember` to save it in your own words.";
const noMessage =
  'This is a command, an answer to one, or one of my notices, and I do not remember those. Nothing was saved; use `/memory remember` to save something in your own words.';
