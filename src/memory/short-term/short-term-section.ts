import { localDateTime } from '../../core/time.ts';
import { dataLine, fitLines } from '../../core/section.ts';
import type { Section } from '../../core/section.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { mayUse } from '../../core/visibility.ts';
import { isFresh } from './short-term-document.ts';
import type { ShortTermEntry } from './short-term-document.ts';

/**
 * The speaker's own exchanges in other channels, newest first, within the budget [T2]. The time is absolute, with its day,
 * so that a line keeps its bytes for as long as it stands [P2].
 */
export function shortTermSection(
  entries: readonly ShortTermEntry[],
  { speaker, place, now }: Pick<TurnContext, 'speaker' | 'place' | 'now'>,
  limits: { readonly maxAgeHours: number; readonly injectMaxChars: number; readonly timeZone: string },
): Section {
  const lines = entries
    .filter((entry) => entry.channelId !== place.channelId && isFresh(entry, limits.maxAgeHours, now))
    .filter(({ channelId }) =>
      mayUse({ ownerId: speaker.id, visibility: 'everywhere', homeId: channelId }, place, speaker.id),
    )
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .map((entry) => shortTermLine(entry, limits.timeZone));
  const section = {
    name: 'recent_elsewhere',
    slot: 'fast',
    title: 'What this person asked you in other channels lately and what you answered, newest first:',
    budget: limits.injectMaxChars,
  } as const;
  return { ...section, lines: fitLines(section, lines), standing: new Set(lines) };
}

function shortTermLine({ channelName, at, text }: ShortTermEntry, timeZone: string): string {
  return dataLine(`- #${channelName}, ${localDateTime(new Date(at), timeZone)}: ${text}`);
}
