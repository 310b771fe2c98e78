import { withoutMarkedNames } from '../../core/own-words.ts';
import { maskSecrets } from '../../core/secrets.ts';
import { dataLine } from '../../core/section.ts';
import { clip, toSingleLine, chunk } from '../../core/text.ts';
import { localMoment } from '../../core/time.ts';
import { mayHoldOthersWords, type LoggedMessage, type SequencedMessage } from './records.ts';

const nameMaxChars = 80;
/** Of turns in one model call. */
const batchMaxChars = 20_000;

/** A message as one line, which forges neither a tag nor a speaker [P3]; others' words have a tag [M5a]. */
export function turnLine(message: LoggedMessage, timeZone: string): string {
  const said = dataLine(maskSecrets(message.text) + fileNote(message));
  return (
    lineBegin(message, timeZone) +
    (mayHoldOthersWords(message) ? `<others_words>${said}</others_words>` : said)
  );
}

/** Without what may be others' words. */
export function ownLine(message: LoggedMessage, timeZone: string): string {
  const isLeftOut = message.role === 'assistant' && mayHoldOthersWords(message);
  const said = isLeftOut
    ? leftOut
    : dataLine(maskSecrets(withoutMarkedNames(message.text)) + fileNote(message));
  return lineBegin(message, timeZone) + said;
}

/** Instead of an answer's words. */
const leftOut = "(an answer that is left out here, since it may repeat other people's words or a file)";

/** Only the bot has brackets behind its name, so nobody speaks as the bot. */
function lineBegin({ id, at, author, role }: LoggedMessage, timeZone: string): string {
  const name =
    clip(toSingleLine(author.normalize('NFKC').replace(/[:[\]<>()]/gu, ' ')), nameMaxChars) || 'someone';
  return `- ${localMoment(new Date(at), timeZone)} [${id}] ${role === 'assistant' ? `${name} (bot)` : name}: `;
}

function fileNote({ attachments }: LoggedMessage): string {
  return attachments.length === 0 ? '' : ` [attached: ${attachments.join(', ')}]`;
}

/** Parts for one model call each, in order; an overlong message is one by itself. */
export function inBatches(
  messages: readonly SequencedMessage[],
  timeZone: string,
  maxChars = batchMaxChars,
): readonly (readonly SequencedMessage[])[] {
  return chunk(messages, ({ message }) => turnLine(message, timeZone).length + 1, maxChars);
}
