import { isDeepStrictEqual } from 'node:util';

import type { ChatMessage } from '../core/chat.ts';
import { flatten } from '../core/text.ts';
import { attachmentNote, label, quoted, visible } from './quoted.ts';

/** A message as history shows it. Its text keeps its bytes for as long as the window holds it [P2]. */
export interface HistoryEntry {
  readonly role: 'user' | 'assistant';
  /** Ends in a line break. */
  readonly text: string;
  /** What was rendered, to notice edits by. */
  readonly message: ChatMessage;
}

/** The earlier messages that a session's prompt shows, oldest first. Lives as long as the conversation is running. */
export interface HistoryWindow {
  readonly entries: readonly HistoryEntry[];
}

export interface NextWindow {
  readonly window: HistoryWindow;
  /** The former window's bytes are gone, so a snapshot before it may be renewed at no cost [P2]. */
  readonly wasRebuilt: boolean;
}

/** Messages that a rebuilt window begins with, at most. */
const rebuiltMessages = 10;
/** A running window's most messages. Whoever fetches `messages` for it should ask for as many at least. */
export const windowMessages = 20;
/** Characters below which a cut message says nothing worth its place. */
const shortestCut = 60;

/**
 * The window for the next turn [H1]. `messages` are those before the current ones, oldest first; `budget` is in characters of
 * the rendered lines, author names included, and never exceeded. A running window only grows at its end; a message
 * handled late is appended where it came in. It is rebuilt, to half the budget, when the next message does not fit,
 * when it is full, or when one of its messages was edited or deleted meanwhile.
 */
export function nextWindow(
  previous: HistoryWindow | undefined,
  messages: readonly ChatMessage[],
  budget: number,
): NextWindow {
  if (previous === undefined || previous.entries.length === 0) {
    return { window: { entries: rebuild(messages, budget) }, wasRebuilt: previous === undefined };
  }
  const entries = extend(previous.entries, messages, budget);
  return entries === undefined
    ? { window: { entries: rebuild(messages, Math.floor(budget / 2)) }, wasRebuilt: true }
    : { window: { entries }, wasRebuilt: false };
}

/** From the newest back, as far as the budget reaches; oldest first. */
function rebuild(messages: readonly ChatMessage[], budget: number): readonly HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  let left = budget;
  let hasPerson = false;
  for (const message of messages.toReversed()) {
    if (entries.length === rebuiltMessages) break;
    const whole = historyEntry(message);
    if (whole === undefined) continue;
    const isPerson = message.author.kind === 'human';
    // A bot's message takes at most two thirds of what is left, so that what it answered finds room beside it.
    const room = isPerson ? left : Math.floor((left * 2) / 3);
    // Of people's messages only the newest is cut; the others come whole or not at all.
    const mayBeCut = isPerson ? !hasPerson : room >= shortestCut || entries.length === 0;
    const cut = mayBeCut ? historyEntry(message, room) : undefined;
    const entry = whole.text.length <= room ? whole : cut;
    if (entry === undefined) break;
    entries.push(entry);
    left -= entry.text.length;
    hasPerson ||= isPerson;
  }
  return entries.toReversed();
}

/** The entries with the newer messages after them, or `undefined` where the window cannot stay as it is. */
function extend(
  entries: readonly HistoryEntry[],
  messages: readonly ChatMessage[],
  budget: number,
): readonly HistoryEntry[] | undefined {
  const present = new Map(messages.map((message) => [message.id, message]));
  if (!entries.every((entry) => saysTheSame(entry.message, present.get(entry.message.id)))) return undefined;

  const shown = new Set(entries.map((entry) => entry.message.id));
  const oldest = messages.findIndex((message) => shown.has(message.id));
  const added = messages
    .slice(oldest + 1)
    .filter((message) => !shown.has(message.id))
    .flatMap((message) => historyEntry(message) ?? []);
  const extended = [...entries, ...added];
  const used = extended.reduce((sum, entry) => sum + entry.text.length, 0);
  return extended.length > windowMessages || used > budget ? undefined : extended;
}

function saysTheSame(before: ChatMessage, now: ChatMessage | undefined): boolean {
  return (
    now !== undefined && now.text === before.text && isDeepStrictEqual(now.attachments, before.attachments)
  );
}

/**
 * People and other bots give one line, `Alice: text` or `Dyno (bot): text`, with attachments named; this bot's own words
 * stay as it wrote them, invisible characters aside [H2]. `max` bounds the whole, name and line break included. `undefined` when
 * nothing would be said.
 */
export function historyEntry(message: ChatMessage, max = Number.POSITIVE_INFINITY): HistoryEntry | undefined {
  const isOwn = message.author.kind === 'self';
  const words = isOwn ? visible(message.text) : flatten(message.text);
  const said = [words, attachmentNote(message.attachments)].filter((part) => part !== '').join(' ');
  const prefix = isOwn ? '' : `${authorLabel(message)}: `;
  const text = quoted(said, max - prefix.length - 1);
  if (text === '') return undefined;
  return { role: isOwn ? 'assistant' : 'user', text: `${prefix}${text}\n`, message };
}

function authorLabel(message: ChatMessage): string {
  const name = label(message.author.name);
  return message.author.kind === 'bot' ? `${name} (bot)` : name;
}
