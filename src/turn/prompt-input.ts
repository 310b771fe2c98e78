import {
  isOthersText,
  type AttachmentPort,
  type ChatMessage,
  type ForwardedMessage,
  type MessageReference,
  type OpenedFile,
  type ReadReplied,
  type RepliedMessage,
} from '../core/message.ts';
import { lruCache } from '../core/limits.ts';
import { namesPeople } from '../core/own-words.ts';
import type { CacheLife } from '../core/model.ts';
import { localMoment, withMomentsTold } from '../core/time.ts';
import { sessionName } from '../core/place.ts';
import { renderSection, type Section, type SectionSource } from '../core/section.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { newestMark, ownMark, sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { Consent } from '../memory/settings/person-settings.ts';
import { datedAmong, historyWindow, type HistoryWindow } from '../prompt/history.ts';
import { fitContext, type ContextNeeds, type FittedContext } from '../prompt/fit-context.ts';
import { forwardedSection, repliedSection } from '../prompt/quoted.ts';
import {
  countingMarks,
  earlierMessages,
  enclosedBefore,
  showsOthers,
  withMasks,
  type EarlierPorts,
} from './earlier-messages.ts';

/** One that falls out only begins with a new window. */
const keptSessions = 500;
/** Replies whose messages are quoted; more only occur where somebody wrote on while a turn ran. */
const maxQuotes = 3;
/** Files that a line under the answer names. */
const maxNamedFiles = 5;

export interface PromptPorts extends EarlierPorts {
  /** The owner's words for everybody, read even where memory is off. */
  readonly always: readonly SectionSource<TurnContext>[];
  readonly layers: readonly SectionSource<TurnContext>[];
  readonly actions?: SectionSource<TurnContext>;
  readonly soul: () => Promise<string>;
  readonly attachments: AttachmentPort;
  readonly readReplied: ReadReplied;
  /** The bot's own name, which is given to nobody else. */
  readonly botName: string;
  /** The zone of who speaks, IANA [H3]. Must not reject. */
  readonly timeZoneOf: (userId: string) => Promise<string>;
  /** In characters [H1]. */
  readonly historyBudget: number;
  /** Characters of the whole prompt [P4]. */
  readonly maxChars: number;
}

export interface SwitchedOff {
  readonly isMemoryOff: boolean;
  readonly areActionsOff: boolean;
  /** Absent where the person has restricted nothing [K9]. */
  readonly consent?: Consent;
}

export interface ComposedPrompt extends FittedContext {
  /** The bot's and the speaker's, as the prompt has them. */
  readonly names: { readonly own: string; readonly asker: string };
  /**
   * The answer's mark, where the prompt has text that the speaker did not write [M5a]: what the turn brings along, others'
   * words in history, or an answer of the last half hour that may repeat such.
   */
  readonly thirdPartyMark: string | undefined;
  /** What the speaker is told in any case: files that are not shown as a whole. */
  readonly notes: readonly string[];
}

/** What a conversation's prompts have in common until its window moves [P2]. */
interface KeptPrompt {
  /** Where its window of history begins. */
  readonly begin: string;
  /** The summary shown since, with the turns that it does not hold by now. */
  readonly summary: Section | undefined;
}

export type PromptComposer = ReturnType<typeof createPromptComposer>;

