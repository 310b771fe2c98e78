import { z } from 'zod';

import { sameItemForm } from '../../core/text.ts';
import {
  activeInOrder,
  completed,
  isPlainId,
  itemFields,
  itemId,
  sourceFields,
  textProblem,
  timeSchema,
  withItems,
  wordingOf,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
  type Replaced,
  type TextProblem,
} from './document.ts';

const brought = z.string().max(200);

/** An item of an imported file: as it is now, without unknown fields, and bounded. */
const broughtSchema = z
  .object(itemFields)
  .omit({ supersededBy: true, forgotten: true, goesAt: true, replaces: true })
  .extend({
    id: z.string().optional(),
    createdAt: timeSchema.optional(),
    updatedAt: timeSchema.optional(),
    source: z
      .object({
        ...sourceFields,
        channelId: brought.default(''),
        messageId: brought.default(''),
        guildId: brought.optional(),
        channelName: brought.optional(),
        homeId: brought.optional(),
        readers: z.array(brought).max(50).readonly().optional(),
      })
      .prefault({}),
  });

/** The items of an export [K10]; `damaged` counts what is none. No time is later than `now`. */
export function readExportedItems(
  list: readonly unknown[],
  now: Date,
): { readonly items: readonly DurableItem[]; readonly damaged: number } {
  const read = list.flatMap((each) => broughtSchema.safeParse(each).data ?? []);
  const written = read.map((item) => (isPlainId(item.id ?? '') ? item : { ...item, id: undefined }));
  const upToNow = (time: string): string =>
    Date.parse(time) > now.getTime() ? now.toISOString() : new Date(time).toISOString();
  const items = completed(written).map((item) => ({
    ...item,
    createdAt: upToNow(item.createdAt),
    updatedAt: upToNow(item.updatedAt),
    confirmedAt: item.confirmedAt && upToNow(item.confirmedAt),
  }));
  return { items, damaged: list.length - written.length };
}

/** Why an item is not imported; `full`: as many as fit are there. */
export type ImportRefusal = TextProblem | 'full';

export interface ImportResult {
  /** The newest first, as in a list of what is remembered. */
  readonly added: readonly DurableItem[];
  /** How many are remembered already, or stand in the file twice. */
  readonly known: number;
  readonly refused: Readonly<Record<ImportRefusal, number>>;
}

/**
 * Adds an export's active items [K10]. What is there stays, nothing makes way, and what was forgotten comes back [D2].
 * Where not all fit, the pinned and newest do.
 */
export function importItems(
  document: DurableDocument,
  items: readonly DurableItem[],
  maxItems: number,
): DocumentChange<ImportResult> {
  /** By its wording, the last item that is there. */
  const present = new Map(document.items.map((item) => [formOf(item), item]));
  const active = document.items.filter(({ status }) => status === 'active');
  const seen = new Set(active.map(formOf));
  const taken = new Set(document.items.map(({ id }) => id));
  const isTaken = (id: string): boolean => taken.has(id);
  const refused = { empty: 0, 'too-long': 0, secret: 0, full: 0 };
  const accepted: DurableItem[] = [];
  let known = 0;
  for (const item of activeInOrder(items)) {
    const form = formOf(item);
    const reason = textProblem(item);
    if (reason !== undefined) refused[reason] += 1;
    else if (seen.has(form)) known += 1;
    else if (active.length + accepted.length >= maxItems) refused.full += 1;
    else {
      // With its own id if that is free, or that of the forgotten item that it brings back.
      const free = isTaken(item.id) ? itemId(wordingOf(item), isTaken) : item.id;
      const id = present.get(form)?.id ?? free;
      taken.add(id);
      accepted.push({ ...item, id, text: item.text.trim() });
    }
    seen.add(form);
  }
  const replaced = accepted.flatMap((item): readonly Replaced[] => {
    const past = present.get(formOf(item));
    return past === undefined ? [] : [[past, item]];
  });
  const added = accepted.filter((item) => !present.has(formOf(item))).toReversed();
  return { document: withItems(document, { replaced, added }), result: { added: accepted, known, refused } };
}

function formOf(item: DurableItem): string {
  return sameItemForm(wordingOf(item));
}
