import type { Memory } from './compose-memory.ts';
import type { Config } from './config/config.ts';
import type { HistoryPort } from './core/chat.ts';
import { ModelError } from './core/errors.ts';
import type { Logger } from './core/logger.ts';
import type { ModelClient } from './core/model.ts';
import type { Tool } from './core/tool.ts';
import { createForgetItemTool } from './memory/durable/forget-item-tool.ts';
import { createRememberItemTool } from './memory/durable/remember-item-tool.ts';
import { createRecallTool } from './memory/recall/recall-tool.ts';
import { runToolLoop } from './model/tool-loop.ts';
import { PromptComposer } from './turn/prompt-composer.ts';
import type { AnswerTurn } from './turn/turn-runner.ts';

/** Output tokens of an answer at most: some 12,000 characters. */
const answerMaxTokens = 4096;

export interface AnswerPorts {
  readonly model: ModelClient;
  readonly history: HistoryPort;
  readonly logger: Logger;
}

/** Reads memory, builds the prompt, and lets the model answer with its tools. */
export function composeAnswer(
  config: Config,
  memory: Memory,
  { model, history, logger }: AnswerPorts,
): AnswerTurn {
  const composer = new PromptComposer({
    readers: memory.readers,
    soul: memory.workspace.soul,
    history,
    timeZone: config.timeZone,
    historyBudget: config.prompt.historyBudget,
    maxChars: config.prompt.maxChars,
    logger,
  });
  const tools = [
    ...memory.notebook.tools,
    ...(config.recall.enabled
      ? [createRecallTool({ recall: memory.recall, defaultLimit: config.recall.defaultLimit })]
      : []),
    ...(config.durable.enabled ? durableTools(memory) : []),
  ];
  return async (turn, { signal, onText }) => {
    let soFar = '';
    const { prompt, othersPresent } = await composer.compose(turn);
    const { system, messages } = prompt;
    const context = { ...turn, othersPresent };
    const { text, stop } = await runToolLoop({
      client: model,
      request: { purpose: 'chat', model: config.model.main, system, messages, maxTokens: answerMaxTokens },
      tools,
      context,
      deadlineMs: config.model.totalTimeoutMs,
      signal,
      onText(piece) {
        soFar += piece;
        onText(soFar);
      },
      onRestart() {
        soFar = '';
      },
      logger,
    });
    // What the time limit or a refusal ended is no whole answer: it is shown as the part that came, marked, and logged [§12].
    if (stop === 'timeout' || stop === 'refusal') {
      const failure = stop === 'timeout' ? 'timeout' : 'invalid';
      throw new ModelError(`The answer broke off (${stop})`, failure, { partialText: text });
    }
    return { text, stop: stop === 'cut' ? 'cut' : 'whole' };
  };
}

function durableTools({ durable, sessionLog }: Memory): readonly Tool[] {
  return [
    createRememberItemTool({ durable, stillThere: (session, id) => sessionLog.message(session, id) }),
    createForgetItemTool({ durable }),
  ];
}
