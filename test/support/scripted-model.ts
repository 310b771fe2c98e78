import { ModelError } from '../../src/core/errors.ts';
import { textOf, type ModelClient, type ModelRequest, type ModelResponse } from '../../src/core/model.ts';
import { inSummarySchema } from './model-answer.ts';

export type ScriptedAnswer =
  | string
  | ModelError
  | { readonly text: string; readonly stop: ModelResponse['stop'] };

/** A model that answers as the script says and keeps what it was asked. */
export class ScriptedModel implements ModelClient {
  readonly isOffline = false;
  readonly requests: ModelRequest[] = [];
  #answer: (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

  constructor(answer: (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>) {
    this.#answer = answer;
  }

  /** Answers differently from now on. */
  become(answer: (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>): void {
    this.#answer = answer;
  }

  async complete(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request);
    const answer = await this.#answer(request);
    if (answer instanceof ModelError) throw answer;
    const { text: given, stop } =
      typeof answer === 'string' ? { text: answer, stop: 'end' as const } : answer;
    const text = inSummarySchema(given, request.outputSchema);
    const usage = {
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheHourTokens: 0,
    };
    return { content: text === '' ? [] : [{ type: 'text', text }], stop, usage };
  }
}

/** All that a request says to the model besides its instructions. */
export function inputOf(request: ModelRequest | undefined): string {
  return request?.messages.map(({ content }) => textOf(content)).join('\n') ?? '';
}
