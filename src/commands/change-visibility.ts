import type { CommandRequest } from '../core/chat.ts';
import type { Visibility } from '../core/visibility.ts';
import { mayUseItem } from '../memory/durable/document.ts';
import type { CommandOptions } from './command-options.ts';
import { idAndVisibility } from './item-lines.ts';
import { quoted } from './quoted.ts';
import { readingPlace } from './reading-place.ts';

/** By its owner's word, an item may be used everywhere from now on, or in the DM only [V1]. */
export async function changeVisibility(
  request: CommandRequest,
  change: { readonly command: 'share' | 'hide'; readonly id: string },
  { durable }: CommandOptions,
): Promise<string> {
  const visibility: Visibility = change.command === 'share' ? 'everywhere' : 'dm';
  const view = readingPlace(request);
  const item = await durable.setVisibility(request.speaker.id, change.id, visibility, view);
  if (item === undefined)
    return `I know no item with the id ${quoted(change.id)} here. \`!memory show\` lists the ids, in our DM all of them.`;
  const done = change.command === 'share' ? 'Shared' : 'Hidden';
  return mayUseItem(item, request.speaker.id, view)
    ? `${done}: ${quoted(item.text)} · ${idAndVisibility(item)}`
    : `${done} · ${idAndVisibility(item)}`;
}
