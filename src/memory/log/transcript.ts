import { dataLine } from '../../core/section.ts';
import { clip, flatten } from '../../core/text.ts';
import type { LoggedMessage, SequencedMessage } from './records.ts';

const nameMaxChars = 80;
/** Characters of turns in one model call. */
const batchMaxChars = 20_000;

/** A message as the model reads it; one line that forges neither a tag nor another speaker [P3]. */
export function turnLine(message: LoggedMessage): string {
  const name = clip(flatten(message.author.replace(/[:：[\]<>]/gu, ' ')), nameMaxChars) || 'someone';
  const files = message.attachments.length === 0 ? '' : ` [attached: ${message.attachments.join(', ')}]`;
  return `- [${message.id}] ${name}: ${dataLine(message.text + files)}`;
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
