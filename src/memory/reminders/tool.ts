import { z } from 'zod';

import { ownWords } from '../../core/own-words.ts';
import type { CommandButton } from '../../core/reply.ts';
import { toSingleLine } from '../../core/text.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { asksFirst } from '../../core/turn-context.ts';
import { formOf, shownMoment, type NewReminder, type Reminder, type Reminders } from './reminders.ts';
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
      // Counted from when it was said: a turn that is run again after a kill means the same moment.
      const askedAt = new Date(message.at);
      const read = readMoment(when, askedAt, timeZone);
      if (read.outcome !== 'read' && moment === undefined) return refusal(`Not set: ${whyNot(read.outcome)}`);
      const offered = read.outcome === 'read' ? read.at : momentGiven(moment, askedAt, timeZone);
      if (offered === undefined) return refusal('Not set: `moment` is none ahead. Ask them when.');
      const place = context.originalPlace ?? context.place;
      const reminder: NewReminder = {
        text: what,
        at: offered,
        repeat,
        where: 'here',
        place,
        messageId: message.id,
      };
      if (read.outcome === 'read' && !asksFirst(context))
        return outcomeOf(await ports.reminders.set(context.work, reminder));
      return {
        ...refusal('Not set yet: the person is asked by a button under your answer, which shows the moment.'),
        offer: {
          what: `Remind you ${shownMoment(offered)}:`,
          words: toSingleLine(what),
          async carryOut() {
            const set = await ports.reminders.set(context.work, reminder);
            return typeof set === 'string'
              ? `Not set: ${whyNotSet[set]}`
              : { text: 'Set.', buttons: reminderButtons(set) };
          },
        },
      };
    },
  });
}

/** Why one cannot be set, as people and models are told. */
export const whyNotSet: Readonly<Record<Exclude<Awaited<ReturnType<Reminders['set']>>, Reminder>, string>> = {
  full: 'there are fifty already. `!reminders` lists them.',
  secret: 'it looks like a password or a key, which I do not keep.',
  long: 'it is longer than 500 characters.',
  empty: 'it does not say what of.',
};

function outcomeOf(set: Awaited<ReturnType<Reminders['set']>>): ToolOutcome {
  if (typeof set === 'string') return refusal(`Not set: ${whyNotSet[set]}`);
  const line = `⏰ I will remind you ${shownMoment(new Date(set.at))}${set.repeat === undefined ? '' : `, ${set.repeat}`}`;
  const notice = { line: `${line}: "${set.text}"`, bareLine: line, buttons: reminderButtons(set) };
  return { ok: true, text: `Set for ${set.at} (UTC). The person is shown the moment.`, notice };
}

function reminderButtons({ id }: Reminder): readonly CommandButton[] {
  return [{ label: 'Do not remind me', line: `reminders remove ${id}`, takes: 'itself' }];
}

/** Literally, in prose: case and the width of white space aside. */
function says(message: string, piece: string): boolean {
  return formOf(piece) !== '' && formOf(ownWords(message)).includes(formOf(piece));
}

/** The model's own reading, on the clock of the person. */
function momentGiven(moment: string | undefined, now: Date, timeZone: string): Date | undefined {
  if (moment === undefined || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/u.test(moment)) return undefined;
  const read = readMoment(moment.slice(0, 16).replace('T', ' '), now, timeZone);
  return read.outcome === 'read' ? read.at : undefined;
}