/** Reads all layers, SOUL.md and history at once and builds a turn's prompt [P1]. */
export function createPromptComposer(ports: PromptPorts) {
  const { soul, timeZoneOf, botName, historyBudget, maxChars, logger } = ports;
  const allKept = lruCache<string, KeptPrompt>(keptSessions);
  let leftOut: readonly string[] = [];
  return {
    evict(userId: string): void {
      for (const name of Array.from(allKept.keys())) if (name.endsWith(`:${userId}`)) allKept.delete(name);
    },

    /** What the newest prompt had no room for [M13]. */
    leftOut: (): readonly string[] => leftOut,

    async compose(
      context: TurnContext,
      off: SwitchedOff,
      needs: ContextNeeds,
      signal: AbortSignal,
    ): Promise<ComposedPrompt> {
      const reading = earlierMessages(ports, context, off.consent?.wasPaused);
      const [timeZone, sectionsRead, soulText, { earlier, marks }, enclosed] = await Promise.all([
        timeZoneOf(context.speaker.id),
        readSections(ports, off, context),
        soul().catch((error: unknown) => {
          logger.warn('SOUL.md could not be read', { error });
          return '';
        }),
        reading,
        reading.then((read) => readEnclosures(ports, context, enclosedBefore(read.earlier, context), signal)),
      ]);

      const name = sessionName(sessionOf(context));
      const kept = allKept.get(name);
      const { isBot, ...author } = context.speaker;
      const speaker = { ...author, kind: isBot === undefined ? 'human' : 'bot' } as const;
      const { entries, begin, nameOf } = historyWindow(kept?.begin, earlier, historyBudget, {
        speaker,
        messageId: context.messages[0]?.id ?? '',
        botName,
        timeZone,
      });
      const current = sectionsRead.find((section) => section.summary !== undefined);
      const summary = begin === kept?.begin ? shownSummary(kept.summary, current) : current;
      // An erasing ends the turn: what was read before it is not shown in the next one [K11].
      if (!signal.aborted) allKept.set(name, { begin, summary });
      const memory = sectionsRead.map((section) => (section === current ? (summary ?? section) : section));
      const sections = [...memory, ...enclosedSections(enclosed, nameOf, timeZone)];

      const input = {
        soul: soulText,
        sections,
        history: entries,
        historyBudget,
        message: {
          speakerName: nameOf(speaker),
          messages: context.messages.map((each) => ({ ...each, text: withMomentsTold(each.text, timeZone) })),
          place: context.place,
          localTime: localMoment(context.now, timeZone),
          written: writtenWhen(context, timeZone),
          turnsSinceSummary: summary?.lines.length === 0 ? 0 : (summary?.summary?.turnsSince ?? 0),
        },
        files: enclosed.files,
        promptMaxChars: maxChars,
        cacheLife: cacheLife(earlier, context),
      };
      const fitted = fitContext(input, needs);
      leftOut = fitted.leftOut;
      const shown = entries.map(({ message }) => message);
      const holdsOthersWords =
        enclosed.hasThirdPartyText ||
        sections.some((section) => section.hasThirdPartyText === true) ||
        shown.some((message) => showsOthers(message, context));
      const files = fitted.prompt.leftOut;
      const more = files.length - maxNamedFiles;
      const named = [...files.slice(0, maxNamedFiles), ...(more > 0 ? [`${more} more`] : [])];
      return {
        ...fitted,
        names: { own: botName, asker: nameOf(speaker) },
        thirdPartyMark: holdsOthersWords
          ? ownMark
          : newestMark([...enclosed.marks, ...shown.map(({ id }) => marks.get(id))]),
        notes: named.length === 0 ? [] : [`📎 Not read in full: ${named.join(', ')}`],
      };
    },
  };
}

/** The same as in the last prompt, with the turns since, unless it was withdrawn meanwhile [A4]. */
function shownSummary(last: Section | undefined, current: Section | undefined): Section | undefined {
  if (last?.summary === undefined) return current;
  if (current?.summary === undefined) return last.lines.length === 0 ? last : undefined;
  if (last.summary.withdrawals !== current.summary.withdrawals) return current;
  if (last.title === current.title) return current;
  return { ...last, summary: { ...last.summary, turnsSince: last.summary.turnsSince + 1 } };
}

const lifeMs: Readonly<Record<CacheLife, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

/**
 * How long the vendor is to keep a conversation: as the shorter of its last two pauses suggests, as far as history
 * shows them. Not at all after two long ones, since what nobody reads in time costs more than plain input.
 */
