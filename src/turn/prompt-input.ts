import { LRUCache } from 'lru-cache';

import {
  isOthersText,
  type AttachmentPort,
  type ChatMessage,
  type ForwardedMessage,
  type HistoryPort,
  type OpenedFile,
  type ReadReplied,
  type RepliedMessage,
} from '../core/chat.ts';
import { namesPeople } from '../core/own-words.ts';
import { localDateTime } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import { sessionName } from '../core/place.ts';
import { renderSection, type Section, type SectionSource } from '../core/section.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import { buildPrompt, type Prompt } from '../prompt/build-prompt.ts';
import { nextWindow, windowMessages, type HistoryWindow, type NextWindow } from '../prompt/history.ts';
import { forwardedSection, repliedSection } from '../prompt/quoted.ts';
import { promptRules } from '../prompt/rules.ts';
import { nextSnapshot, type Snapshot } from '../prompt/snapshot.ts';

/** Sessions whose prompt state is kept; one that falls out begins with a new snapshot, nothing more. */
const keptSessions = 1000;
/** Messages asked of history: a full window and what may lie between. */
const askedMessages = 2 * windowMessages;
/** Replies of one turn whose messages are quoted; it has more only where somebody wrote on while a turn ran. */
const maxQuotes = 3;

export interface PromptPorts {
  /** What the bot's owner wrote for everybody: read where memory is off too. */
  readonly channelContext: SectionSource<TurnContext>;
  /** All memory layers; one that is off gives nothing. */
  readonly layers: readonly SectionSource<TurnContext>[];
  /** What the model may do on Discord. */
  readonly actions?: SectionSource<TurnContext>;
  readonly soul: () => Promise<string>;
  readonly history: HistoryPort;
  readonly attachments: AttachmentPort;
  readonly readReplied: ReadReplied;
  readonly log: Pick<SessionLog, 'answersWithOthersWords'>;
  /** The bot's own name, which is given to nobody else. */
  readonly botName: string;
  readonly timeZone: string;
  /** Characters of history at most [H1]. */
  readonly historyBudget: number;
  /** Characters of the whole at most [P4]. */
  readonly maxChars: number;
  readonly logger: Logger;
}

/** What the owner has switched off in the turn's place. */
export interface SwitchedOff {
  readonly isMemoryOff: boolean;
  readonly areActionsOff: boolean;
}

export interface ComposedPrompt {
  readonly prompt: Prompt;
  /**
   * Whether the turn brings along what the speaker did not write in it, or there is any of that in what was looked at for history, shown or not: an
   * answer that is shown may repeat a question or a file that is not, or a question that was deleted since; or whether memory or an earlier answer
   * may repeat any of it [M5a].
   */
  readonly hasThirdPartyText: boolean;
  /** What the speaker is to be told of the prompt, whatever becomes of the answer: files that are not in it as a whole. */
  readonly notes: readonly string[];
}

