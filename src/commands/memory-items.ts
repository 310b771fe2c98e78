import {
  choiceMaxChars,
  mostChoices,
  type Choice,
  type CommandContext,
  type CommandReply,
  type CompletionRequest,
} from '../core/commands.ts';
import { clip, flatten, normalizeText } from '../core/text.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { Visibility } from '../core/visibility.ts';
import { mayUseItem, type DurableItem } from '../memory/durable/document.ts';
import type { RefusalReason } from '../memory/durable/remember-item.ts';
import {
  brieflyQuoted,
  counted,
  idAndVisibility,
  listedItem,
  nameable,
  quoted,
  readingPlace,
} from './answer-lines.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';

/** Remembers a text by its owner's word [K2], and says what had to go for it [D3]. */
export async function rememberText(
  context: CommandContext,
  text: string,
  { durable, settings, isMemoryOff }: MemoryCommandPorts,
): Promise<CommandReply> {
  const { id: messageId, speaker, place } = context;
  if (await isMemoryOff(place)) return { text: memoryIsOff };
  const result = await durable.remember(speaker.id, { text, place, messageId, type: 'manual' });
  if (result.outcome === 'refused') return { text: refusal(result.reason, text, settings.itemMaxChars) };
  const { named, hidden } = nameable(result.evicted, speaker.id, readingPlace(context));
  const lines = [
    // Whether the same words were kept before, perhaps from a narrower place, the answer does not tell.
    `Remembered: ${quoted(text)} · ${idAndVisibility(result.item)}`,
    ...named.map((item) => `To make room, I let go of ${quoted(item.text)} · ${idAndVisibility(item)}`),
    ...(hidden === 0 ? [] : [`To make room, I let go of ${counted(hidden, 'item')} that I don't name here.`]),
  ];
  return { text: lines.join('\n') };
}

const memoryIsOff =
  'Memory is switched off in this channel, so nothing was saved. Say it in another channel or in our DM.';

function refusal(reason: RefusalReason, text: string, maxChars: number): string {
  switch (reason) {
    case 'empty':
      return 'There is nothing to remember: write it after `!memory remember`.';
    case 'too-long':
      return `That is too long: ${text.trim().length} characters, ${maxChars} at most. Nothing was saved; please shorten it or split it up.`;
    case 'full':
      return 'Your memory is full, and everything in it is pinned. Nothing was saved; `!memory forget` makes room.';
    case 'forgotten':
    case 'unknown-id':
      return 'That could not be saved. Please say it again.';
  }
}

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
  const { forgotten, elsewhere, words, isEverywhere } = await ports.durable.forget(
    speaker.id,
    target,
    place,
    commandId,
  );
  const note = await summaryNote(context, words, ports);
  const lines = [
    ...forgottenLines(context, target, forgotten),
    ...(elsewhere === 0 ? [] : [`${elsewhere} more in our DM: say \`!memory forget\` there.`]),
    ...(isEverywhere ? [] : [notEverywhereLine]),
    ...(note === undefined ? [] : [note]),
  ];
  return { text: lines.join('\n') };
}

function forgottenLines(
  context: CommandContext,
  target: string,
  forgotten: readonly DurableItem[],
): readonly string[] {
  const where = context.place.audience === 'dm' ? '' : ' that I may use here';
  if (forgotten.length === 0) return [`No item${where} matches ${brieflyQuoted(target)}`];
  const view = readingPlace(context);
  const { named } = nameable(forgotten, context.speaker.id, view);
  return [
    `Deprecated ${counted(forgotten.length, 'item')} matching ${brieflyQuoted(target)}`,
    ...named.map((item) => listedItem(item, view)),
  ];
}

/** The items are forgotten by now: what fails after that must not look as if they were not. */
const notEverywhereLine =
  'I could not search every other layer for it right now; please try again in a few minutes.';

async function summaryNote(
  context: CommandContext,
  words: string,
  { rolling, logger }: MemoryCommandPorts,
): Promise<string | undefined> {
  try {
    const summary = await rolling.show(sessionOf(context), readingPlace(context), context.speaker.id);
    return normalizeText(summary ?? '').includes(normalizeText(words))
      ? 'The rolling summary of this conversation still mentions it; `!memory reset rolling` clears it.'
      : undefined;
  } catch (error) {
    logger.error('not every layer could be looked through for what was forgotten', { error });
    return notEverywhereLine;
  }
}

/** By its owner's word, an item may be used everywhere from now on, or in the DM only [V1]. */
export async function changeVisibility(
  context: CommandContext,
  id: string,
  visibility: Extract<Visibility, 'everywhere' | 'dm'>,
  { durable }: MemoryCommandPorts,
): Promise<CommandReply> {
  const { speaker } = context;
  const view = readingPlace(context);
  const item = await durable.setVisibility(speaker.id, id, visibility, view);
  if (item === undefined)
    return {
      text: `I know of no item with the id ${quoted(id)} here. \`!memory show\` lists the ids; in our DM, it lists all of them.`,
    };
  const done = visibility === 'everywhere' ? 'Shared' : 'Hidden';
  const text = mayUseItem(item, speaker.id, view)
    ? `${done}: ${quoted(item.text)} · ${idAndVisibility(item)}`
    : `${done} · ${idAndVisibility(item)}`;
  return { text };
}

/** The subcommands that take an item. */
type ItemCommand = 'forget' | 'share' | 'hide';

/**
 * The asker's items that `/memory forget`, `share` or `hide` would change if it were given in this place: the pinned and the newest first,
 * as far as they match what was typed, be it the beginning of the id or words.
 */
export async function completeItem(
  subcommand: ItemCommand,
  { speaker, place, typed }: CompletionRequest,
  { durable, settings }: MemoryCommandPorts,
): Promise<readonly Choice[]> {
  if (!settings.durableEnabled) return [];
  const active = await durable.list(speaker.id);
  // A slash command's answer is for its asker only; what `forget` touches is judged by the place all the same [K2].
  const view = subcommand === 'forget' ? place : readingPlace({ place, ephemeral: true });
  const former = subcommand === 'forget' ? [...(await durable.formerOf(speaker.id)).values()].flat() : [];
  return [...active, ...former]
    .filter((item) => mayUseItem(item, speaker.id, view) && wouldChange(subcommand, item))
    .filter((item) => isTyped(item, typed))
    .flatMap(choiceOf)
    .slice(0, mostChoices);
}

function wouldChange(subcommand: ItemCommand, { visibility }: DurableItem): boolean {
  switch (subcommand) {
    case 'forget':
      return true;
    case 'share':
      return visibility !== 'everywhere';
    case 'hide':
      return visibility !== 'dm';
  }
}

function isTyped(item: DurableItem, typed: string): boolean {
  const wanted = normalizeText(typed);
  const text = normalizeText(item.text);
  return normalizeText(item.id).startsWith(wanted) || wanted.split(' ').every((word) => text.includes(word));
}

/** `text · id`; an id that somebody wrote by hand may be none that a command could be given. */
function choiceOf({ id, text }: DurableItem): readonly Choice[] {
  if (id.length > choiceMaxChars / 2 || /\s/u.test(id)) return [];
  const end = ` · ${id}`;
  const line = flatten(text);
  const room = choiceMaxChars - end.length;
  const name = line.length <= room ? line : `${clip(line, room - 1)}…`;
  return [{ name: `${name}${end}`, value: id }];
}
