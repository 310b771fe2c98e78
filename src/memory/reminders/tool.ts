import { z } from 'zod';

import { ownWords } from '../../core/own-words.ts';
import { toSingleLine } from '../../core/text.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { asksFirst } from '../../core/turn-context.ts';
import { removeButton, shownMoment, shownReminder, shownWhen, whyNotSet } from './notices.ts';
import { formOf, type NewReminder, type Reminders } from './reminders.ts';
import { repeats } from './wall-clock.ts';
import { readMoment, whyNot } from './when.ts';

/**
 * Sets a reminder in the speaker's own words [RM1]. A moment that code cannot read, and one asked for beside others'
 * text [M5a], is set by a button that shows it. `StoreError` rejects.
 */
export function createReminderTool(ports: {
  readonly reminders: Pick<Reminders, 'set'>;
  /** A person's zone, IANA. Must not reject. */
  readonly timeZoneOf: (userId: string) => Promise<string>;
  /** Says which that is [RM2]. Must not reject. */
  readonly shownClock: (userId: string) => Promise<string>;
}): Tool {
  return checkedTool({
    name: 'set_reminder',
    description:
      'Remind the person later, as they ask in the message you are answering: the only way in which anything is done later, so never promise to check back, watch or report. `when` and `what` are ' +
      'pieces of that message, copied character for character, such as "tomorrow at 9" and "call mum". Give `moment` too (YYYY-MM-DDTHH:MM, their clock), for when `when` cannot be read: they confirm it.',
    input: z.object({
      when: z.string(),
      what: z.string(),
      moment: z.string().exactOptional(),
      repeat: z.enum(repeats).exactOptional(),
    }),
    notDone: 'Not set',
    stores: 'wishes',
    async run({ when, what, moment, repeat }, context) {
      const { speaker } = context;
      if (speaker.isBot !== undefined) return refusal('Not set: another bot is not reminded.');
      const message = context.messages.findLast(({ text }) => says(text, when) && says(text, what));
      if (message === undefined)
        return refusal(
          "Not set: copy `when` and `what` from the person's own message, without changing a letter.",
        );
      const timeZone = await ports.timeZoneOf(speaker.id);
      // A turn that is run again after a kill means the same moment.
      const writtenAt = new Date(message.at);
      const read = readMoment(when, writtenAt, timeZone);
      const at = typeof read === 'string' ? readMoment(moment ?? '', writtenAt, timeZone) : read;
      if (typeof at === 'string') return refusal(`Not set: ${whyNot(typeof read === 'string' ? read : at)}`);
      const clock = await ports.shownClock(speaker.id);
      const reminder: NewReminder = {
        text: what,
        at,
        repeat,
        place: context.originalPlace ?? context.place,
        messageId: message.id,
      };
      if (at === read && !asksFirst(context))
        return outcomeOf(await ports.reminders.set(context.work, reminder), clock);
      return {
        ...refusal('Not set yet: the person is asked by a button under your answer, which shows the moment.'),
        offer: {
          what: `Remind you ${shownMoment(at)}:`,
          words: toSingleLine(what),
          async carryOut() {
            const set = await ports.reminders.set(context.work, reminder);
            return typeof set === 'string'
              ? `Not set: ${whyNotSet[set]}`
              : { text: `Set for ${shownWhen(set)}. ${clock}`, buttons: [removeButton(set)] };
          },
        },
      };
    },
  });
}

function outcomeOf(set: Awaited<ReturnType<Reminders['set']>>, clock: string): ToolOutcome {
  if (typeof set === 'string') return refusal(`Not set: ${whyNotSet[set]}`);
  const notice = {
    line: `⏰ I will remind you ${shownReminder(set)}. ${clock}`,
    bareLine: `⏰ I will remind you ${shownWhen(set)}. ${clock}`,
    buttons: [removeButton(set)],
  };
  return { ok: true, text: `Set for ${set.at} (UTC). The person is shown the moment.`, notice };
}

/** Literally, outside of quotes: case and the width of white space aside. */
function says(message: string, piece: string): boolean {
  return formOf(piece) !== '' && formOf(ownWords(message, (inline) => inline)).includes(formOf(piece));
}