/** Reads all layers, SOUL.md and history at once and builds a turn's prompt, keeping from turn to turn what the cache needs [P1][P2]. */
export class PromptComposer {
  readonly #ports: PromptPorts;
  readonly #states = new LRUCache<string, { readonly window: HistoryWindow; readonly snapshot: Snapshot }>({
    max: keptSessions,
  });

  constructor(ports: PromptPorts) {
    this.#ports = ports;
  }

  async compose(context: TurnContext, off: SwitchedOff, signal: AbortSignal): Promise<ComposedPrompt> {
    const { soul, timeZone, historyBudget, maxChars, logger } = this.#ports;
    const [sections, soulText, { earlier, repeatsOthers }, enclosed] = await Promise.all([
      readSections(this.#ports, off, context),
      soul().catch((error: unknown) => {
        logger.warn('SOUL.md could not be read', { error });
        return '';
      }),
      earlierMessages(this.#ports, context),
      readEnclosures(this.#ports, context, signal),
    ]);

    const name = sessionName(sessionOf(context));
    const state = this.#states.get(name);
    const { isBot, ...author } = context.speaker;
    const speaker = { ...author, kind: isBot === undefined ? 'human' : 'bot' } as const;
    const { window, nameOf, wasRebuilt } = nextWindow(state?.window, earlier, historyBudget, {
      speaker,
      messageIds: context.messages.map(({ id }) => id),
      botName: this.#ports.botName,
    });
    const { snapshot, changes } = nextSnapshot(state?.snapshot, sections, context.now, {
      windowWasRebuilt: wasRebuilt,
    });
    this.#states.set(name, { window, snapshot });

    const prompt = buildPrompt({
      soul: soulText,
      rules: promptRules,
      channel: sections.filter((section) => section.slot === 'channel'),
      snapshot,
      history: window,
      last: [
        ...sections.filter((section) => section.slot === 'last'),
        changes,
        ...enclosedSections(enclosed, nameOf),
      ],
      message: {
        speakerName: nameOf(speaker),
        messages: context.messages,
        place: context.place,
        localTime: localDateTime(context.now, timeZone),
      },
      files: enclosed.files,
      promptMaxChars: maxChars,
    });
    const hasThirdPartyText =
      enclosed.hasThirdPartyText ||
      repeatsOthers ||
      [...snapshot.sections, ...sections].some((section) => section.hasThirdPartyText === true) ||
      earlier.some((message) => isOfOthers(message, context)) ||
      answersUnknown(earlier, context);
    const notes = prompt.leftOut.length === 0 ? [] : [leftOutNote(prompt.leftOut)];
    return { prompt, hasThirdPartyText, notes };
  }
}

/** Files that a line under the answer names. */
const maxNamedFiles = 5;

function leftOutNote(files: readonly string[]): string {
  const more = files.length - maxNamedFiles;
  return `📎 Not read in full: ${[...files.slice(0, maxNamedFiles), ...(more > 0 ? [`${more} more`] : [])].join(', ')}`;
}

/** Reads all layers at once; a layer that fails gives nothing and a warning, and the bot still answers [P1]. */
async function readSections(
  { channelContext, layers, actions, logger }: PromptPorts,
  { isMemoryOff, areActionsOff }: SwitchedOff,
  context: TurnContext,
): Promise<readonly Section[]> {
  const sources = [
    channelContext,
    ...(isMemoryOff ? [memoryIsOff] : layers),
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

const offFrame = { name: 'turn_facts', slot: 'last', title: 'About this turn:' } as const;
const offLine =
  'Memory is switched off in this channel: you know nothing of earlier conversations here, keep nothing of this one, and have no tools for memory. Say so where it matters; in other channels and in direct messages you remember.';

/** Instead of all layers: the model is told. */
const memoryIsOff: SectionSource<TurnContext> = {
  name: 'memory switch',
  sections: async () => [
    { ...offFrame, lines: [offLine], budget: renderSection({ ...offFrame, lines: [offLine] }).length },
  ],
};

/**
 * What stands in the channel besides this turn's messages and what the speaker wrote after them, which is the next turn's; and whether any answer that
 * may be shown of it may repeat others' words.
 */
async function earlierMessages(
  ports: PromptPorts,
  context: TurnContext,
): Promise<{ readonly earlier: readonly ChatMessage[]; readonly repeatsOthers: boolean }> {
  const { history, logger } = ports;
  const { messages, place, speaker } = context;
  const own = new Set(messages.map((message) => message.id));
  const newest = messages.at(-1)?.id ?? '';
  try {
    const recent = await history.recent(place.channelId, askedMessages + own.size);
    const earlier = recent.filter(
      ({ id, author }) => !own.has(id) && !(author.id === speaker.id && compareSnowflakes(id, newest) > 0),
    );
    const marked = await answersWithOthersWords(earlier.slice(-windowMessages), context, ports);
    return withoutOldAnswers(earlier, marked, context);
  } catch (error) {
    logger.warn('history could not be read', { channelId: place.channelId, error });
    return { earlier: [], repeatsOthers: false };
  }
}

/** Those of this bot's answers that may repeat others' words, by id; all of them where the log cannot tell. Never rejects. */
async function answersWithOthersWords(
  messages: readonly ChatMessage[],
  context: TurnContext,
  { log, logger }: Pick<PromptPorts, 'log' | 'logger'>,
): Promise<ReadonlySet<string>> {
  const ids = messages.flatMap(({ id, author }) => (author.kind === 'self' ? [id] : []));
  try {
    return await log.answersWithOthersWords(sessionOf(context), ids);
  } catch (error) {
    logger.warn('what answers were made of could not be read', { ...sessionOf(context), error });
    return new Set(ids);
  }
}

/** Milliseconds of quiet that end a sitting. */
const pauseMs = 30 * 60_000;
const leftOutText = '(An earlier answer, left out here.)';

/**
 * Answers that may repeat others' words make the next answers such as well. In a DM, where the notebook is written, a pause ends that: of those from before
 * it the words are left out, so that a file that was sent once closes the notebook for that sitting and no longer. Elsewhere others speak all the time.
 */
function withoutOldAnswers(
  earlier: readonly ChatMessage[],
  marked: ReadonlySet<string>,
  { place, messages }: TurnContext,
): { readonly earlier: readonly ChatMessage[]; readonly repeatsOthers: boolean } {
  if (place.audience !== 'dm') return { earlier, repeatsOthers: marked.size > 0 };
  const times = [...earlier, ...messages.slice(0, 1)].map(({ at }) => Date.parse(at));
  const begin = times.findLastIndex((time, index) => time - (times[index - 1] ?? time) >= pauseMs);
  const isOld = (index: number): boolean => index < begin;
  return {
    earlier: earlier.map((message, index) =>
      marked.has(message.id) && isOld(index) ? { ...message, text: leftOutText } : message,
    ),
    repeatsOthers: earlier.some(({ id }, index) => marked.has(id) && !isOld(index)),
  };
}

function isOfOthers({ author, text, hasThirdPartyText }: ChatMessage, { speaker }: TurnContext): boolean {
  if (hasThirdPartyText === true) return true;
  return author.kind !== 'self' && (author.id !== speaker.id || namesPeople(text));
}

/** Whether an answer that may be shown answers what is not there any more: whose words it repeats, nobody can tell. In a DM they are the speaker's. */
function answersUnknown(earlier: readonly ChatMessage[], { place, messages }: TurnContext): boolean {
  if (place.audience === 'dm') return false;
  const known = new Set([...earlier, ...messages].map(({ id }) => id));
  return earlier.slice(-windowMessages).some(({ answers }) => answers !== undefined && !known.has(answers));
}

/** What the messages of a turn bring along, read for this turn only. */
export interface Enclosures {
  /** The messages replied to. */
  readonly replied: readonly (RepliedMessage | 'gone')[];
  readonly forwards: readonly ForwardedMessage[];
  readonly files: readonly OpenedFile[];
  /** Whether there is anything in it that the speaker did not write in this turn [M5a]. */
  readonly hasThirdPartyText: boolean;
}

/** Reads what a turn brings along. The message's own files come first, so that they are opened where not all can be. */
export async function readEnclosures(
  {
    attachments,
    readReplied,
    log,
    logger,
  }: Pick<PromptPorts, 'attachments' | 'readReplied' | 'log' | 'logger'>,
  context: TurnContext,
  signal: AbortSignal,
): Promise<Enclosures> {
  const replied = await readQuoted(context, readReplied);
  const messages = replied.filter((each) => each !== 'gone');
  const forwards = [...context.messages, ...messages].flatMap((message) => message.forwards ?? []);
  const files = await attachments.open(
    [...context.messages, ...forwards, ...messages].flatMap((each) => each.files ?? []),
    context.speaker.id,
    signal,
  );
  const [marked, areQuotesOfOthers] = await Promise.all([
    answersWithOthersWords(messages, context, { log, logger }),
    Promise.all(messages.map((each) => isQuoteOfOthers(each, context, readReplied))),
  ]);
  return {
    replied,
    forwards,
    files,
    hasThirdPartyText:
      forwards.length > 0 ||
      marked.size > 0 ||
      context.messages.some(({ text, shown = [] }) => namesPeople(text) || shown.some(isOthersText)) ||
      files.some(({ kind }) => kind !== 'unopened') ||
      areQuotesOfOthers.includes(true),
  };
}

/** Quoted messages, for the turn's last message. */
export function enclosedSections(
  { replied, forwards }: Pick<Enclosures, 'replied' | 'forwards'>,
  nameOf: NextWindow['nameOf'],
): readonly Section[] {
  return [...replied.map((each) => repliedSection(each, nameOf)), ...forwards.map(forwardedSection)];
}

/** The messages replied to, each once, without those of the turn itself and what no model hears of. */
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
  return found.filter((each) => each !== 'hidden');
}

/** Whether a quoted message holds others' words; an answer of the bot's may repeat what it answers [M5a]. */
async function isQuoteOfOthers(
  { author, hasThirdPartyText, answers, channelId }: RepliedMessage,
  { speaker, place }: TurnContext,
  readReplied: ReadReplied,
): Promise<boolean> {
  if (author.kind !== 'self') return author.id !== speaker.id;
  if (hasThirdPartyText === true || answers === undefined || place.audience === 'dm')
    return hasThirdPartyText === true;
  const question = await readReplied({ channelId, id: answers });
  if (question === 'gone' || question === 'hidden') return true;
  return question.author.id !== speaker.id || question.hasThirdPartyText === true;
}
