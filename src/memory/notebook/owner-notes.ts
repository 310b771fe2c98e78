import type { SectionReader } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { isOwnersDm } from './owners-dm.ts';
import { textSection } from './text-section.ts';

const notesKey = 'workspace/MEMORY.md';

/** The owner's curated notes, inlined in the owner's DM; over the budget their beginning, with the path of the rest [N2]. */
export function ownerNotesReader({
  store,
  maxChars,
}: {
  readonly store: Store;
  readonly maxChars: number;
}): SectionReader<TurnContext> {
  return {
    layer: 'owner-notes',
    async read(context) {
      if (!isOwnersDm(context)) return [];
      const text = await store.readText(notesKey);
      if (text === undefined) return [];
      const frame = {
        name: 'notes',
        slot: 'slow',
        title: `Curated notes, kept in ${notesKey}:`,
        partTitle: `The beginning of the curated notes; the rest is readable in ${notesKey}:`,
        budget: maxChars,
      } as const;
      return [textSection(frame, text)];
    },
  };
}
