import type { Place } from '../core/place.ts';
import type { Logger } from '../core/logger.ts';
import type { ChannelJournal } from './channel-journal.ts';
import { createKeep } from './keep.ts';
import type { TurnRunner } from './session-turns.ts';

/** The same turns; where memory is off, the channel's journal keeps no answer's text once it was sent. */
export function withoutTexts(
  runTurn: TurnRunner,
  {
    isMemoryOff,
    journal,
    logger,
  }: {
    /** Must not reject. */
    readonly isMemoryOff: (place: Place) => Promise<boolean>;
    readonly journal: Pick<ChannelJournal, 'dropSentTexts'>;
    readonly logger: Logger;
  },
): TurnRunner {
  const keep = createKeep(logger);
  return async (messages, signal) => {
    await runTurn(messages, signal);
    const place = messages.at(-1)?.place;
    if (place === undefined || !(await isMemoryOff(place))) return;
    await keep('that an answer is kept nowhere', () => journal.dropSentTexts(place.channelId));
  };
}
