import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { textOf } from '../../core/model.ts';
import type { ModelClient, ModelResponse } from '../../core/model.ts';
import { withoutFence } from '../../core/text.ts';
import type { DurableItem } from './durable-document.ts';
import type { DurableMemory } from './durable-memory.ts';
import { isProven } from './evidence.ts';
import { extractionAnswerSchema, extractionRequest } from './extraction-request.ts';
import type { ExtractedItem, ExtractionMessage } from './extraction-request.ts';
import { ownWords } from '../../core/own-words.ts';
import { looksSecret } from './secrets.ts';

export interface Extraction {
  /**
   * Looks through messages of one user, oldest first, and stores what they say about themselves [A2]; resolves with the items
   * stored or confirmed. Several waiting turns share one call. `stillThere` gives what a message says now, `undefined` once it is
   * deleted; it is asked inside the user's write and must not wait for another one.
   *
   * Rejects with `ModelError` (also for an answer that is cut, refused or no valid JSON) or `StoreError`; the caller then leaves its
   * cursor, and doing the same messages again is safe.
   */
  extract(
    userId: string,
    speakerName: string,
    messages: readonly ExtractionMessage[],
    stillThere: (messageId: string) => Promise<string | undefined>,
    signal?: AbortSignal,
  ): Promise<readonly DurableItem[]>;
}

export interface ExtractionOptions {
  readonly model: Pick<ModelClient, 'complete'>;
  readonly modelName: string;
  readonly durable: Pick<DurableMemory, 'remember'>;
  readonly logger: Logger;
}

const maxItemsPerMessage = 3;
/** What one call is given at most, so that its answer cannot be cut by its own length. */
const batchMaxMessages = 10;
const batchMaxChars = 20_000;

export function createExtraction({ model, modelName, durable, logger }: ExtractionOptions): Extraction {
  return {
    async extract(userId, speakerName, messages, stillThere, signal) {
      const telling = messages.filter((message) => ownWords(message.text) !== '');
      const findings: Finding[] = [];
      for (const batch of inBatches(telling)) {
        const request = extractionRequest(modelName, speakerName, batch);
        const response = await model.complete(request, signal === undefined ? {} : { signal });
        findings.push(...provenFindings(answeredItems(response), batch));
      }

      const items: DurableItem[] = [];
      for (const { item, message } of findings) {
        const outcome = await durable.remember(userId, {
          kind: item.kind,
          text: item.text,
          place: message.place,
          messageId: message.id,
          type: 'summary',
          stillStands: async () => {
            const present = await stillThere(message.id);
            return present !== undefined && isProven(item, present);
          },
        });
        if (outcome.outcome !== 'refused') items.push(outcome.item);
      }
      logger.info('extraction is done', {
        userId,
        messages: messages.length,
        proven: findings.length,
        stored: items.length,
      });
      return items;
    },
  };
}

interface Finding {
  readonly item: ExtractedItem;
  readonly message: ExtractionMessage;
}

/** What may be stored of an answer: said by the message it names [M5a], no secret, and not more than three of a message. */
function provenFindings(
  items: readonly ExtractedItem[],
  messages: readonly ExtractionMessage[],
): readonly Finding[] {
  const counts = new Map<string, number>();
  return items.flatMap((item) => {
    const message = messages.find(({ id }) => id === item.messageId);
    if (message === undefined || !isProven(item, message.text)) return [];
    if (looksSecret(item.text) || looksSecret(item.quote)) return [];
    const count = (counts.get(message.id) ?? 0) + 1;
    counts.set(message.id, count);
    return count > maxItemsPerMessage ? [] : [{ item, message }];
  });
}

/** @throws {ModelError} when the answer may not be used: then nothing of it is stored [M7]. */
function answeredItems(response: ModelResponse): readonly ExtractedItem[] {
  if (response.stop !== 'end') {
    throw new ModelError(`The extraction ended with "${response.stop}"`, 'invalid');
  }
  const text = textOf(response.content);
  try {
    return extractionAnswerSchema.parse(JSON.parse(withoutFence(text))).items;
  } catch {
    // The reason is left out: it would carry words of the person into the log.
    throw new ModelError('The extraction gave no valid JSON', 'invalid');
  }
}

function inBatches(messages: readonly ExtractionMessage[]): readonly (readonly ExtractionMessage[])[] {
  const batches: ExtractionMessage[][] = [];
  let room = 0;
  for (const message of messages) {
    const last = batches.at(-1);
    room -= message.text.length;
    if (last !== undefined && room >= 0 && last.length < batchMaxMessages) {
      last.push(message);
      continue;
    }
    batches.push([message]);
    room = batchMaxChars - message.text.length;
  }
  return batches;
}
