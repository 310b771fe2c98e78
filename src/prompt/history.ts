import { isDeepStrictEqual } from 'node:util';

import type { ChatMessage } from '../core/chat.ts';
import { toSingleLine, lookalike, withoutInvisible } from '../core/text.ts';
import { localMoment } from '../core/time.ts';
import { enclosureNote, label, quoted } from './quoted.ts';

/** Its text keeps its bytes while the window holds it [P2]. */
export interface HistoryEntry {
  readonly role: 'user' | 'assistant';
  /** Ends in a line break. */
  readonly text: string;
  /** Local date and time, as `localMoment` tells them. */
  readonly when: string;
  /** To notice edits. */
  readonly message: ChatMessage;
}

/** The earlier messages in a session's prompt, oldest first. */
export interface HistoryWindow {
  readonly entries: readonly HistoryEntry[];
  readonly names: Names;
  /** Ids of the messages of its own turn, which are history for the next. */
  readonly asked: readonly string[];
  /**
   * The message up to which the next window will probably begin the same; `undefined` where it will be
   * rebuilt.
   */
  readonly stableUpTo: string | undefined;
}

/** Whose turn a window is for, and the name that nobody else bears. */
export interface WindowTurn {
  readonly speaker?: ChatMessage['author'];
  readonly messageIds: readonly string[];
  readonly messageChars?: number;
  readonly botName?: string;
  /** IANA, for dates of lines [H3]. Default: UTC. */
  readonly timeZone?: string;
}

export interface NextWindow {
  readonly window: HistoryWindow;
  /** What the speaker, or a quoted author, is called in this turn. */
  readonly nameOf: (author: ChatMessage['author']) => string;
  /** The former window's bytes are gone, so renewing a snapshot before it costs nothing [P2]. */
  readonly wasRebuilt: boolean;
}

/** At the beginning of a rebuilt window. */
const rebuiltMessages = 10;
/** A window's most messages; fetch at least as many for `messages`. */
export const windowMessages = 20;
/** A message cut shorter is not worth its place. */
const shortestCut = 120;

/**
 * The window for the next turn [H1]. `messages` are those before the current ones, oldest first; `budget` is
 * in characters of rendered lines and never exceeded. A window only grows at its end, late messages included.
 * It is rebuilt to half the budget when the next message does not fit, when it is full, or when one of its
 * messages was edited or deleted. An answer is shown only after its question, if that still exists.
 */
export function nextWindow(
  previous: HistoryWindow | undefined,
  messages: readonly ChatMessage[],
  budget: number,
  { speaker, messageIds, messageChars = 0, botName, timeZone = 'UTC' }: WindowTurn = { messageIds: [] },
): NextWindow {
  const present = new Set<string>(speaker === undefined ? [] : [speaker.id]);
  for (const { author } of messages) present.add(author.id);
  const { nameOf, names } = createNaming(previous?.names, present, botName);
  // The speaker is named first, so that a lookalike gets the number.
  if (speaker !== undefined) nameOf(speaker);
  const next = (entries: readonly HistoryEntry[], wasRebuilt: boolean): NextWindow => {
    const isStable = hasRoomForTurn(entries, messageChars, budget);
    const stableUpTo = isStable ? entries.at(-1)?.message.id : wasRebuilt ? undefined : previous?.stableUpTo;
    return { window: { entries, names, asked: messageIds, stableUpTo }, nameOf, wasRebuilt };
  };
  const entryOf: EntryOf = (message, max) => historyEntry(message, max, nameOf, timeZone);
  if (previous === undefined || previous.entries.length === 0)
    return next(rebuild(messages, budget, entryOf), previous === undefined);
  const entries = extend(previous, messages, budget, entryOf);
  return entries === undefined
    ? next(rebuild(messages, Math.floor(budget / 2), entryOf), true)
    : next(entries, false);
}

type EntryOf = (message: ChatMessage, max?: number) => HistoryEntry | undefined;

