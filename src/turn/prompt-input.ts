import { LRUCache } from 'lru-cache';

import type {
  AttachmentPort,
  ChatMessage,
  HistoryPort,
  OpenedFile,
  ReadReplied,
  RepliedMessage,
} from '../core/chat.ts';
import { localDateTime } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import { sessionName } from '../core/place.ts';
import { renderSection, type Section, type SectionSource } from '../core/section.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import { buildPrompt, type Prompt } from '../prompt/build-prompt.ts';
import { nextWindow, windowMessages, type HistoryWindow } from '../prompt/history.ts';
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
   * answer that is shown may repeat a question or a file that is not, or a question that was deleted since [M5a].
   */
  readonly hasThirdPartyText: boolean;
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
    const [sections, soulText, earlier, enclosed] = await Promise.all([
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
    const { window, wasRebuilt } = nextWindow(state?.window, earlier, historyBudget);
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
      last: [...sections.filter((section) => section.slot === 'last'), changes, ...enclosed.sections],
      message: {
        speakerName: context.speaker.name,
        messages: context.messages,
        place: context.place,
        localTime: localDateTime(context.now, timeZone),
      },
      files: enclosed.files,
      promptMaxChars: maxChars,
    });
    const hasThirdPartyText =
      enclosed.hasThirdPartyText ||
      earlier.some((message) => isOfOthers(message, context)) ||
      answersUnknown(earlier, context);
    return { prompt, hasThirdPartyText };
  }
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
  'Memory is switched off in this channel by the owner of this bot: you know nothing of earlier conversations here, keep nothing of this one, and have no tools for memory. Say so where it matters; in other channels and in direct messages you remember.';

/** Instead of all layers: the model is told. */
const memoryIsOff: SectionSource<TurnContext> = {
  name: 'memory switch',
  sections: async () => [
    { ...offFrame, lines: [offLine], budget: renderSection({ ...offFrame, lines: [offLine] }).length },
  ],
};

/** What stands in the channel besides this turn's messages and what the speaker wrote after them, which is the next turn's. */
async function earlierMessages(
  { history, logger }: PromptPorts,
  { messages, place, speaker }: TurnContext,
): Promise<readonly ChatMessage[]> {
  const own = new Set(messages.map((message) => message.id));
  const newest = messages.at(-1)?.id ?? '';
  try {
    const recent = await history.recent(place.channelId, askedMessages + own.size);
    return recent.filter(
      ({ id, author }) => !own.has(id) && !(author.id === speaker.id && compareSnowflakes(id, newest) > 0),
    );
  } catch (error) {
    logger.warn('history could not be read', { channelId: place.channelId, error });
    return [];
  }
}

function isOfOthers({ author, hasThirdPartyText }: ChatMessage, { speaker }: TurnContext): boolean {
  return hasThirdPartyText === true || (author.kind !== 'self' && author.id !== speaker.id);
}

/** Whether an answer that may be shown answers what is not there any more: whose words it repeats, nobody can tell. In a DM they are the speaker's. */
function answersUnknown(earlier: readonly ChatMessage[], { place, messages }: TurnContext): boolean {
  if (place.audience === 'dm') return false;
  const known = new Set([...earlier, ...messages].map(({ id }) => id));
  return earlier.slice(-windowMessages).some(({ answers }) => answers !== undefined && !known.has(answers));
}

/** What the messages of a turn bring along, read for this turn only. */
export interface Enclosures {
  /** Quoted messages, for the turn's last message. */
  readonly sections: readonly Section[];
  readonly files: readonly OpenedFile[];
  /** Whether there is anything in it that the speaker did not write in this turn [M5a]. */
  readonly hasThirdPartyText: boolean;
}

/** Reads what a turn brings along. The message's own files come first, so that they are opened where not all can be. */
export async function readEnclosures(
  { attachments, readReplied }: Pick<PromptPorts, 'attachments' | 'readReplied'>,
  context: TurnContext,
  signal: AbortSignal,
): Promise<Enclosures> {
  const replied = await readQuoted(context, readReplied);
  const messages = replied.filter((each) => each !== 'gone');
  const forwards = [...context.messages, ...messages].flatMap((message) => message.forwards ?? []);
  const files = await attachments.open(
    [...context.messages, ...forwards, ...messages].flatMap((each) => each.files ?? []),
    signal,
  );
  const areQuotesOfOthers = await Promise.all(
    messages.map((each) => isQuoteOfOthers(each, context, readReplied)),
  );
  return {
    sections: [...replied.map(repliedSection), ...forwards.map(forwardedSection)],
    files,
    hasThirdPartyText:
      forwards.length > 0 ||
      files.some(({ kind }) => kind !== 'unopened') ||
      areQuotesOfOthers.includes(true),
  };
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
