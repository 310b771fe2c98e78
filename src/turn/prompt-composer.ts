import { LRUCache } from 'lru-cache';

import type { ChatMessage, HistoryPort } from '../core/chat.ts';
import { localDateTime } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import { sessionName } from '../core/place.ts';
import type { SectionReader } from '../core/section.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { buildPrompt } from '../prompt/build-prompt.ts';
import type { Prompt } from '../prompt/build-prompt.ts';
import { nextWindow, windowMessages } from '../prompt/history-window.ts';
import type { HistoryWindow } from '../prompt/history-window.ts';
import { promptRules } from '../prompt/rules.ts';
import { nextSnapshot } from '../prompt/snapshot.ts';
import type { Snapshot } from '../prompt/snapshot.ts';
import type { ReadEnclosures } from './enclosures.ts';
import { readSections } from './read-sections.ts';

/** Sessions whose prompt state is kept; one that falls out begins with a new snapshot, nothing more. */
const keptSessions = 1000;
/** Messages asked of history: a full window and what may lie between. */
const askedMessages = 2 * windowMessages;

export interface PromptComposerOptions {
  readonly readers: readonly SectionReader<TurnContext>[];
  readonly soul: () => Promise<string>;
  readonly history: HistoryPort;
  readonly enclosures: ReadEnclosures;
  readonly timeZone: string;
  /** Characters of history at most [H1]. */
  readonly historyBudget: number;
  /** Characters of the whole at most [P4]. */
  readonly maxChars: number;
  readonly logger: Logger;
}

export interface ComposedPrompt {
  readonly prompt: Prompt;
  /**
   * Whether the turn brings along what the speaker did not write in it, or there is any of that in what was looked at for history, shown or not: an
   * answer that is shown may repeat a question or a file that is not, or a question that was deleted since [M5a].
   */
  readonly hasThirdPartyText: boolean;
}

interface PromptState {
  readonly window: HistoryWindow;
  readonly snapshot: Snapshot;
}

/** Reads all layers, SOUL.md and history at once and builds a turn's prompt, keeping from turn to turn what the cache needs [P1][P2]. */
export class PromptComposer {
  readonly #options: PromptComposerOptions;
  readonly #states = new LRUCache<string, PromptState>({ max: keptSessions });

  constructor(options: PromptComposerOptions) {
    this.#options = options;
  }

  async compose(context: TurnContext, signal: AbortSignal): Promise<ComposedPrompt> {
    const { readers, soul, enclosures, timeZone, historyBudget, maxChars, logger } = this.#options;
    const [sections, soulText, earlier, enclosed] = await Promise.all([
      readSections(readers, context, logger),
      soul().catch((error: unknown) => {
        logger.warn('SOUL.md could not be read', { error });
        return '';
      }),
      this.#earlierMessages(context),
      enclosures(context, signal),
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

  /** What stands in the channel besides this turn's messages and what the speaker wrote after them, which is the next turn's. */
  async #earlierMessages(context: TurnContext): Promise<readonly ChatMessage[]> {
    const { history, logger } = this.#options;
    const own = new Set(context.messages.map((message) => message.id));
    const newest = context.messages.at(-1)?.id ?? '';
    try {
      const recent = await history.recent(context.place.channelId, askedMessages + own.size);
      return recent.filter(
        ({ id, author }) =>
          !own.has(id) && !(author.id === context.speaker.id && compareSnowflakes(id, newest) > 0),
      );
    } catch (error) {
      logger.warn('history could not be read', { channelId: context.place.channelId, error });
      return [];
    }
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