/** The newest that fit the budget, oldest first. */
function rebuild(
  messages: readonly ChatMessage[],
  budget: number,
  entryOf: EntryOf,
): readonly HistoryEntry[] {
  let entries: readonly HistoryEntry[] = [];
  const answered = new Set<string>();
  let hasPerson = false;
  for (const message of messages.toReversed()) {
    if (entries.length === rebuiltMessages) break;
    const whole = entryOf(message);
    if (whole === undefined) continue;
    // With its date, and without the next line's, which may no longer be needed.
    const left = budget - charsOf([{ ...whole, text: '' }, ...entries]);
    const isPerson = message.author.kind === 'human';
    // A bot's message takes at most two thirds, to leave room for its question.
    const room = isPerson ? left : Math.floor((left * 2) / 3);
    // Of people's messages only the newest and an answer's question may be cut.
    const mayBeCut = isPerson
      ? !hasPerson || answered.has(message.id)
      : room >= shortestCut || entries.length === 0;
    const cut = mayBeCut ? entryOf(message, room) : undefined;
    const entry = whole.text.length <= room ? whole : cut;
    if (entry === undefined) break;
    entries = [entry, ...entries];
    hasPerson ||= isPerson;
    if (message.answers !== undefined) answered.add(message.answers);
  }
  return newestWithin(entries, budget, new Set(messages.map(({ id }) => id)));
}

/**
 * The newest entries of at most `max` rendered characters, without answers whose `known` question is not
 * shown.
 */
export function newestWithin(
  entries: readonly HistoryEntry[],
  max: number,
  known: ReadonlySet<string>,
): readonly HistoryEntry[] {
  let kept = withQuestions(entries, known);
  // A line that has lost the one before it may have got a date.
  while (kept.length > 0 && charsOf(kept) > max) kept = withQuestions(kept.slice(1), known);
  return kept;
}

/** Without answers whose `known` question is not shown before them [H1]. */
function withQuestions(
  entries: readonly HistoryEntry[],
  known: ReadonlySet<string>,
): readonly HistoryEntry[] {
  const shown = new Set<string>();
  return entries.filter(({ message: { id, answers } }) => {
    if (answers !== undefined && known.has(answers) && !shown.has(answers)) return false;
    shown.add(id);
    return true;
  });
}

/** The entries with newer messages, or `undefined` where the window must be rebuilt. */
function extend(
  { entries, asked }: HistoryWindow,
  messages: readonly ChatMessage[],
  budget: number,
  entryOf: EntryOf,
): readonly HistoryEntry[] | undefined {
  const present = new Map(messages.map((message) => [message.id, message]));
  if (!entries.every((entry) => saysTheSame(entry.message, present.get(entry.message.id)))) return undefined;

  const shown = new Set(entries.map((entry) => entry.message.id));
  const oldest = messages.findIndex((message) => shown.has(message.id));
  const newer = messages.slice(oldest + 1).filter(({ id }) => !shown.has(id));
  // Earlier messages were left out for want of room, or since the turn was about them: those, and newly
  // answered ones, come in late.
  const late = new Set([...asked, ...newer.flatMap(({ answers }) => answers ?? [])]);
  const older = messages.slice(0, oldest).filter(({ id }) => late.has(id));
  const added = [...older, ...newer].flatMap((message) => entryOf(message) ?? []);
  const extended = [...entries, ...added];
  return extended.length > windowMessages || charsOf(extended) > budget ? undefined : extended;
}

/** Whether this turn's messages and an average answer will fit. */
function hasRoomForTurn(entries: readonly HistoryEntry[], messageChars: number, budget: number): boolean {
  const answers = entries.filter(({ role }) => role === 'assistant');
  const usualAnswer = answers.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, answers.length);
  return entries.length + 2 <= windowMessages && charsOf(entries) + messageChars + usualAnswer <= budget;
}

/** As rendered, dates included. */
export function charsOf(entries: readonly HistoryEntry[]): number {
  return renderHistory(entries).reduce((sum, { text }) => sum + text.length, 0);
}

/** A piece of history as the prompt has it. */
export interface HistoryLine extends Pick<HistoryEntry, 'role' | 'text'> {
  /** Absent for a date that stands alone. */
  readonly messageId?: string;
}

/**
 * Dates the first entry and each that is apart from the last date: `[Thu 2026-01-15 14:03] ` [H3]. Before
 * the bot's own words the date is a user line, so that the model does not learn to write dates. A line
 * depends only on those before it [P2].
 */
