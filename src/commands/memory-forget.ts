import type { CommandContext, CommandReply } from '../core/commands.ts';
import { normalizeText } from '../core/text.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { DurableItem } from '../memory/durable/document.ts';
import { brieflyQuoted, counted, listedItem, nameable, readingPlace } from './answer-lines.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';

/**
 * Forgets what contains the target, or has it as id, and may be used in this place [K2]: durable items and recent exchanges. The
 * rolling summary cannot lose a single fact; where it still has it, the answer says how to clear it.
 */
export async function forgetTarget(
  context: CommandContext,
  target: string,
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  const { id: commandId, speaker, place } = context;
  const { forgotten, elsewhere } = await ports.durable.forget(speaker.id, target, place, commandId);
  const words = wordsMeant(target, forgotten);
  const notes = await Promise.all([
    noted(() => ports.shortTerm.forget(speaker.id, words), ports),
    noted(() => summaryNote(context, words, ports), ports),
  ]);
  const lines = [
    ...forgottenLines(context, target, forgotten, ports),
    ...(elsewhere === 0 ? [] : [`${elsewhere} more in our DM: say \`!memory forget\` there.`]),
    ...notes.flatMap((note) => (note === undefined ? [] : [note])),
  ];
  return { text: lines.join('\n') };
}

/** The target itself, or, where it was an id, the words of the item that has it. */
function wordsMeant(target: string, forgotten: readonly DurableItem[]): string {
  const [first] = forgotten;
  if (first === undefined || normalizeText(first.text).includes(normalizeText(target))) return target;
  return first.text;
}

function forgottenLines(
  context: CommandContext,
  target: string,
  forgotten: readonly DurableItem[],
  { timeZone }: MemoryCommandPorts,
): readonly string[] {
  const where = context.place.audience === 'dm' ? '' : ' that I may use here';
  if (forgotten.length === 0) return [`No item${where} matches ${brieflyQuoted(target)}`];
  const view = readingPlace(context);
  const { named } = nameable(forgotten, context.speaker.id, view);
  return [
    `Deprecated ${counted(forgotten.length, 'item')} matching ${brieflyQuoted(target)}`,
    ...named.map((item) => listedItem(item, view, timeZone)),
  ];
}

async function summaryNote(
  context: CommandContext,
  words: string,
  { rolling }: MemoryCommandPorts,
): Promise<string | undefined> {
  const summary = await rolling.show(sessionOf(context), readingPlace(context), context.speaker.id);
  return normalizeText(summary ?? '').includes(normalizeText(words))
    ? 'The rolling summary of this conversation still mentions it; `!memory reset rolling` clears it.'
    : undefined;
}

/** The items are forgotten by now: what fails after that must not look as if they were not. */
async function noted(
  work: () => Promise<string | void>,
  { logger }: MemoryCommandPorts,
): Promise<string | void> {
  try {
    return await work();
  } catch (error) {
    logger.error('not every layer could be looked through for what was forgotten', { error });
    return 'I could not look through every other layer for it right now; please say it again in a few minutes.';
  }
}
