import {
  isOthersText,
  type AttachmentPort,
  type ChatMessage,
  type ForwardedMessage,
  type MessageReference,
  type OpenedFile,
  type ReadReplied,
  type RepliedMessage,
} from '../core/chat.ts';
import { lruCache } from '../core/limits.ts';
import { namesPeople } from '../core/own-words.ts';
import type { CachePrice } from '../core/model.ts';
import { localMoment } from '../core/time.ts';
import { sessionName, type SessionKey } from '../core/place.ts';
import { renderSection, type Section, type SectionSource } from '../core/section.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { answerCounts, newestTime, sessionOf, turnText, type TurnContext } from '../core/turn-context.ts';
import type { Consent } from '../memory/settings/person-settings.ts';
import { buildPrompt, type Prompt } from '../prompt/build-prompt.ts';
import { isKept, longerLife, nextCadence, type Cadence } from '../prompt/cadence.ts';
import { datedAmong, nextWindow, type HistoryWindow, type NextWindow } from '../prompt/history.ts';
import { forwardedSection, repliedSection } from '../prompt/quoted.ts';
import { promptRules, promptRulesWithoutTools } from '../prompt/rules.ts';
import { nextSnapshot, type Snapshot } from '../prompt/snapshot.ts';
import {
  countsAsOthersWords,
  earlierMessages,
  enclosedBefore,
  showsOthers,
  withMasks,
  type EarlierPorts,
} from './earlier-messages.ts';

/** One that falls out only begins with a new snapshot. */
const keptSessions = 500;
/** Replies whose messages are quoted; more only occur where somebody wrote on while a turn ran. */
const maxQuotes = 3;

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
  readonly cachePrice?: CachePrice | undefined;
}

export interface SwitchedOff {
  readonly isMemoryOff: boolean;
  readonly areActionsOff: boolean;
  /** Absent where the person has restricted nothing [K9]. */
  readonly consent?: Consent;
}

export interface ComposedPrompt {
  readonly prompt: Prompt;
  /**
   * Whether the prompt has text that the speaker did not write: what the turn brings along, others' words in
   * history, memory that may repeat them, or an answer of the last half hour that may, whether its source is
   * shown or not [M5a].
   */
  readonly hasThirdPartyText: boolean;
  /** When those were last in view, where only earlier answers may repeat them; ISO 8601, UTC. */
  readonly thirdPartyTextAt?: string | undefined;
  /** What the speaker is told in any case: files that are not shown as a whole. */
  readonly notes: readonly string[];
}

/** What a session's next prompt should begin like. */
interface SessionPrompt {
  readonly window: HistoryWindow;
  readonly snapshot: Snapshot;
  readonly cadence: Cadence;
}

/**
 * Reads all layers, SOUL.md and history at once and builds a turn's prompt, keeping what the cache needs
 * [P1][P2].
 */
export class PromptComposer {
  readonly #ports: PromptPorts;
  readonly #states = lruCache<string, SessionPrompt>(keptSessions);
  /** By what is switched off: prompts with the same begin the same. */
  readonly #shared = new Map<string, Cadence>();

  constructor(ports: PromptPorts) {
    this.#ports = ports;
  }

  /** Drops the session's prompt state: messages came back into its history. */
  renew(session: SessionKey): void {
    this.#states.delete(sessionName(session));
  }

