import type { HistoryPort } from '../../core/chat.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { ActionRefusal } from './action-refusal.ts';
import { findMessage } from './message-reference.ts';

/** Messages that are looked through for the bot's own last one. */
const lookedThrough = 50;

/** The id of the message that the model means. @throws {ActionRefusal} where it means none. */
export async function messageIn(
  reference: string,
  context: TurnContext,
  history: Pick<HistoryPort, 'recent'>,
): Promise<string> {
  const recent = await history.recent(context.place.channelId, lookedThrough);
  const found = findMessage(reference, context, recent);
  if (found.outcome === 'refused') throw new ActionRefusal(found.reason);
  return found.id;
}
