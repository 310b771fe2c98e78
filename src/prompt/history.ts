import type { ChatMessage } from '../core/message.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import { toSingleLine, lookalike, withoutInvisible } from '../core/text.ts';
import { localMoment, withMomentsTold } from '../core/time.ts';
import { enclosureNote, label, quoted } from './quoted.ts';

export interface HistoryEntry {
  readonly role: 'user' | 'assistant';
  /** Ends in a line break. */
  readonly text: string;
  /** Local date and time, as `localMoment` tells them. */
  readonly when: string;
  readonly message: ChatMessage;
}

/** The earlier messages in a conversation's prompt. */
export interface HistoryWindow {
  /** Oldest first. */
  readonly entries: readonly HistoryEntry[];
  /** The id of the message at which this window and the next begin. */
  readonly begin: string;
  /** What the speaker, or a quoted author, is called in this turn. */
  readonly nameOf: (author: ChatMessage['author']) => string;
}

/** Whose turn a window is for, and how it is told. */
export interface WindowTurn {
  readonly speaker: ChatMessage['author'];
  /** Of the turn's own first message, which is history for the next. */
  readonly messageId: string;
  /** The bot's own name, which is given to nobody else. */
  readonly botName?: string;
  /** IANA, for dates of lines [H3]. */
  readonly timeZone: string;
}

/** At the beginning of a window that was moved. */
const movedMessages = 10;
/** A window's most messages; fetch at least as many for `messages`. */
export const windowMessages = 20;
/** A message cut shorter is not worth its place. */
const shortestCut = 120;

/**
 * The window for a turn [H1]: `messages`, those before the turn's own, oldest first, from `begin` on. `budget` is
 * in characters of rendered lines and never exceeded. Where they no longer fit, the window moves to the newest
 * that fill half the budget, so that it keeps its first bytes while it grows again [P2]. Without `begin` it has
 * the newest that fit. An answer is shown only after its question, if that still exists.
 */
export function historyWindow(
  begin: string | undefined,
  messages: readonly ChatMessage[],
  budget: number,
  { speaker, messageId, botName, timeZone }: WindowTurn,
): HistoryWindow {
  // The speaker is named first, so that a lookalike gets the number; others in the same order in every turn.
  const nameOf = createNaming(botName, [speaker, ...messages.map(({ author }) => author), speaker]);
  const known = new Set(messages.map(({ id }) => id));
  const entryOf: EntryOf = (message, max) => historyEntry(message, max, nameOf, timeZone);
  const kept = begin === undefined ? undefined : wholeFrom(begin);
  if (kept !== undefined) return kept;
  const goal = begin === undefined ? budget : Math.floor(budget / 2);
  const entries = newestWithin(newestEntries(messages, goal, budget, entryOf), budget, known);
  const first = entries[0]?.message.id ?? messageId;
  const moved = compareSnowflakes(first, messageId) < 0 ? first : messageId;
  // An answer that was cut for its question's sake stands whole in the next turn if both fit, so in this one too.
  return wholeFrom(moved) ?? { entries, begin: moved, nameOf };

  function wholeFrom(from: string): HistoryWindow | undefined {
    const since = messages.filter(({ id }) => compareSnowflakes(id, from) >= 0);
    const uncut = since.flatMap((message) => entryOf(message) ?? []);
    const whole = withQuestions(uncut, known);
    const fits = whole.length <= windowMessages && charsOf(whole) <= budget;
    return fits ? { entries: whole, begin: from, nameOf } : undefined;
  }
}

type EntryOf = (message: ChatMessage, max?: number) => HistoryEntry | undefined;

/**
 * The newest that fit `goal`, oldest first. The newest exchange may take all of `budget`, and is cut to it;
 * others stand whole or not at all.
 */
