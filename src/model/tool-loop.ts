import { setImmediate } from 'node:timers/promises';

import { conditionOf, ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { sourcesShown, type ToolRead } from '../core/memory-source.ts';
import {
  textOf,
  type ModelCallOptions,
  type ModelClient,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ModelUsage,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../core/model.ts';
import { clip } from '../core/text.ts';
import { unlessAborted, startDeadline } from '../core/time.ts';
import { offerText, type MemoryNotice, type Offer, type Tool, type ToolOutcome } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { bareName } from './written-calls.ts';
import { withMediaFallback, type MediaBudget } from './media.ts';

/** `onText` gets the text of all rounds, with blank lines between them; `onQueue` may be called in any round. */
export interface ToolLoopOptions extends ModelCallOptions {
  readonly client: ModelClient;
  /** The request of the first round, without tools. */
  readonly request: Omit<ModelRequest, 'tools'>;
  /** Sent with every round, always the same list [P2]. */
  readonly tools: readonly Tool[];
  readonly context: TurnContext;
  /** An answer without text is not a failure. */
  readonly mayBeSilent?: true;
  /** Characters of all that tools give, since every round sends it again. Default: 40,000 [P4]. */
  readonly resultsMaxChars?: number | undefined;
  /** Rounds of tool calls. Default: 8 [M6]. */
  readonly maxRounds?: number;
  /** Milliseconds for the whole loop, tools included. */
  readonly deadlineMs: number;
  readonly mediaBudget?: MediaBudget;
  /** Called with notes for people, even if the answer fails later. */
  readonly onNote?: (note: string) => void;
  /** Called with changes to the speaker's memory, even if the answer fails later. */
  readonly onNotice?: (notice: MemoryNotice) => void;
  /** Called with what a tool offers instead of doing it; returns whether the person will see it. */
  readonly onOffer?: (offer: Offer) => boolean;
  /** Called when a tool has shown the model text by others; later tools know it [M5a]. */
  readonly onThirdPartyText?: (mark: string) => void;
  /** Called with what a tool gave the model: the memory in it [K7], and its characters. */
  readonly onRead?: (read: ToolRead, characters: number) => void;
  /** Called with what each round took at the model that answered. */
  readonly onUsage?: (usage: ModelUsage, model: string) => void;
  readonly logger: Logger;
}

export interface LoopResult {
  /** Empty only where it may be, or where a tool has done what was asked [M15]. */
  readonly text: string;
  /** `cut`: the model's output limit; `rounds` and `timeout`: the loop's own, with the best text so far [M6]. */
  readonly stop: 'end' | 'cut' | 'refusal' | 'rounds' | 'timeout';
  /** The model's server refuses tools [M9]. */
  readonly hadNoTools: boolean;
}

/** For people, where the model's server takes no such files [M9]. */
const unseenNotes = {
  pictures: '📎 The model that I use cannot see pictures',
  documents: '📎 The model that I use cannot open PDF files',
} as const;

const defaultMaxRounds = 8;
const resultMaxChars = 8_000;
const allResultsMaxChars = 40_000;
/** Every result may have so many: the model must know what was done. */
const resultLeastChars = 300;
const betweenRounds = '\n\n';
const notRun =
  'Not run: no more tool calls are possible in this turn. Answer now with what you have, and do not claim that this was done.';

/**
 * Asks the model and runs its tool calls in order until it answers [M3]. Tool errors go to the model only. After the
 * last round, calls are not run and the model is asked once more. Rejects with `ModelError`, whose `partialText` holds the text of all
 * rounds.
 */
export async function runToolLoop(options: ToolLoopOptions): Promise<LoopResult> {
  const deadline = startDeadline(options.deadlineMs, options.signal);
  const exchange = createExchange(options);
  try {
    const { stop, hasDone } = await runRounds(options, deadline.signal, exchange);
    if (!exchange.hasText() && !options.mayBeSilent && !hasDone)
      throw new ModelError(`No text in the answer (${stop})`, stop === 'end' ? 'empty' : 'invalid');
    return exchange.result(stop);
  } catch (error) {
    const reason: unknown = deadline.signal.aborted ? deadline.signal.reason : error;
    const ranOut = deadline.signal.aborted && reason instanceof ModelError && reason.failure === 'timeout';
    if (ranOut && exchange.hasText()) return exchange.result('timeout');
    throw exchange.failure(reason);
  } finally {
    deadline.end();
  }
}

async function runRounds(
  options: ToolLoopOptions,
  signal: AbortSignal,
  exchange: ReturnType<typeof createExchange>,
): Promise<{ readonly stop: LoopResult['stop']; readonly hasDone: boolean }> {
  const { request, tools, onQueue, logger, maxRounds = defaultMaxRounds } = options;
  const client = withMediaFallback(options.client, logger, (titles) =>
    options.onNote?.(`📎 My model could not read: ${titles.join(', ')}`),
  );
  const definitions = tools.map((tool) => tool.definition);
  const messages: ModelMessage[] = [...request.messages];
  let { context } = options;
  const takeMedia = options.mediaBudget?.(options.context.speaker.id, () =>
    options.onNote?.('📎 The files were too large to be looked at again on the way to this answer'),
  );
  /** People are told of it, whatever the model says. */
  let hasDone = false;
  let resultsLeft = options.resultsMaxChars ?? allResultsMaxChars;
  for (let round = 1; ; round += 1) {
    signal.throwIfAborted();
    const mayBeEmpty = hasDone || exchange.hasText() || options.mayBeSilent === true;
    const answering = client.complete(
      { ...request, messages: [...messages], tools: definitions, mayBeEmpty },
      {
        signal,
        onText: (piece) => exchange.add(piece),
        onRestart: () => exchange.restartRound(),
        onQueue,
        takeMedia,
      },
    );
    const response = await unlessAborted(signal, answering);
    exchange.endRound(response);
    options.onUsage?.(response.usage, response.answeredBy ?? request.model);
    for (const feature of response.leftOut ?? [])
      if (feature === 'pictures' || feature === 'documents') options.onNote?.(unseenNotes[feature]);
    if (response.answeredBy !== undefined)
      options.onNote?.(
        `🔁 Answered by ${response.answeredBy}: ${request.model} is ${conditionOf(response.insteadFor ?? 'unavailable')}`,
      );
    const isOver = round > maxRounds + 1;
    if (response.stop !== 'tool_use' || isOver) {
      const ranOut = isOver && ['tool_use', 'end'].includes(response.stop);
      return { stop: ranOut || response.stop === 'tool_use' ? 'rounds' : response.stop, hasDone };
    }

    const results: ToolResultBlock[] = [];
    for (const call of response.content.filter((block) => block.type === 'tool_use')) {
      // Lets others run between tools that compute much [L4].
      await setImmediate();
      const outcomes: ToolOutcome[] = [];
      const onOutcome = (outcome: ToolOutcome): void => {
        outcomes.push(outcome);
        hasDone ||= [outcome.note, outcome.notice, outcome.offer].some((each) => each !== undefined);
        if (outcome.thirdPartyMark === undefined) return;
        context = { ...context, hasThirdPartyText: true };
        options.onThirdPartyText?.(outcome.thirdPartyMark);
      };
      const result =
        round > maxRounds
          ? toolResult(call, { ok: false, text: notRun })
          : await runToolCall(call, { ...options, context, onOutcome, signal });
      const text = withinResults(result.text, resultsLeft);
      resultsLeft -= text.length;
      const sources = outcomes.flatMap((outcome) => sourcesShown(outcome, text));
      const tool = toolNamed(call.name, tools)?.definition.name ?? call.name;
      options.onRead?.({ tool, sources }, text.length);
      results.push({ ...result, text });
    }
    // Only the next round, within seconds, reads this from the cache.
    const content = results.map((each, index) =>
      index < results.length - 1 ? each : { ...each, cache: '5m' as const },
    );
    messages.push({ role: 'assistant', content: response.content }, { role: 'user', content });
  }
}

/** The text, cut to the characters left for results. */
function withinResults(text: string, left: number): string {
  const max = Math.max(resultLeastChars, left);
  if (text.length <= max) return text;
  const end = '\n(cut: the tools have given all that fits into one turn; answer with what you have)';
  return clip(text, max - end.length) + end;
}

/** At most 8,000 characters [P4]; failures show no details [M6]. Rejects only with the signal's reason. */
export async function runToolCall(
  call: ToolUseBlock,
  options: Pick<ToolLoopOptions, 'tools' | 'context' | 'onNote' | 'onNotice' | 'onOffer' | 'logger'> & {
    readonly signal: AbortSignal;
    readonly onOutcome?: (outcome: ToolOutcome) => void;
  },
): Promise<ToolResultBlock> {
  const { tools, context, signal, onNote, onOffer, logger } = options;
  const tool = toolNamed(call.name, tools);
  if (tool === undefined) {
    const names = tools.map(({ definition }) => definition.name).join(', ');
    return toolResult(call, { ok: false, text: `There is no such tool. The tools are: ${names || 'none'}` });
  }
  signal.throwIfAborted();
  try {
    const outcome = await unlessAborted(signal, tool.run(call.input, context, signal));
    options.onOutcome?.(outcome);
    if (outcome.note !== undefined) onNote?.(outcome.note);
    if (outcome.notice !== undefined) options.onNotice?.(outcome.notice);
    if (outcome.offer === undefined) return toolResult(call, outcome);
    return toolResult(call, { ok: false, text: `${outcome.text} ${offerNote(outcome.offer, onOffer)}` });
  } catch (error) {
    signal.throwIfAborted();
    logger.error('tool failed', { tool: call.name, error });
    return toolResult(call, { ok: false, text: 'The tool failed. Do not claim that it succeeded.' });
  }
}

function toolNamed(name: string, tools: readonly Tool[]): Tool | undefined {
  const named = (exact: string) => tools.find(({ definition }) => definition.name === exact);
  return named(name) ?? named(bareName(name));
}

/** Offers the action to the person if possible; returns what the model is told. */
function offerNote(offer: Offer, onOffer: ToolLoopOptions['onOffer']): string {
  if (offerText(offer) === undefined || onOffer?.(offer) !== true)
    return 'It cannot be offered to them by a button either: ask them to say in their own words what is to be done.';
  return `Nothing was done. Under your answer the person is shown a button that would do this: ${offer.what} Tell them so in a few words, and do not claim that it was done.`;
}

function toolResult(call: ToolUseBlock, outcome: ToolOutcome): ToolResultBlock {
  return {
    type: 'tool_result',
    toolUseId: call.id,
    text: clip(outcome.text, resultMaxChars),
    isError: !outcome.ok,
  };
}

/** Collects a loop's text; what `onText` was given is always the text so far. */
function createExchange({ onText, onRestart }: Pick<ToolLoopOptions, 'onText' | 'onRestart'>) {
  let ended = '';
  let round = '';
  let hadNoTools = false;

  /** All rounds so far; white space alone is held back until something follows. */
  const text = (): string => {
    const parts = round.trim() === '' ? [ended] : [ended, round];
    const gap = betweenRounds.slice(/\n{0,2}$/u.exec(ended)?.[0].length);
    return parts.filter((part) => part !== '').join(gap);
  };
  const hasText = (): boolean => text().trim() !== '';

  function add(piece: string): void {
    const before = text().length;
    round += piece;
    const shown = text().slice(before);
    if (shown !== '') onText?.(shown);
  }

  return {
    hasText,
    add,
    restartRound(): void {
      round = '';
      onRestart?.();
      if (ended !== '') onText?.(ended);
    },
    /** Takes the whole text where nothing was streamed. */
    endRound({ content, leftOut }: ModelResponse): void {
      hadNoTools ||= leftOut?.includes('tools') === true;
      if (round === '') add(textOf(content));
      ended = text();
      round = '';
    },
    result: (stop: LoopResult['stop']): LoopResult => ({ text: text(), stop, hadNoTools }),
    failure(error: unknown): ModelError {
      const { message, failure, cause, partialText, retryAfterMs } =
        error instanceof ModelError
          ? error
          : new ModelError('The exchange with the model failed', 'broken', { cause: error });
      const before = hasText() ? text() : partialText;
      return new ModelError(message, failure, { cause, partialText: before, retryAfterMs });
    },
  };
}
