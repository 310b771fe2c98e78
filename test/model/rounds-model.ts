import { ModelError } from '../../src/core/errors.ts';
import type {
  ModelCallOptions,
  ModelClient,
  ModelRequest,
  ModelResponse,
  ToolResultBlock,
} from '../../src/core/model.ts';

/** What each round costs. */
export const usage = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  cacheHourTokens: 0,
};

/** One round's answer. */
export type Answer = (
  request: ModelRequest,
  options: ModelCallOptions,
  round: number,
) => Promise<ModelResponse>;

/** A model that answers round by round, the last answer again and again, and keeps what it was asked. */
export class RoundsModel implements ModelClient {
  readonly isOffline = false;
  readonly requests: ModelRequest[] = [];
  readonly #answers: readonly Answer[];

  constructor(...answers: readonly Answer[]) {
    this.#answers = answers;
  }

  async complete(asked: ModelRequest, options: ModelCallOptions = {}): Promise<ModelResponse> {
    const round = this.requests.push(asked) - 1;
    const answer = this.#answers[round] ?? this.#answers.at(-1);
    if (answer === undefined) throw new Error('No answer is scripted');
    return answer(asked, options, round);
  }

  /** The tool results that were sent with the given round. */
  results(round: number): readonly ToolResultBlock[] {
    const content = this.requests[round]?.messages.at(-1)?.content ?? [];
    return content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
  }
}

/** The whole answer. */
export function says(text: string, stop: ModelResponse['stop'] = 'end'): Answer {
  return async (_, { onText }) => {
    onText?.(text);
    return { content: [{ type: 'text', text }], stop, usage };
  };
}

/** A tool call, after some words. */
export function calls(name: string, input: unknown = {}, text = ''): Answer {
  return async (_, { onText }, round) => {
    if (text !== '') onText?.(text);
    const said = text === '' ? [] : [{ type: 'text' as const, text }];
    return {
      content: [...said, { type: 'tool_use', id: `call-${round}`, name, input }],
      stop: 'tool_use',
      usage,
    };
  };
}

/** Says something and then nothing more until it is given up. */
export function hangsAfter(text: string): Answer {
  return (_, { onText, signal }) => {
    if (text !== '') onText?.(text);
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () =>
        reject(new ModelError('given up', 'aborted', { partialText: text })),
      );
    });
  };
}