export function renderHistory(entries: readonly HistoryEntry[]): readonly HistoryLine[] {
  const dated = new Set(datedAmong(entries));
  return entries.flatMap((entry): readonly HistoryLine[] => {
    const { role, text, when, message } = entry;
    const line = { role, text, messageId: message.id };
    if (!dated.has(entry)) return [line];
    return role === 'user'
      ? [{ ...line, text: `[${when}] ${text}` }]
      : [{ role: 'user', text: `[${when}]\n` }, line];
  });
}

/** A message and when it was said, as `localMoment` tells it. */
type Dated = Pick<HistoryEntry, 'when'> & { readonly message: Pick<ChatMessage, 'at'> };

/** In milliseconds; lines further apart are dated on the same day too. */
const apartMs = 3_600_000;

/** Those that the date before them does not tell [H3]. */
export function datedAmong<Entry extends Dated>(entries: readonly Entry[]): readonly Entry[] {
  const dated: Entry[] = [];
  for (const entry of entries) {
    const last = dated.at(-1);
    if (last === undefined || areApart(last, entry)) dated.push(entry);
  }
  return dated;
}

/** Different days or over an hour apart. */
function areApart(a: Dated, b: Dated): boolean {
  const dayOf = ({ when }: Dated): string => when.slice(0, -'14:03'.length);
  return dayOf(a) !== dayOf(b) || Math.abs(Date.parse(b.message.at) - Date.parse(a.message.at)) > apartMs;
}

function saysTheSame(before: ChatMessage, now: ChatMessage | undefined): boolean {
  if (now === before) return true;
  return (
    now !== undefined &&
    now.text === before.text &&
    isDeepStrictEqual([now.attachments, now.shown], [before.attachments, before.shown])
  );
}

/**
 * One line for people and bots, `Alice: text` or `Dyno (bot): text`, with attachments named and cards quoted;
 * this bot's words as it wrote them, without invisible characters [H2]. `max` bounds name and line break too,
 * but not a date. `undefined` for an empty message.
 */
export function historyEntry(
  message: ChatMessage,
  max = Number.POSITIVE_INFINITY,
  nameOf: NextWindow['nameOf'] = plainName,
  timeZone = 'UTC',
): HistoryEntry | undefined {
  const isOwn = message.author.kind === 'self';
  const words = isOwn ? withoutInvisible(message.text) : toSingleLine(message.text);
  const said = [words, enclosureNote(message)].filter((part) => part !== '').join(' ');
  const prefix = isOwn ? '' : `${nameOf(message.author)}: `;
  const text = quoted(said, max - prefix.length - 1);
  if (text === '') return undefined;
  const when = localMoment(new Date(message.at), timeZone);
  return { role: isOwn ? 'assistant' : 'user', text: `${prefix}${text}\n`, when, message };
}

type Author = ChatMessage['author'];

/** By id and display name. */
export type Names = ReadonlyMap<string, string>;

/**
 * Gives everybody in view a distinct name: a display name that looks like another's gets a number, such as
 * `Alice (2)` [P3]. The first keeps the name, so that lines keep their bytes [P2]; names of those not in
 * `present` become free. `reserved`, the bot's name, is nobody's.
 */
export function createNaming(
  known: Names | undefined,
  present: ReadonlySet<string>,
  reserved: string | undefined,
) {
  const names = new Map([...(known ?? [])].filter(([key]) => present.has(idOf(key))));

  function nameOf(author: Author): string {
    const key = `${author.id} ${author.name}`;
    const given = names.get(key);
    if (given !== undefined) return given;
    const others = [...names].filter(([other]) => idOf(other) !== author.id).map(([, name]) => name);
    const taken = new Set([...others, ...(reserved === undefined ? [] : [reserved])].map(lookalike));
    const plain = plainName(author);
    let name = plain;
    for (let number = 2; taken.has(lookalike(name)); number += 1) name = `${plain} (${number})`;
    names.set(key, name);
    return name;
  }

  return { nameOf, names: names as Names };
}

/** An author's display name without brackets, in which dates stand [P3]; other bots are marked [H2]. */
export function plainName({ name, kind }: Author): string {
  const plain = label(name.replace(/[[\]［］]/gu, ' '));
  return kind === 'bot' ? `${plain} (bot)` : plain;
}

function idOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}
