import type { CommandReply, MenuRequest } from '../core/commands.ts';
import { withoutMentionMarks } from '../core/own-words.ts';
import { sessionOf } from '../core/turn-context.ts';
import { readFailure, writeFailure } from './answer-lines.ts';
import type { MenuEntry } from './commands.ts';
import { rememberText } from './memory-items.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';
import { searchMemory } from './memory-search.ts';
import { whyMessage } from './memory-why.ts';

/** The entries in the menu of every message, as Discord is to know them. */
export const menuNames = ['Remember this', 'What do you know about this?', 'Why this answer?'] as const;

/** What the menu of every message offers. */
export function createMenuEntries(ports: MemoryCommandPorts): readonly MenuEntry[] {
  const [remember, know, why] = menuNames;
  return [
    {
      name: remember,
      answer: (request) => rememberMessage(request, ports),
      explain: writeFailure,
    },
    {
      name: know,
      answer: (request) => searchMessage(request, ports),
      explain: readFailure,
    },
    {
      name: why,
      answer: (request) => whyMessage(request, ports),
      explain: readFailure,
    },
  ];
}

/** Remembers a message as its owner's word: one that the asker wrote, or one that the bot answered them with. */
async function rememberMessage(request: MenuRequest, ports: MemoryCommandPorts): Promise<CommandReply> {
  if (!ports.settings.durableEnabled) return { text: 'Durable memory is switched off on this bot.' };
  const { message } = request;
  const refusal = await refusalOf(request, ports);
  if (refusal !== undefined) return { text: refusal };
  const text = withoutMentionMarks(message.text).trim();
  if (text === '') return { text: 'There is no text in this message that I could remember.' };
  return rememberText({ ...request, id: message.id }, text, ports);
}

/** What the asker's own memory has on the words of anybody's message, without the message itself. */
async function searchMessage(request: MenuRequest, ports: MemoryCommandPorts): Promise<CommandReply> {
  const query = withoutMentionMarks(request.message.text).trim();
  if (query === '') return { text: 'There is no text in this message that I could search for.' };
  return searchMemory(request, query, ports, [request.message.id]);
}

async function refusalOf(
  request: MenuRequest,
  { logged, isHidden }: MemoryCommandPorts,
): Promise<string | undefined> {
  const { message, speaker } = request;
  const { kind, id } = message.author;
  if (kind === 'human' && id !== speaker.id) return othersMessage;
  if (kind === 'bot') return othersMessage;
  if (await isHidden(message.channelId, message.id)) return noMessage;
  if (kind === 'self' && (await logged(sessionOf(request), message.id)) === undefined) return othersAnswer;
  return undefined;
}

const othersMessage =
  'I remember only what you said yourself or what I answered you, not what others wrote. Nothing was saved; use `/memory remember` to save it in your own words.';
const othersAnswer =
  "This is not one of my answers to you, so I won't remember it for you. Nothing was saved; use `/memory remember` to save it in your own words.";
const noMessage =
  'This is a command, an answer to one, or one of my notices, and I do not remember those. Nothing was saved; use `/memory remember` to save something in your own words.';
