import type { Logger } from '../core/logger.ts';
import type { ToolResultBlock, ToolUseBlock } from '../core/model.ts';
import { clip } from '../core/text.ts';
import type { Tool, ToolOutcome } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { untilAborted } from './until-aborted.ts';

const resultMaxChars = 8_000;

export interface ToolCallOptions {
  readonly tools: readonly Tool[];
  readonly context: TurnContext;
  readonly signal: AbortSignal;
  /** Called with what people are to be told of the call. */
  readonly onNote?: ((note: string) => void) | undefined;
  readonly logger: Logger;
}

/**
 * Runs one tool call and gives what the model is told of it, at most 8,000 characters [P4]. An unknown name and a tool that throws
 * are told as errors, without what went wrong inside [M6]. Rejects only with the signal's reason, at once when it is aborted.
 */
export async function runToolCall(call: ToolUseBlock, options: ToolCallOptions): Promise<ToolResultBlock> {
  const { tools, context, signal, onNote, logger } = options;
  const tool = tools.find(({ definition }) => definition.name === call.name);
  if (tool === undefined) {
    const names = tools.map(({ definition }) => definition.name).join(', ');
    return toolResult(call, { ok: false, text: `There is no such tool. The tools are: ${names || 'none'}` });
  }
  signal.throwIfAborted();
  try {
    const outcome = await untilAborted(tool.run(call.input, context, signal), signal);
    if (outcome.note !== undefined) onNote?.(outcome.note);
    return toolResult(call, outcome);
  } catch (error) {
    signal.throwIfAborted();
    logger.error('tool failed', { tool: call.name, error });
    return toolResult(call, { ok: false, text: 'The tool failed. Do not claim that it succeeded.' });
  }
}

/** A tool's outcome as the model gets it. */
export function toolResult(call: ToolUseBlock, outcome: ToolOutcome): ToolResultBlock {
  return {
    type: 'tool_result',
    toolUseId: call.id,
    text: clip(outcome.text, resultMaxChars),
    isError: !outcome.ok,
  };
}
