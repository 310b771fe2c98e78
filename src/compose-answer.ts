import type { Memory } from './compose-memory.ts';
import type { Config } from './config/config.ts';
import type { HistoryPort } from './core/chat.ts';
import { ModelError } from './core/errors.ts';
import type { Logger } from './core/logger.ts';
import type { ModelClient } from './core/model.ts';
import type { ActionTools, Tool } from './core/tool.ts';
import type { TurnContext } from './core/turn-context.ts';
import { createForgetItemTool, createRememberItemTool } from './memory/durable/tools.ts';
import { createRecallTool } from './memory/recall/tool.ts';
import { runToolLoop } from './model/tool-loop.ts';
import { createReadEnclosures, type EnclosurePorts } from './turn/enclosures.ts';
import { createActionSwitch } from './turn/action-switch.ts';
import { PromptComposer } from './turn/prompt-composer.ts';
import type { AnswerTurn } from './turn/turn-runner.ts';
import type { WaitingReactions } from './turn/waiting-reactions.ts';

/** Output tokens of an answer at most: some 12,000 characters. */
const answerMaxTokens = 4096;

export interface AnswerPorts extends EnclosurePorts {
  readonly model: ModelClient;
  readonly history: HistoryPort;
  readonly waitingReactions: Pick<WaitingReactions, 'begin' | 'end'>;
  /** What the model may do on Discord, where that is on. */
  readonly actions?: ActionTools;
  readonly logger: Logger;
}

/** Reads memory, builds the prompt, and lets the model answer with its tools. */
export function composeAnswer(config: Config, memory: Memory, ports: AnswerPorts): AnswerTurn {
  const { model, history, waitingReactions, logger } = ports;
  const actions = createActionSwitch(
    config.discord.actionsEnabled ? ports.actions : undefined,
    memory.placeSettings.areActionsOff,
  );
  const composer = new PromptComposer({
    readers: [...memory.readers, actions.reader],
    soul: memory.workspace.soul,
    history,
    enclosures: createReadEnclosures(ports),
    timeZone: config.timeZone,
    historyBudget: config.prompt.historyBudget,
    maxChars: config.prompt.maxChars,
    logger,
  });
  const memoryTools = memory.memorySwitch.tools([
    ...memory.notebook.tools,
    ...(config.recall.enabled ? [createRecallTool(memory.recall, config.recall.defaultLimit)] : []),
    ...(config.durable.enabled ? durableTools(memory) : []),
  ]);
  return async (turn, signal, { onText, onNote }) => {
    let soFar = '';
    const [{ prompt, hasThirdPartyText }, isMemoryOff, actionTools] = await Promise.all([
      composer.compose(turn, signal),
      memory.memorySwitch.isOff(turn),
      actions.toolsIn(turn.place),
    ]);
    const { system, messages } = prompt;
    const context = { ...turn, hasThirdPartyText };
    const { text, stop } = await runToolLoop({
      client: model,
      request: { purpose: 'chat', model: config.model.main, system, messages, maxTokens: answerMaxTokens },
      tools: [...(isMemoryOff ? [] : memoryTools), ...actionTools],
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
      onQueue: showWaiting(turn, waitingReactions),
      onNote,
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

/** Shows at the newest message of a turn that it waits for a place at the model; it is there until the place, or the turn's end. */
function showWaiting({ messages, place }: TurnContext, reactions: AnswerPorts['waitingReactions']) {
  const newest = { id: messages.at(-1)?.id ?? '', channelId: place.channelId };
  return (isWaiting: boolean): void => (isWaiting ? reactions.begin(newest) : reactions.end(newest));
}

function durableTools({ durable, sessionLog }: Memory): readonly Tool[] {
  return [
    createRememberItemTool({ durable, stillThere: (session, id) => sessionLog.message(session, id) }),
    createForgetItemTool({ durable }),
  ];
}
