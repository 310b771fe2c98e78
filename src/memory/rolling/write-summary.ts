import { ModelError } from '../../core/errors.ts';
import { textOf } from '../../core/model.ts';
import type { ModelClient, ModelRequest } from '../../core/model.ts';
import type { SequencedMessage } from '../log/records.ts';
import { condenseRequest, maxWords, summaryRequest, turnLine } from './summary-request.ts';

/** Characters of turns in one model call. */
const batchMaxChars = 20_000;

export interface SummaryWriter {
  readonly model: ModelClient;
  readonly modelName: string;
  /** Characters of a summary at most. */
  readonly maxChars: number;
}

/**
 * The summary of `previous` and the messages, within the limits [R1][R2]. Rejects with `ModelError` when the call fails, and also when the answer is
 * a refusal, was cut, is empty or stays too long: none of these is ever stored [M7].
 */
export async function writeSummary(
  { model, modelName, maxChars }: SummaryWriter,
  previous: string | undefined,
  messages: readonly SequencedMessage[],
  signal: AbortSignal | undefined,
): Promise<string> {
  const text = await ask(model, summaryRequest(modelName, maxChars, previous, messages), signal);
  if (fits(text, maxChars)) return text;
  const condensed = await ask(model, condenseRequest(modelName, maxChars, text), signal);
  if (fits(condensed, maxChars)) return condensed;
  throw new ModelError('The summary stays too long', 'invalid');
}

/** The messages in parts that a model call can take, in order; a message longer than a part is one by itself. */
export function inBatches(
  messages: readonly SequencedMessage[],
  maxChars = batchMaxChars,
): readonly (readonly SequencedMessage[])[] {
  const batches: SequencedMessage[][] = [];
  let room = 0;
  for (const message of messages) {
    const length = turnLine(message.message).length + 1;
    const batch = batches.at(-1);
    if (batch === undefined || length > room) {
      batches.push([message]);
      room = maxChars - length;
    } else {
      batch.push(message);
      room -= length;
    }
  }
  return batches;
}

async function ask(
  model: ModelClient,
  request: ModelRequest,
  signal: AbortSignal | undefined,
): Promise<string> {
  const response = await model.complete(request, signal === undefined ? {} : { signal });
  const text = textOf(response.content).trim();
  if (response.stop !== 'end') throw new ModelError(`The summary ended by ${response.stop}`, 'invalid');
  if (text === '') throw new ModelError('The summary is empty', 'invalid');
  return text;
}

function fits(text: string, maxChars: number): boolean {
  return text.length <= maxChars && (text.match(/\S+/gu)?.length ?? 0) <= maxWords;
}
