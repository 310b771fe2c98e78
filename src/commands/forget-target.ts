import type { CommandRequest } from '../core/chat.ts';
import { normalizeText } from '../core/text.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { DurableItem } from '../memory/durable/document.ts';
import type { CommandOptions } from './command-options.ts';
import { counted, listedItem, nameable } from './item-lines.ts';
import { brieflyQuoted } from './quoted.ts';
import { readingPlace } from './reading-place.ts';

/**
 * Forgets what contains the target, or has it as id, and may be used in this place [K2]: durable items and recent exchanges. The
 * rolling summary cannot lose a single fact; where it still has it, the answer says how to clear it.
 */
export async function forgetTarget(
  request: CommandRequest,
  target: string,
  options: CommandOptions,
): Promise<string> {
  const { id: commandId, speaker, place } = request;
  const { forgotten, elsewhere } = await options.durable.forget(speaker.id, target, place, commandId);
  const words = wordsMeant(target, forgotten);
  const notes = await Promise.all([
    noted(() => dropRecent(request, words, options), options),
    noted(() => summaryNote(request, words, options), options),
  ]);
  return [
    ...forgottenLines(request, target, forgotten, options),
    ...(elsewhere === 0 ? [] : [`${elsewhere} more in our DM: say \`!memory forget\` there.`]),
    ...notes.flatMap((note) => (note === undefined ? [] : [note])),
  ].join('\n');
}

/** The target itself, or, where it was an id, the words of the item that has it. */
function wordsMeant(target: string, forgotten: readonly DurableItem[]): string {
  const [first] = forgotten;
  if (first === undefined || normalizeText(first.text).includes(normalizeText(target))) return target;
  return first.text;
}

function forgottenLines(
  request: CommandRequest,
  target: string,
  forgotten: readonly DurableItem[],
  { timeZone }: CommandOptions,
): readonly string[] {
  const where = request.place.audience === 'dm' ? '' : ' that I may use here';
  if (forgotten.length === 0) return [`No item${where} matches ${brieflyQuoted(target)}`];
  const view = readingPlace(request);
  const { named } = nameable(forgotten, request.speaker.id, view);
  return [
    `Deprecated ${counted(forgotten.length, 'item')} matching ${brieflyQuoted(target)}`,
    ...named.map((item) => listedItem(item, view, timeZone)),
  ];
}

async function dropRecent(
  request: CommandRequest,
  words: string,
  { shortTerm }: CommandOptions,
): Promise<undefined> {
  await shortTerm.forget(request.speaker.id, words);
}

async function summaryNote(
  request: CommandRequest,
  words: string,
  { rolling }: CommandOptions,
): Promise<string | undefined> {
  const summary = await rolling.show(sessionOf(request), readingPlace(request), request.speaker.id);
  return normalizeText(summary ?? '').includes(normalizeText(words))
    ? 'The rolling summary of this conversation still mentions it; `!memory reset rolling` clears it.'
    : undefined;
}

/** The items are forgotten by now: what fails after that must not look as if they were not. */
async function noted(
  work: () => Promise<string | undefined>,
  { logger }: CommandOptions,
): Promise<string | undefined> {
  try {
    return await work();
  } catch (error) {
    logger.error('not every layer could be looked through for what was forgotten', { error });
    return 'I could not look through every other layer for it right now; please say it again in a few minutes.';
  }
}
