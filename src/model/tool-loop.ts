import { setImmediate } from 'node:timers/promises';

import { ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { sourcesShown, type ToolRead } from '../core/memory-source.ts';
import {
  textOf,
  type ModelCallOptions,
  type ModelClient,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../core/model.ts';
import { clip } from '../core/text.ts';
import { unlessAborted } from '../core/time.ts';
import { offerText, type MemoryNotice, type Offer, type Tool, type ToolOutcome } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { startDeadline } from './deadline.ts';
import { withMediaFallback, type MediaBudget } from './media.ts';

/**
 * The call options hold for the loop as a whole: the pieces given to `onText` together are the result's text, the rounds set apart by
 * blank lines, and `onQueue` is called in any round.
 */
export interface ToolLoopOptions extends ModelCallOptions {
  readonly client: ModelClient;
  /** The request of the first round, without tools. */
  readonly request: Omit<ModelRequest, 'tools'>;
  /** Sent with every round, always the same list [P2]. */
  readonly tools: readonly Tool[];
  readonly context: TurnContext;
  /** The tools' work is what counts: an answer without text is no failure. */
  readonly mayBeSilent?: true;
  /** Rounds of tool calls that are run. Default: 8 [M6]. */
  readonly maxRounds?: number;
  /** Milliseconds for the whole loop, tools included. */
  readonly deadlineMs: number;
  /** What may be sent of attached files, this turn's and this person's; without it, all. */
  readonly mediaBudget?: MediaBudget;
  /** Called with what people are to be told of a tool's work, whatever becomes of the answer. */
  readonly onNote?: (note: string) => void;
  /** Called with what a tool has done to the speaker's memory, whatever becomes of the answer. */
  readonly onNotice?: (notice: MemoryNotice) => void;
  /** Called with what a tool offers instead of doing it; whether the person will be shown it. Without it nothing can be offered. */
  readonly onOffer?: (offer: Offer) => boolean;
  /** Called when a tool has shown the model what is not the speaker's; the tools after it know [M5a]. */
  readonly onThirdPartyText?: (outcome: Pick<ToolOutcome, 'retells' | 'thirdPartyTextAt'>) => void;
  /** Called with what the model is shown of memory by a tool, as far as it is [K7]. */
  readonly onRead?: (read: ToolRead) => void;
  readonly logger: Logger;
}

export interface LoopResult {
  /** Has at least one visible character, unless the answer may be silent. */
  readonly text: string;
  /**
   * `cut`: the output limit was reached. `rounds`, `timeout`: the loop's own limit was, and the text is the best answer so
   * far [M6].
   */
  readonly stop: 'end' | 'cut' | 'refusal' | 'rounds' | 'timeout';
  /** The model had no tools, since its server refuses them [M9]. */
  readonly hadNoTools: boolean;
}

/** What people are told where the model's server takes no such files [M9]. */
const unseenNotes = {
  pictures: '📎 The model that I use cannot see pictures',
  documents: '📎 The model that I use cannot open PDF files',
} as const;

const defaultMaxRounds = 8;
const resultMaxChars = 8_000;
/** Characters of all tool results of a loop at most, as much as a whole prompt: every round sends them again [P4]. */
const resultsMaxChars = 40_000;
/** What a result may have in any case: that something was done is always told. */
const resultLeastChars = 300;
const betweenRounds = '\n\n';
const notRun =
  'Not run: no more tool calls are possible in this turn. Answer now with what you have, and do not claim that this was done.';

/**
 * Asks the model, runs the tools it calls one after the other, and sends the whole exchange again, until it answers [M3]. Tool
 * errors go to the model only. Calls after the last round are not run; the model is told so and asked once more. Rejects with `ModelError`,
 * whose `partialText` holds the texts of all rounds: `invalid` where there is no text in the end, else as the client failed.
 */
export async function runToolLoop(options: ToolLoopOptions): Promise<LoopResult> {
  const deadline = startDeadline(options.deadlineMs, options.signal);
  const exchange = createExchange(options);
  try {
    const stop = await runRounds(options, deadline.signal, exchange);
    if (!exchange.hasText() && options.mayBeSilent === undefined)
      throw new ModelError(`No text in the answer (${stop})`, 'invalid');
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
): Promise<LoopResult['stop']> {
  const { request, tools, after, onQueue, logger, maxRounds = defaultMaxRounds } = options;
  const client = withMediaFallback(options.client, logger, (titles) =>
    options.onNote?.(`📎 My model could not read: ${titles.join(', ')}`),
  );
  const definitions = tools.map((tool) => tool.definition);
  const messages: ModelMessage[] = [...request.messages];
  let { context } = options;
  const takeMedia = options.mediaBudget?.(options.context.speaker.id, () =>
    options.onNote?.('📎 The files were too large to be looked at again on the way to this answer'),
  );
  let resultsLeft = resultsMaxChars;
  for (let round = 1; ; round += 1) {
    signal.throwIfAborted();
    const asked = client.complete(
      { ...request, messages: [...messages], tools: definitions },
      {
        signal,
        onText: (piece) => exchange.add(piece),
        onRestart: () => exchange.restartRound(),
        after,
        onQueue,
        takeMedia,
      },
    );
    const response = await unlessAborted(signal, asked);
    exchange.endRound(response);
    for (const feature of response.leftOut ?? [])
      if (feature === 'pictures' || feature === 'documents') options.onNote?.(unseenNotes[feature]);
    const isOver = round > maxRounds + 1;
    if (response.stop !== 'tool_use') return isOver && response.stop === 'end' ? 'rounds' : response.stop;
    if (isOver) return 'rounds';

    const results: ToolResultBlock[] = [];
    for (const call of response.content.filter((block) => block.type === 'tool_use')) {
      // Each in its own turn of the event loop: what they compute does not add up [L4].
      await setImmediate();
      const outcomes: ToolOutcome[] = [];
      const onOutcome = (outcome: ToolOutcome): void => {
        outcomes.push(outcome);
        if (outcome.hasThirdPartyText !== true) return;
        context = { ...context, hasThirdPartyText: true };
        options.onThirdPartyText?.(outcome);
      };
      const result =
        round > maxRounds
          ? toolResult(call, { ok: false, text: notRun })
          : await runToolCall(call, { ...options, context, onOutcome, signal });
      const text = withinResults(result.text, resultsLeft);
      resultsLeft -= text.length;
      const sources = outcomes.flatMap((outcome) => sourcesShown(outcome, text));
      if (sources.length > 0) options.onRead?.({ tool: call.name, sources });
      results.push({ ...result, text });
    }
    // What the loop has sent is read again within seconds if it goes on, and by nobody after it.
    const content = results.map((each, index) =>
      index < results.length - 1 ? each : { ...each, cache: '5m' as const },
    );
    messages.push({ role: 'assistant', content: response.content }, { role: 'user', content });
  }
}

/** A result's text where so many characters are left for results. */
function withinResults(text: string, left: number): string {
  const max = Math.max(resultLeastChars, left);
  if (text.length <= max) return text;
  const end = '\n(cut: the tools have given all that fits into one turn; answer with what you have)';
  return clip(text, max - end.length) + end;
}

/**
 * Runs one tool call and gives what the model is told of it, at most 8,000 characters [P4]. An unknown name and a tool that throws
 * are told as errors, without what went wrong inside [M6]. Rejects only with the signal's reason, at once when it is aborted.
 */
export async function runToolCall(
  call: ToolUseBlock,
  options: Pick<ToolLoopOptions, 'tools' | 'context' | 'onNote' | 'onNotice' | 'onOffer' | 'logger'> & {
    readonly signal: AbortSignal;
    readonly onOutcome?: (outcome: ToolOutcome) => void;
  },
): Promise<ToolResultBlock> {
  const { tools, context, signal, onNote, onOffer, logger } = options;
  const tool = tools.find(({ definition }) => definition.name === call.name);
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
    return toolResult(call, { ok: false, text: `${outcome.text} ${askedFor(outcome.offer, onOffer)}` });
  } catch (error) {
    signal.throwIfAborted();
    logger.error('tool failed', { tool: call.name, error });
    return toolResult(call, { ok: false, text: 'The tool failed. Do not claim that it succeeded.' });
  }
}

/** Puts the offer before the person where it can be, and tells the model whether it was. */
function askedFor(offer: Offer, onOffer: ToolLoopOptions['onOffer']): string {
  if (offerText(offer) === undefined || onOffer?.(offer) !== true)
    return 'It cannot be offered to them by a button either: ask them to say in their own words what is to be done.';
  return `Nothing was done. Under your answer the person is shown a button that would do this: ${offer.what} Tell them so in a few words, and do not claim that it was done.`;
}

/** A tool's outcome as the model gets it. */
function toolResult(call: ToolUseBlock, outcome: ToolOutcome): ToolResultBlock {
  return {
    type: 'tool_result',
    toolUseId: call.id,
    text: clip(outcome.text, resultMaxChars),
    isError: !outcome.ok,
  };
}

/** What a loop adds up on its way. What the listener was given of the text is always the text so far. */
function createExchange({ onText, onRestart }: Pick<ToolLoopOptions, 'onText' | 'onRestart'>) {
  let ended = '';
  let round = '';
  let hadNoTools = false;

  /** The texts of all rounds so far. White space alone is held back until something follows it. */
  const text = (): string => {
    const parts = round.trim() === '' ? [ended] : [ended, round];
    return parts.filter((part) => part !== '').join(betweenRounds);
  };
  const hasText = (): boolean => text().trim() !== '';

  /** Adds to the present round. */
  function add(piece: string): void {
    const before = text().length;
    round += piece;
    const shown = text().slice(before);
    if (shown !== '') onText?.(shown);
  }

  return {
    hasText,
    add,
    /** The present round begins again: its text was taken back. */
    restartRound(): void {
      round = '';
      onRestart?.();
      if (ended !== '') onText?.(ended);
    },
    /** Ends the round; the whole text counts if nothing of it was streamed. */
    endRound({ content, leftOut }: ModelResponse): void {
      hadNoTools ||= leftOut?.includes('tools') === true;
      if (round === '') add(textOf(content));
      ended = text();
      round = '';
    },
    result: (stop: LoopResult['stop']): LoopResult => ({ text: text(), stop, hadNoTools }),
    /** Why the loop failed, with the text that there is. */
    failure(error: unknown): ModelError {
      const { message, failure, cause, partialText } =
        error instanceof ModelError
          ? error
          : new ModelError('The exchange with the model failed', 'broken', { cause: error });
      return new ModelError(message, failure, { cause, partialText: hasText() ? text() : partialText });
    },
  };
}
