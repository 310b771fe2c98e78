import {
  choiceMaxChars,
  mostChoices,
  type Choice,
  type CompletionRequest,
} from '../core/application-command.ts';
import { clip, flatten, normalizeText } from '../core/text.ts';
import { mayUseItem, type DurableItem } from '../memory/durable/document.ts';
import type { CommandOptions } from './command-options.ts';
import { readingPlace } from './reading-place.ts';

type Sources = Pick<CommandOptions, 'durable' | 'settings' | 'logger'>;

/**
 * The asker's items that `/memory forget`, `share` or `hide` would change if it were given in this place: the pinned and the newest first,
 * as far as they match what was typed, be it the beginning of the id or words. Never rejects; where items cannot be read, nothing is offered.
 */
export async function completeItem(request: CompletionRequest, options: Sources): Promise<readonly Choice[]> {
  if (!options.settings.durableEnabled) return [];
  try {
    const items = await changeable(request, options);
    return items
      .filter((item) => isTyped(item, request.typed))
      .flatMap(choiceOf)
      .slice(0, mostChoices);
  } catch (error) {
    options.logger.warn('nothing could be offered to complete a command', {
      userId: request.speaker.id,
      error,
    });
    return [];
  }
}

async function changeable(
  { subcommand, speaker, place }: CompletionRequest,
  { durable }: Sources,
): Promise<readonly DurableItem[]> {
  // A slash command's answer is for its asker only; what `forget` touches is judged by the place all the same [K2].
  const view = subcommand === 'forget' ? place : readingPlace({ place, ephemeral: true });
  const active = await durable.list(speaker.id);
  const usable = (items: readonly DurableItem[]): readonly DurableItem[] =>
    items.filter((item) => mayUseItem(item, speaker.id, view));
  switch (subcommand) {
    case 'forget': {
      const former = await durable.formerOf(speaker.id);
      return usable([...active, ...[...former.values()].flat()]);
    }
    case 'share':
      return usable(active).filter(({ visibility }) => visibility !== 'everywhere');
    case 'hide':
      return usable(active).filter(({ visibility }) => visibility !== 'dm');
    default:
      return [];
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
