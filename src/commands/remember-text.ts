import type { CommandRequest } from '../core/chat.ts';
import type { RefusalReason } from '../memory/durable/remember-item.ts';
import type { CommandOptions } from './command-options.ts';
import { counted, idAndVisibility, nameable } from './item-lines.ts';
import { quoted } from './quoted.ts';
import { readingPlace } from './reading-place.ts';

/** Remembers a text by its owner's word [K2], and says what had to go for it [D3]. */
export async function rememberText(
  request: Pick<CommandRequest, 'id' | 'speaker' | 'place' | 'ephemeral'>,
  text: string,
  options: Pick<CommandOptions, 'durable' | 'settings' | 'isMemoryOff'>,
): Promise<string> {
  const { id: messageId, speaker, place } = request;
  if (await options.isMemoryOff(place)) return memoryIsOff;
  const result = await options.durable.remember(speaker.id, { text, place, messageId, type: 'manual' });
  if (result.outcome === 'refused') return refusal(result.reason, text, options.settings.itemMaxChars);
  const view = readingPlace(request);
  const { named, hidden } = nameable(result.evicted, speaker.id, view);
  return [
    // Whether the same words were kept before, perhaps from a narrower place, the answer does not tell.
    `Remembered: ${quoted(text)} · ${idAndVisibility(result.item)}`,
    ...named.map((item) => `To make room, I let go of ${quoted(item.text)} · ${idAndVisibility(item)}`),
    ...(hidden === 0 ? [] : [`To make room, I let go of ${counted(hidden, 'item')} that I don't name here.`]),
  ].join('\n');
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
