import { RecentChanges } from '../../src/core/changes.ts';
import type { ModelClient, ModelResponse } from '../../src/core/model.ts';
import type { Tool } from '../../src/core/tool.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import { createCommandOrder } from '../../src/turn/commands.ts';
import { createChannelJournal } from '../../src/turn/journal.ts';
import { runTurn, type TurnPorts } from '../../src/turn/run-turn.ts';
import type { TurnControl } from '../../src/turn/sessions.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import type { IncomingMessage } from '../../src/core/chat.ts';

/** What the model of a test makes of a turn: pieces of text and notes on its way, and the answer in the end. */
export type AnswerTurn = (
  turn: TurnContext,
  signal: AbortSignal,
  told: { readonly onText: (soFar: string) => void; readonly onNote: (note: string) => void },
) => Promise<{ readonly text: string; readonly stop: 'whole' | 'cut' }>;

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Lets everything happen that waits for nothing. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** A tool whose work people are told of, in the words of its input. */
const noteTool: Tool = {
  definition: { name: 'note', description: 'Notes', inputSchema: { type: 'object' } },
  run: (input) => Promise.resolve({ ok: true, text: 'done', note: String(input) }),
};

/** The real turn between fakes that note in which order they were used. */
export function turnWith(answer: AnswerTurn, changes: Partial<TurnPorts> = {}) {
  const steps: string[] = [];
  const store = new MemoryStore();
  const journal = createChannelJournal({ store, changes: new RecentChanges() });
  const logger = recordingLogger();
  let present: TurnContext | undefined;
  let isWhole = false;
  const channel = fakeReplies({ note: (step) => steps.push(step) });
  const ports: TurnPorts = {
    commandOrder: createCommandOrder(),
    waitingReactions: {
      begin: ({ id }) => void steps.push(`waits ${id.slice(-2)}`),
      end: ({ id }) => void steps.push(`waits no longer ${id.slice(-2)}`),
      endForTurn: () => {},
    },
    settings: { isMemoryOff: () => Promise.resolve(false), areActionsOff: () => Promise.resolve(false) },
    log: {
      recordUser: ({ messages }) => Promise.resolve(void steps.push(`log ${messages.length}`)),
      recordReply: (_, { text }) => Promise.resolve(void steps.push(`log reply ${text}`)),
    },
    prompts: {
      compose: (turn) => {
        present = turn;
        return Promise.resolve({ prompt: { system: [], messages: [], parts: [] }, hasThirdPartyText: false });
      },
    },
    memoryTools: [],
    actionTools: [noteTool],
    model: modelSaying((signal, told) => {
      steps.push('model');
      if (present === undefined) throw new Error('The model was asked without a prompt');
      isWhole = false;
      return answer(present, signal, told).finally(() => {
        isWhole = true;
      });
    }),
    modelName: 'sonnet',
    answerTimeoutMs: 10_000,
    afterTurn: { schedule: () => steps.push('after turn') },
    journal,
    replies: {
      ...channel,
      begin(start) {
        const reply = channel.begin(start);
        const show = reply.show.bind(reply);
        // The real reply waits a moment before it shows anything: of what is whole by then no part is shown.
        reply.show = (text) => (isWhole ? undefined : show(text));
        return reply;
      },
    },
    presentPlace: (place) => Promise.resolve(place),
    clock: () => new Date('2026-01-15T10:00:00Z'),
    logger,
    makeReference: () => 'abc123',
    ...changes,
  };
  const run = (messages: readonly IncomingMessage[], control: TurnControl) =>
    runTurn(messages, control, ports);
  return { run, steps, journal, logger };
}

type Said = Parameters<AnswerTurn>[2];

/** A client whose every turn is one answer; where notes come up, the tool that makes them is called first. */
function modelSaying(answer: (signal: AbortSignal, told: Said) => ReturnType<AnswerTurn>): ModelClient {
  let settled: ReturnType<AnswerTurn> | undefined;
  return {
    isOffline: false,
    async complete(_request, { signal = new AbortController().signal, onText = () => {} } = {}) {
      const notes: string[] = [];
      let shown = '';
      if (settled === undefined) {
        settled = answer(signal, {
          onText(soFar) {
            onText(soFar.slice(shown.length));
            shown = soFar;
          },
          onNote: (note) => notes.push(note),
        });
        await settled.catch(() => {});
        if (notes.length > 0) return { content: notes.map(callOf), stop: 'tool_use', usage };
      }
      const { text, stop } = await settled.finally(() => {
        settled = undefined;
      });
      onText(text.slice(shown.length));
      return { content: [{ type: 'text', text }], stop: stop === 'cut' ? 'cut' : 'end', usage };
    },
  };
}

function callOf(input: string, index: number): ModelResponse['content'][number] {
  return { type: 'tool_use', id: `call ${index}`, name: 'note', input };
}
