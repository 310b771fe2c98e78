import { choiceMaxChars, mostChoices } from '../core/commands.ts';
import type { Choice, CommandContext, CommandReply, CompletionRequest } from '../core/commands.ts';
import { clip, flatten, normalizeText } from '../core/text.ts';
import type { Visibility } from '../core/visibility.ts';
import { mayUseItem, type DurableItem } from '../memory/durable/document.ts';
import type { RefusalReason } from '../memory/durable/remember-item.ts';
import { counted, idAndVisibility, nameable, quoted, readingPlace } from './answer-lines.ts';
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
  'Memory is switched off in this channel by my owner, so nothing was saved. Say it in another channel or in our DM.';

function refusal(reason: RefusalReason, text: string, maxChars: number): string {
  switch (reason) {
    case 'empty':
      return 'There is nothing to remember: write it after `!memory remember`.';
    case 'too-long':
      return `That is too long: ${text.trim().length} characters, ${maxChars} at most. Nothing was saved; say it shorter or in parts.`;
    case 'full':
      return 'Your memory is full, and everything in it is pinned. Nothing was saved; `!memory forget` makes room.';
    case 'forgotten':
    case 'unknown-id':
      return 'That could not be saved. Please say it again.';
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
      text: `I know no item with the id ${quoted(id)} here. \`!memory show\` lists the ids, in our DM all of them.`,
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
