import type { DurableMemory } from '../durable/durable-memory.ts';
import { tells } from '../durable/evidence.ts';
import type { RecallUnit } from './recall-unit.ts';

/** Whether a unit tells what its owner has had forgotten since it was said. */
export type IsForgotten = (unit: RecallUnit) => boolean;

/**
 * What was forgotten is not found in old conversations either, in the owner's words or the bot's; said again later, it is. A notebook is
 * left alone: its owner can read and edit it.
 */
export async function forgottenBy(
  durable: Pick<DurableMemory, 'forgotten'>,
  userId: string,
): Promise<IsForgotten> {
  const items = await durable.forgotten(userId);
  if (items.length === 0) return () => false;
  return ({ text, at, reference }) => {
    if (reference.kind === 'item' || (reference.kind === 'line' && reference.channelId === undefined))
      return false;
    return items.some((item) => (at === undefined || at <= item.updatedAt) && tells(item.text, text));
  };
}