function cacheLife(
  earlier: readonly ChatMessage[],
  { speaker, place, now }: TurnContext,
): CacheLife | undefined {
  const answered = new Set(earlier.map(({ answers }) => answers));
  const turns = earlier.filter(
    ({ id, author }) => author.id === speaker.id && (place.audience === 'dm' || answered.has(id)),
  );
  const times = [...turns.slice(-2).map(({ at }) => Date.parse(at)), now.getTime()];
  const pause = Math.min(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
  if (times.length === 1 || pause <= lifeMs['5m']) return '5m';
  return pause <= lifeMs['1h'] ? '1h' : undefined;
}

/** When the turn's messages were written, if that may be another "today" [H3]. */
function writtenWhen({ messages, now }: TurnContext, timeZone: string): string | undefined {
  const moments = [...messages, { at: now.toISOString() }].map((message) => ({
    message,
    when: localMoment(new Date(message.at), timeZone),
  }));
  const dated = datedAmong(moments);
  if (dated.length === 1) return undefined;
  const whens = dated.filter(({ message }) => messages.some((each) => each === message));
  return whens.map(({ when }) => when).join(', ');
}

/** Reads all layers at once; one that fails gives nothing and a warning [P1]. */
async function readSections(
  { always, layers, actions, logger }: PromptPorts,
  { isMemoryOff, areActionsOff, consent }: SwitchedOff,
  context: TurnContext,
): Promise<readonly Section[]> {
  const sources = [
    ...always,
    ...(isMemoryOff ? [memoryIsOff] : layers),
    ...(isMemoryOff || consent?.pause === undefined ? [] : [memoryIsPaused]),
    ...(isMemoryOff || consent?.isUnreadable === undefined ? [] : [memoryIsAway]),
    ...(actions === undefined || areActionsOff ? [] : [actions]),
  ];
  const read = await Promise.all(
    sources.map(async (source) => {
      try {
        return await source.sections(context);
      } catch (error) {
        logger.warn('a memory layer could not be read', { layer: source.name, error });
        return [];
      }
    }),
  );
  return read.flat();
}

/** Instead of all layers. */
const memoryIsOff = factOf(
  'memory switch',
  'Memory is switched off in this channel: you know nothing of earlier conversations here, keep nothing of this one, and have no tools for memory. Say so where it matters; in other channels and in direct messages you remember.',
);
/** Besides all layers [K9]. */
const memoryIsPaused = factOf(
  'pause',
  'This person has paused their memory: nothing that is said is kept until they resume it, and tools that store refuse. What was kept before may be used. Promise to remember nothing.',
);
/** Besides all layers, which then say nothing. */
const memoryIsAway = factOf(
  'memory away',
  'Memory cannot be read or written right now: nothing that is said is kept, and what was kept before is not at hand. Promise to remember nothing.',
);

function factOf(name: string, line: string): SectionSource<TurnContext> {
  const frame = { name: 'turn_facts', slot: 'last', title: 'About this turn:', lines: [line] } as const;
  return { name, sections: async () => [{ ...frame, budget: renderSection(frame).length }] };
}

/** What the messages of a turn bring along, read for this turn only. */
export interface Enclosures {
  readonly replied: readonly (RepliedMessage | 'gone')[];
  readonly forwards: readonly ForwardedMessage[];
  readonly files: readonly OpenedFile[];
  /** Whether anything in it is not the speaker's or this bot's [M5a]. */
  readonly hasThirdPartyText: boolean;
  /** Of quoted answers that may repeat such words and still count. */
  readonly marks: readonly string[];
}

/**
 * Reads what a turn brings along, and what hangs on messages right before it. The message's own files are
 * opened first.
 */
export async function readEnclosures(
  ports: Pick<PromptPorts, 'attachments' | 'readReplied' | 'log' | 'people' | 'logger'>,
  context: TurnContext,
  before: readonly MessageReference[],
  signal: AbortSignal,
): Promise<Enclosures> {
  const { attachments, log, logger } = ports;
  const readReplied = readUnerased(ports, context);
  const [replied, found] = await Promise.all([
    readQuoted(context, readReplied),
    Promise.all(before.map(({ id, channelId }) => readReplied({ id, channelId }))),
  ]);
  const messages = replied.filter((each) => each !== 'gone');
  const enclosing = found
    .filter((each) => each !== 'gone' && each !== 'hidden')
    .filter(({ id }) => messages.every((each) => each.id !== id));
  const forwards = [...enclosing, ...context.messages, ...messages].flatMap(
    (message) => message.forwards ?? [],
  );
  const files = await attachments.open(
    [...context.messages, ...forwards, ...enclosing, ...messages].flatMap((each) => each.files ?? []),
    context.speaker.id,
    signal,
  );
  const quotes = await Promise.all(messages.map((each) => judgeQuote(each, context, readReplied)));
  const mayRepeat = quotes.includes('answer to more');
  const marks = await countingMarks(messages, () => mayRepeat, context, { log, logger });
  return {
    replied,
    forwards: forwards.map((forward) => withMasks(forward)),
    files,
    hasThirdPartyText:
      forwards.length > 0 ||
      context.messages.some(
        ({ text, shown = [], heard }) => heard === true || namesPeople(text) || shown.some(isOthersText),
      ) ||
      files.some(({ kind }) => kind !== 'unopened') ||
      quotes.includes("others'"),
    marks: [...marks.values()],
  };
}

export function enclosedSections(
  { replied, forwards }: Pick<Enclosures, 'replied' | 'forwards'>,
  nameOf: HistoryWindow['nameOf'],
  timeZone: string,
): readonly Section[] {
  return [
    ...replied.map((each) => repliedSection(each, nameOf, timeZone)),
    ...forwards.map((each) => forwardedSection(each, timeZone)),
  ];
}

/** Reads the messages replied to; erased ones, and answers to these, are gone [K11]. */
function readUnerased(
  { readReplied, people }: Pick<PromptPorts, 'readReplied' | 'people'>,
  { speaker, place }: TurnContext,
): ReadReplied {
  /** Who asked what an answer answers, and when. */
  const questionOf = async ({ answers, saidFor = speaker.id, at, channelId }: RepliedMessage) => {
    // Such as a reminder.
    if (answers === undefined) return { author: { id: saidFor }, at };
    if (place.audience === 'dm') return { author: speaker, at: snowflakeTime(answers).toISOString() };
    const question = await readReplied({ channelId, id: answers });
    return question === 'gone' || question === 'hidden' ? undefined : question;
  };
  return async (reference) => {
    const found = await readReplied(reference);
    if (found === 'gone' || found === 'hidden') return found;
    const source = found.author.kind === 'self' ? await questionOf(found) : found;
    return source !== undefined && (await people.erasedBy(source.author.id))(source.at) ? 'gone' : found;
  };
}

/**
 * The messages replied to, each once, secrets masked [K14], without the turn's own and what no model may hear
 * of.
 */
async function readQuoted(
  { messages }: TurnContext,
  readReplied: ReadReplied,
): Promise<readonly (RepliedMessage | 'gone')[]> {
  const own = new Set(messages.map(({ id }) => id));
  const references = new Map(
    messages.flatMap(({ repliesTo }) =>
      repliesTo === undefined || own.has(repliesTo.id) ? [] : [[repliesTo.id, repliesTo]],
    ),
  );
  const found = await Promise.all([...references.values()].slice(-maxQuotes).map(readReplied));
  return found.filter((each) => each !== 'hidden').map((each) => (each === 'gone' ? each : withMasks(each)));
}

/**
 * Whose words a quoted message holds; the bot's answer may repeat its question and what that brought along
 * [M5a].
 */
async function judgeQuote(
  { author, heard, hasThirdPartyText, answers, saidFor, channelId }: RepliedMessage,
  { speaker, place }: TurnContext,
  readReplied: ReadReplied,
): Promise<"others'" | 'answer to more' | 'own'> {
  if (author.kind !== 'self') return author.id === speaker.id && heard === undefined ? 'own' : "others'";
  if (hasThirdPartyText === true) return "others'";
  if (place.audience === 'dm') return 'answer to more';
  if (answers === undefined) return (saidFor ?? speaker.id) === speaker.id ? 'own' : "others'";
  const question = await readReplied({ channelId, id: answers });
  if (question === 'gone' || question === 'hidden' || question.author.id !== speaker.id) return "others'";
  return question.hasThirdPartyText === true ? 'answer to more' : 'own';
}
