import { dayBefore, localDate } from '../../core/local-time.ts';
import { fitLines } from '../../core/section.ts';
import type { SectionReader } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { isOwnersDm } from './owners-dm.ts';

/**
 * The paths of today's and yesterday's daily logs where they exist, in the owner's DM; their contents never [N3]. Days are local
 * ones [N5].
 */
export function dailyLogIndexReader({
  store,
  timeZone,
  maxChars,
}: {
  readonly store: Store;
  readonly timeZone: string;
  readonly maxChars: number;
}): SectionReader<TurnContext> {
  return {
    layer: 'notebook-index',
    async read(context) {
      if (!isOwnersDm(context)) return [];
      const today = localDate(context.now, timeZone);
      const keys = [today, dayBefore(today)].map((day) => `workspace/memory/${day}.md`);
      const texts = await Promise.all(keys.map((key) => store.readText(key)));
      const existing = keys.filter((_, index) => texts[index] !== undefined);
      const frame = {
        name: 'notebook_index',
        slot: 'last',
        title: 'Daily logs in the notebook, by path:',
        budget: maxChars,
      } as const;
      const lines = fitLines(
        frame,
        existing.map((key) => `- ${key}`),
      );
      return lines.length === 0 ? [] : [{ ...frame, lines }];
    },
  };
}