  evict(userId: string): void {
    for (const name of this.#states.keys()) if (name.endsWith(`:${userId}`)) this.#states.delete(name);
  }

  async compose(context: TurnContext, off: SwitchedOff, signal: AbortSignal): Promise<ComposedPrompt> {
    const { soul, timeZoneOf, historyBudget, maxChars, cachePrice, logger } = this.#ports;
    const reading = earlierMessages(this.#ports, context, off.consent?.wasPaused);
    const [timeZone, sections, soulText, { earlier, repeating }, enclosed] = await Promise.all([
      timeZoneOf(context.speaker.id),
      readSections(this.#ports, off, context),
      soul().catch((error: unknown) => {
        logger.warn('SOUL.md could not be read', { error });
        return '';
      }),
      reading,
      reading.then((read) =>
        readEnclosures(this.#ports, context, enclosedBefore(read.earlier, context), signal),
      ),
    ]);

    const name = sessionName(sessionOf(context));
    const state = this.#states.get(name);
    const { isBot, ...author } = context.speaker;
    const speaker = { ...author, kind: isBot === undefined ? 'human' : 'bot' } as const;
    const { window, nameOf, wasRebuilt } = nextWindow(state?.window, earlier, historyBudget, {
      speaker,
      messageIds: context.messages.map(({ id }) => id),
      messageChars: turnText(context).length,
      botName: this.#ports.botName,
      timeZone,
    });
    const now = context.now.getTime();
    const { snapshot, changes, turnsSinceSummary } = nextSnapshot(state?.snapshot, sections, {
      isCold: !isKept(state?.cadence, now),
      windowWasRebuilt: wasRebuilt || window.entries.length === 0,
    });
    const cadence = nextCadence(state?.cadence ?? cadenceIn(earlier, context), now, cachePrice);
    this.#states.set(name, { window, snapshot, cadence });
    const sharing = JSON.stringify([off.isMemoryOff, off.areActionsOff]);
    const shared = nextCadence(this.#shared.get(sharing), now, cachePrice);
    this.#shared.set(sharing, shared);

    const prompt = buildPrompt({
      soul: soulText,
      rules: promptRules,
      rulesWithoutTools: promptRulesWithoutTools,
      channel: sections.filter((section) => section.slot === 'channel'),
      snapshot,
      history: window,
      historyBudget,
      last: [
        ...sections.filter((section) => section.slot === 'last'),
        changes,
        ...enclosedSections(enclosed, nameOf, timeZone),
      ],
      message: {
        speakerName: nameOf(speaker),
        messages: context.messages,
        place: context.place,
        localTime: localMoment(context.now, timeZone),
        written: writtenWhen(context, timeZone),
        turnsSinceSummary,
      },
      files: enclosed.files,
      promptMaxChars: maxChars,
      keep: { shared: longerLife(shared.life, cadence.life), session: cadence.life },
    });
    const shown = window.entries.map(({ message }) => message);
    const given = [...snapshot.sections, ...sections];
    const holdsOthersWords =
      enclosed.hasThirdPartyText ||
      given.some((section) => section.hasThirdPartyText === true) ||
      shown.some((message) => showsOthers(message, context));
    const repeatedAt = newestTime([
      ...enclosed.repeatedAt,
      ...shown.map(({ id }) => repeating.get(id)),
      ...given.map(({ thirdPartyTextAt: at }) => (at && answerCounts(at, context.now) ? at : undefined)),
    ]);
    const notes = prompt.leftOut.length === 0 ? [] : [leftOutNote(prompt.leftOut)];
    return {
      prompt,
      hasThirdPartyText: holdsOthersWords || repeatedAt !== undefined,
      thirdPartyTextAt: holdsOthersWords ? undefined : repeatedAt,
      notes,
    };
  }
}

/** When the turn's messages were written, if that may be another "today" [H3]. */
function writtenWhen({ messages, now }: TurnContext, timeZone: string): string | undefined {
  const moments = [...messages, { at: now.toISOString() }].map((message) => ({
    message,
    when: localMoment(new Date(message.at), timeZone),
  }));
  const told = datedAmong(moments);
  if (told.length === 1) return undefined;
  const whens = told.filter(({ message }) => messages.some((each) => each === message));
  return whens.map(({ when }) => when).join(', ');
}

/** How the speaker's turns followed each other, from history alone, as after a restart. */
function cadenceIn(earlier: readonly ChatMessage[], { speaker, place }: TurnContext): Cadence {
  const answered = new Set(earlier.map(({ answers }) => answers));
  const own = earlier.filter(({ author }) => author.id === speaker.id);
  const turns = own.filter(({ id }) => place.audience === 'dm' || answered.has(id));
  return { turns: turns.map(({ at }) => Date.parse(at)), life: undefined };
}

/** Files that a line under the answer names. */
const maxNamedFiles = 5;

function leftOutNote(files: readonly string[]): string {
  const more = files.length - maxNamedFiles;
  return `📎 Not read in full: ${[...files.slice(0, maxNamedFiles), ...(more > 0 ? [`${more} more`] : [])].join(', ')}`;
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

const offFrame = { name: 'turn_facts', slot: 'last', title: 'About this turn:' } as const;
const offLine =
  'Memory is switched off in this channel: you know nothing of earlier conversations here, keep nothing of this one, and have no tools for memory. Say so where it matters; in other channels and in direct messages you remember.';

const pausedLine =
  'This person has paused their memory: nothing that is said is kept until they resume it, and tools that store refuse. What was kept before may be used. Promise to remember nothing.';

const awayLine =
  'Memory cannot be read or written right now: nothing that is said is kept, and what was kept before is not at hand. Promise to remember nothing.';

/** Instead of all layers. */
const memoryIsOff = factOf('memory switch', offLine);
/** Besides all layers [K9]. */
const memoryIsPaused = factOf('pause', pausedLine);
/** Besides all layers, which then say nothing. */
const memoryIsAway = factOf('memory away', awayLine);

function factOf(name: string, line: string): SectionSource<TurnContext> {
  const frame = { ...offFrame, lines: [line] };
  return { name, sections: async () => [{ ...frame, budget: renderSection(frame).length }] };
}

/** What the messages of a turn bring along, read for this turn only. */
export interface Enclosures {
  readonly replied: readonly (RepliedMessage | 'gone')[];
  readonly forwards: readonly ForwardedMessage[];
  readonly files: readonly OpenedFile[];
  /** Whether anything in it is not the speaker's or this bot's [M5a]. */
  readonly hasThirdPartyText: boolean;
  /**
   * When such words were last in view of quoted answers that may repeat them and still count; ISO 8601, UTC.
   */
  readonly repeatedAt: readonly string[];
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
  const meant = found
    .filter((each) => each !== 'gone' && each !== 'hidden')
    .filter(({ id }) => messages.every((each) => each.id !== id));
  const forwards = [...meant, ...context.messages, ...messages].flatMap((message) => message.forwards ?? []);
  const files = await attachments.open(
    [...context.messages, ...forwards, ...meant, ...messages].flatMap((each) => each.files ?? []),
    context.speaker.id,
    signal,
  );
  const quotes = await Promise.all(messages.map((each) => judgeQuote(each, context, readReplied)));
  const mayRepeat = quotes.includes('answer to more');
  const repeated = await countsAsOthersWords(messages, () => mayRepeat, context, { log, logger });
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
    repeatedAt: [...repeated.values()],
  };
}

export function enclosedSections(
  { replied, forwards }: Pick<Enclosures, 'replied' | 'forwards'>,
  nameOf: NextWindow['nameOf'],
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
  const known = new Map<string, ReturnType<ReadReplied>>();
  const read: ReadReplied = (reference) => {
    const reading = known.get(reference.id) ?? readReplied(reference);
    known.set(reference.id, reading);
    return reading;
  };
  /** Who asked what an answer answers, and when. */
  const questionOf = async ({ answers, channelId }: RepliedMessage) => {
    if (answers === undefined) return undefined;
    if (place.audience === 'dm') return { author: speaker, at: snowflakeTime(answers).toISOString() };
    const question = await read({ channelId, id: answers });
    return question === 'gone' || question === 'hidden' ? undefined : question;
  };
  return async (reference) => {
    const found = await read(reference);
    if (found === 'gone' || found === 'hidden') return found;
    const said = found.author.kind === 'self' ? await questionOf(found) : found;
    return said !== undefined && (await people.erasedBy(said.author.id))(said.at) ? 'gone' : found;
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
  { author, heard, hasThirdPartyText, answers, channelId }: RepliedMessage,
  { speaker, place }: TurnContext,
  readReplied: ReadReplied,
): Promise<"others'" | 'answer to more' | 'own'> {
  if (author.kind !== 'self') return author.id === speaker.id && heard === undefined ? 'own' : "others'";
  if (hasThirdPartyText === true) return "others'";
  if (place.audience === 'dm') return 'answer to more';
  if (answers === undefined) return 'own';
  const question = await readReplied({ channelId, id: answers });
  if (question === 'gone' || question === 'hidden' || question.author.id !== speaker.id) return "others'";
  return question.hasThirdPartyText === true ? 'answer to more' : 'own';
}
