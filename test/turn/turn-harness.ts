import { setTimeout as sleep } from 'node:timers/promises';

import { RecentChanges } from '../../src/core/changes.ts';
import { noUsage, type ModelClient, type ModelResponse } from '../../src/core/model.ts';
import type { Offer, Tool } from '../../src/core/tool.ts';
import { type TurnContext, ownMark } from '../../src/core/turn-context.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { createPauseNotes } from '../../src/turn/turn-memory.ts';
import { createMediaBudget } from '../../src/model/media.ts';
import { runTurn, type TurnPorts } from '../../src/turn/run-turn.ts';
import { TurnControl } from '../../src/turn/sessions.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { incoming } from '../support/incoming.ts';
import { plainWrites } from '../support/plain-writes.ts';

/** What the model of a test makes of a turn: pieces of text and notes on its way, and the answer in the end. */
export type AnswerTurn = (
  turn: TurnContext,
  signal: AbortSignal,
  told: {
    readonly onText: (soFar: string) => void;
    readonly onNote: (note: string) => void;
    readonly onOffer: (what: string) => void;
  },
) => Promise<{ readonly text: string; readonly stop: 'whole' | 'cut' | 'refusal' }>;

const usage = { ...noUsage, inputTokens: 1, outputTokens: 1 };

/** Lets everything happen that waits for nothing. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** A tool whose work people are told of, in the words of its input. */
const noteTool: Tool = {
  definition: { name: 'note', description: 'Notes', inputSchema: { type: 'object' } },
  run: (input) => Promise.resolve({ ok: true, text: 'done', note: String(input) }),
};

/** A tool that offers what its input says, and answers a press with it. */
const offeringTool: Tool = {
  definition: { name: 'offer', description: 'Offers', inputSchema: { type: 'object' } },
  run: (input) =>
    Promise.resolve({
      ok: false,
      text: 'Not done.',
      offer: { what: String(input), carryOut: () => Promise.resolve(`did ${String(input)}`) },
    }),
};

/** What a test replaces. */
export type TurnChanges = Omit<Partial<TurnPorts>, 'model' | 'tools'> & {
  readonly model?: Partial<TurnPorts['model']>;
  readonly tools?: Partial<TurnPorts['tools']>;
};

/** The real turn between fakes that note in which order they were used. */
export function turnWith(answer: AnswerTurn, changes: TurnChanges = {}, hasThirdPartyText = false) {
  const steps: string[] = [];
  const store = new MemoryStore();
  const outbox = createOutbox({ store, changes: new RecentChanges() });
  const logger = recordingLogger();
  const shownOffers: Offer[] = [];
  let present: TurnContext | undefined;
  let isWhole = false;
  const channel = fakeReplies({ note: (step) => steps.push(step) });
  const ports: TurnPorts = {
    begin: plainWrites().begin,
    commandOrder: createKeyedQueue(),
    changes: { settled: () => Promise.resolve() },
    waitingReactions: {
      begin: ({ id }) => void steps.push(`waits ${id.slice(-2)}`),
      end: ({ id }) => void steps.push(`waits no longer ${id.slice(-2)}`),
      endForTurn: () => {},
    },
    settings: { isMemoryOff: () => Promise.resolve(false), areActionsOff: () => Promise.resolve(false) },
    people: {
      consent: () => Promise.resolve({ isStored: true, mode: 'auto' }),
      mayStore: () => Promise.resolve(true),
      erasedBy: () => Promise.resolve(() => false),
      mode: () => Promise.resolve('auto'),
    },
    memoryNotices: {
      under: (_, __, options) => Promise.resolve(options.present ?? { lines: [], buttons: [] }),
      why: () => Promise.resolve([]),
    },
    provenance: { record: () => Promise.resolve(), sent: () => {} },
    lateNotices: { waiting: () => Promise.resolve([]), answered: () => {} },
    untold: [],
    pauseNotes: createPauseNotes(),
    oneTimeNotices: { begin: () => Promise.resolve(undefined) },
    history: { recent: () => Promise.resolve([]) },
    log: {
      // The disk takes longer than making the prompt.
      async recordUser({ messages }) {
        await sleep(5);
        steps.push(`log ${messages.length}`);
      },
      recordReply: (_, { text }) => Promise.resolve(steps.push(`log reply ${text}`) > 0),
    },
    prompts: {
      compose: (turn, _, { tools }) => {
        present = turn;
        return Promise.resolve({
          prompt: { system: [], messages: [], parts: [], maxChars: 1000, leftOut: [], sources: [] },
          thirdPartyMark: hasThirdPartyText ? ownMark : undefined,
          names: { own: 'Discoclaw', asker: 'alice' },
          tools: new Set(tools.map(({ name }) => name)),
          maxTokens: 4096,
          leftOut: [],
          notes: [],
        });
      },
    },
    hearing: { hear: (messages) => Promise.resolve({ messages, lines: [] }) },
    limits: { costLine: () => 'over the limit' },
    afterTurn: { schedule: () => steps.push('after turn') },
    outbox,
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
    offers: {
      async show(offers, { beforeSeen }) {
        steps.push(`offer ${offers.map(({ what }) => what).join(' · ')}`);
        shownOffers.push(...offers);
        await beforeSeen('900000000000000009');
      },
      endOffersTo: () => {},
    },
    presentPlace: (place) => Promise.resolve(place),
    clock: () => new Date('2026-01-15T10:00:00Z'),
    logger,
    makeReference: () => 'abc123',
    ...changes,
    tools: { memory: [], reading: [], actions: [noteTool, offeringTool], ...changes.tools },
    model: {
      client: modelSaying((signal, told) => {
        steps.push('model');
        if (present === undefined) throw new Error('The model was asked without a prompt');
        isWhole = false;
        return answer(present, signal, told).finally(() => {
          isWhole = true;
        });
      }),
      current: async () => 'sonnet',
      costOf: () => 0.01,
      answerTokens: 4096,
      timeoutMs: 10_000,
      mediaBudget: createMediaBudget(),
      ...changes.model,
    },
  };
  const run = (messages = [incoming({ id: '400000000000000011' })], control = new TurnControl()) =>
    runTurn(messages, control, ports);
  return { run, steps, shownOffers, outbox, logger };
}

type Said = Parameters<AnswerTurn>[2];

/** A client whose every turn is one answer; where notes come up, the tool that makes them is called first. */
function modelSaying(answer: (signal: AbortSignal, told: Said) => ReturnType<AnswerTurn>): ModelClient {
  let settled: ReturnType<AnswerTurn> | undefined;
  return {
    isOffline: false,
    async complete(_request, { signal = new AbortController().signal, onText = () => {} } = {}) {
      const calls: ModelResponse['content'][number][] = [];
      let shown = '';
      if (settled === undefined) {
        settled = answer(signal, {
          onText(soFar) {
            onText(soFar.slice(shown.length));
            shown = soFar;
          },
          onNote: (note) => calls.push(callOf('note', note)),
          onOffer: (what) => calls.push(callOf('offer', what)),
        });
        await settled.catch(() => {});
        if (calls.length > 0) return { content: calls, stop: 'tool_use', usage };
      }
      const { text, stop } = await settled.finally(() => {
        settled = undefined;
      });
      onText(text.slice(shown.length));
      return { content: [{ type: 'text', text }], stop: stop === 'whole' ? 'end' : stop, usage };
    },
  };
}

function callOf(name: string, input: string): ModelResponse['content'][number] {
  return { type: 'tool_use', id: `call ${input}`, name, input };
}