function newestEntries(
  messages: readonly ChatMessage[],
  goal: number,
  budget: number,
  entryOf: EntryOf,
): readonly HistoryEntry[] {
  let entries: readonly HistoryEntry[] = [];
  const answered = new Set<string>();
  let hasPerson = false;
  for (const message of messages.toReversed()) {
    if (entries.length === movedMessages) break;
    const whole = entryOf(message);
    if (whole === undefined) continue;
    const isOfNewest = !hasPerson || answered.has(message.id);
    // With its date, and without the next line's, which may no longer be needed.
    const left = (isOfNewest ? budget : goal) - charsOf([{ ...whole, text: '' }, ...entries]);
    const isPerson = message.author.kind === 'human';
    // A bot's message takes at most two thirds, to leave room for its question.
    const room = isPerson ? left : Math.floor((left * 2) / 3);
    const mayBeCut = isOfNewest && (isPerson || room >= shortestCut || entries.length === 0);
    const entry = whole.text.length <= room ? whole : mayBeCut ? entryOf(message, room) : undefined;
    if (entry === undefined) break;
    entries = [entry, ...entries];
    hasPerson ||= isPerson;
    if (isOfNewest && message.answers !== undefined) answered.add(message.answers);
  }
  return entries;
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

/** As rendered, dates included. */
export function charsOf(entries: readonly HistoryEntry[]): number {
  return renderHistory(entries).reduce((sum, { text }) => sum + text.length, 0);
}

/** A piece of history as the prompt has it. */
type HistoryLine = Pick<HistoryEntry, 'role' | 'text'>;

/**
 * Dates the first entry and each that is apart from the last date: `[Thu 2026-01-15 14:03] ` [H3]. Before
 * the bot's own words the date is a user line, so that the model does not learn to write dates. A line
 * depends only on those before it [P2].
 */
export function renderHistory(entries: readonly HistoryEntry[]): readonly HistoryLine[] {
  const dated = new Set(datedAmong(entries));
  return entries.flatMap((entry): readonly HistoryLine[] => {
    const { role, text, when } = entry;
    if (!dated.has(entry)) return [{ role, text }];
    return role === 'user'
      ? [{ role, text: `[${when}] ${text}` }]
      : [
          { role: 'user', text: `[${when}]\n` },
          { role, text },
        ];
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

/**
 * One line for people and bots, `Alice: text` or `Dyno (bot): text`, with attachments named and cards quoted;
 * this bot's words as it wrote them, without invisible characters [H2]. `max` bounds name and line break too,
 * but not a date. `undefined` for an empty message.
 */
export function historyEntry(
  message: ChatMessage,
  max = Number.POSITIVE_INFINITY,
  nameOf: HistoryWindow['nameOf'] = plainName,
  timeZone = 'UTC',
): HistoryEntry | undefined {
  const isOwn = message.author.kind === 'self';
  const words = isOwn
    ? withoutInvisible(message.text)
    : withMomentsTold(toSingleLine(message.text), timeZone);
  const body = [words, enclosureNote(message)].filter((part) => part !== '').join(' ');
  const prefix = isOwn ? '' : `${nameOf(message.author)}: `;
  const text = quoted(body, max - prefix.length - 1);
  if (text === '') return undefined;
  const when = localMoment(new Date(message.at), timeZone);
  return { role: isOwn ? 'assistant' : 'user', text: `${prefix}${text}\n`, when, message };
}

type Author = ChatMessage['author'];

/**
 * Gives everybody a distinct name, those of `authors` the newest of theirs, in the order in which they are named: a
 * display name that looks like an earlier one gets a number, such as `Alice (2)` [P3]. `reserved`, the bot's name, is
 * nobody's.
 */
export function createNaming(
  reserved: string | undefined,
  authors: readonly Author[] = [],
): HistoryWindow['nameOf'] {
  const names = new Map<string, { readonly id: string; readonly name: string }>();
  const newest = new Map(authors.map((author) => [nameKey(author), author]));
  for (const author of newest.values()) if (author.kind !== 'self') nameOf(author);
  return nameOf;

  function nameOf(author: Author): string {
    const key = nameKey(author);
    const known = names.get(key);
    if (known !== undefined) return known.name;
    const others = [...names.values()].filter(({ id }) => id !== author.id).map(({ name }) => name);
    const taken = new Set([...others, ...(reserved === undefined ? [] : [reserved])].map(lookalike));
    const plain = plainName(author);
    let name = plain;
    for (let number = 2; taken.has(lookalike(name)); number += 1) name = `${plain} (${number})`;
    names.set(key, { id: author.id, name });
    return name;
  }
}

/** A webhook or a proxy speaks for several, each of another name. */
function nameKey({ id, name, kind, isProxied }: Author): string {
  return kind === 'human' && isProxied === undefined ? id : `${id} ${name}`;
}

/** An author's display name without brackets, in which dates stand [P3]; other bots are marked [H2]. */
export function plainName({ name, kind }: Author): string {
  const plain = label(name.replace(/[[\]［］]/gu, ' '));
  return kind === 'bot' ? `${plain} (bot)` : plain;
}
