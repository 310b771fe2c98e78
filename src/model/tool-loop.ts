import { ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { textOf } from '../core/model.ts';
import type {
  ModelClient,
  ModelMessage,
  ModelRequest,
  ModelUsage,
  ToolResultBlock,
  ToolUseBlock,
} from '../core/model.ts';
import type { Tool } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { startDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { LoopText } from './loop-text.ts';
import { runToolCall, toolResult } from './run-tool-call.ts';
import { untilAborted } from './until-aborted.ts';

export interface ToolLoopOptions {
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
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole loop, tools included. */
  readonly deadlineMs: number;
  /** Called with each piece of text; together they are the result's text, the rounds set apart by blank lines. */
  readonly onText?: (piece: string) => void;
  /** What was given to `onText` no longer stands; it begins again. */
  readonly onRestart?: () => void;
  /** As in `ModelCallOptions`, in any round. */
  readonly onQueue?: (isWaiting: boolean) => void;
  /** Called with what people are to be told of a tool's work, whatever becomes of the answer. */
  readonly onNote?: (note: string) => void;
  readonly logger: Logger;
}

export interface LoopResult {
  /** Has at least one visible character, unless the answer may be silent. */
  readonly text: string;
  /** Of all rounds together. */
  readonly usage: ModelUsage;
  /**
   * `cut`: the output limit was reached. `rounds`, `timeout`: the loop's own limit was, and the text is the best answer so
   * far [M6].
   */
  readonly stop: 'end' | 'cut' | 'refusal' | 'rounds' | 'timeout';
  readonly toolCalls: readonly { readonly name: string; readonly ok: boolean }[];
}

const defaultMaxRounds = 8;
const notRun =
  'Not run: no more tool calls are possible in this turn. Answer now with what you have, and do not claim that this was done.';

/**
 * Asks the model, runs the tools it calls one after the other, and sends the whole exchange again, until it answers [M3]. Tool
 * errors go to the model only. Calls after the last round are not run; the model is told so and asked once more. Rejects with `ModelError`,
 * whose `partialText` holds the texts of all rounds: `invalid` where there is no text in the end, else as the client failed.
 */
export async function runToolLoop(options: ToolLoopOptions): Promise<LoopResult> {
  const deadline = startDeadline(options.deadlineMs, options.signal);
  const text = new LoopText(options);
  const exchange = new Exchange();
  try {
    const stop = await runRounds(options, deadline, text, exchange);
    if (text.whole.trim() === '' && options.mayBeSilent === undefined)
      throw new ModelError(`No text in the answer (${stop})`, 'invalid');
    return exchange.result(text.whole, stop);
  } catch (error) {
    const reason: unknown = deadline.signal.aborted ? deadline.signal.reason : error;
    const ranOut = deadline.signal.aborted && reason instanceof ModelError && reason.failure === 'timeout';
    if (ranOut && text.whole.trim() !== '') return exchange.result(text.whole, 'timeout');
    throw withText(reason, text.whole);
  } finally {
    deadline.end();
  }
}

async function runRounds(
  options: ToolLoopOptions,
  deadline: Deadline,
  text: LoopText,
  exchange: Exchange,
): Promise<LoopResult['stop']> {
  const { client, request, tools, context, onNote, logger, maxRounds = defaultMaxRounds } = options;
  const { signal } = deadline;
  const definitions = tools.map((tool) => tool.definition);
  const messages: ModelMessage[] = [...request.messages];
  for (let round = 1; ; round += 1) {
    signal.throwIfAborted();
    const asked = client.complete(
      { ...request, messages: [...messages], tools: definitions },
      {
        signal,
        onText: (piece) => text.add(piece),
        onRestart: () => text.restartRound(),
        ...(options.onQueue === undefined ? {} : { onQueue: options.onQueue }),
      },
    );
    const response = await untilAborted(asked, signal);
    exchange.addUsage(response.usage);
    text.endRound(textOf(response.content));
    const isOver = round > maxRounds + 1;
    if (response.stop !== 'tool_use') return isOver && response.stop === 'end' ? 'rounds' : response.stop;
    if (isOver) return 'rounds';

    const results: ToolResultBlock[] = [];
    for (const call of response.content.filter((block): block is ToolUseBlock => block.type === 'tool_use')) {
      const outcome =
        round > maxRounds
          ? toolResult(call, { ok: false, text: notRun })
          : await runToolCall(call, { tools, context, signal, onNote, logger });
      exchange.addCall(call.name, !outcome.isError);
      results.push(outcome);
    }
    messages.push({ role: 'assistant', content: response.content }, { role: 'user', content: results });
  }
}

/** What a loop adds up on its way. */
class Exchange {
  #usage: ModelUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  readonly #calls: { name: string; ok: boolean }[] = [];

  addUsage(usage: ModelUsage): void {
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
      cacheReadTokens: this.#usage.cacheReadTokens + usage.cacheReadTokens,
      cacheWriteTokens: this.#usage.cacheWriteTokens + usage.cacheWriteTokens,
    };
  }

  addCall(name: string, ok: boolean): void {
    this.#calls.push({ name, ok });
  }

  result(text: string, stop: LoopResult['stop']): LoopResult {
    return { text, usage: this.#usage, stop, toolCalls: [...this.#calls] };
  }
}

function withText(error: unknown, text: string): ModelError {
  if (!(error instanceof ModelError)) {
    return new ModelError('The exchange with the model failed', 'broken', {
      cause: error,
      partialText: text,
    });
  }
  const partialText = text.trim() === '' ? error.partialText : text;
  return new ModelError(error.message, error.failure, { cause: error.cause, partialText });
}
