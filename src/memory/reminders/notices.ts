import type { CommandButton } from '../../core/reply.ts';
import { quoted } from '../../core/text.ts';
import { discordTime } from '../../core/time.ts';
import type { Reminder, Reminders } from './reminders.ts';

/** Of each of several, characters of its text. */
const listedMaxChars = 100;

/** How a moment is shown to a person: in everybody's own zone [RM2]. */
export function shownMoment(at: Date): string {
  return `${discordTime(at, 'F')} (${discordTime(at, 'R')})`;
}

type Shown = Pick<Reminder, 'at' | 'repeat'> & Partial<Reminder>;

/** When one comes or came, and how it comes again. */
export function shownWhen({ at, repeat, cameAt, missed }: Shown): string {
  const came = cameAt === undefined ? '' : 'came: ';
  const wasMissed = repeat === undefined ? 'missed: ' : 'missed, comes again ';
  const state = missed === undefined ? came : wasMissed;
  return `${state}${shownMoment(new Date(at))}${repeat === undefined ? '' : `, ${repeat}`}`;
}

/** The same with what it says. */
export function shownReminder(reminder: Shown & Pick<Reminder, 'text'>, maxChars?: number): string {
  return `${shownWhen(reminder)}: ${quoted(reminder.text, maxChars)}`;
}

/** As one of several, with its id. */
export function listedReminder(reminder: Reminder): string {
  return `${shownReminder(reminder, listedMaxChars)} · id ${reminder.id}`;
}

export function removeButton({ id }: Pick<Reminder, 'id'>, label = 'Do not remind me'): CommandButton {
  return { label, line: `reminders remove ${id}`, takes: 'itself' };
}

/** Under what comes [RM5]. */
export function buttonsUnder(reminder: Reminder): readonly CommandButton[] {
  const { id, repeat } = reminder;
  const done = { label: 'Done', line: repeat === undefined ? `reminders remove ${id}` : undefined };
  return [
    done,
    { label: '10 minutes', line: `reminders later ${id} in 10 minutes` },
    { label: '1 hour', line: `reminders later ${id} in 1 hour` },
    { label: 'Tomorrow', line: `reminders later ${id} tomorrow` },
    ...(repeat === undefined ? [] : [removeButton(reminder, 'Done for good')]),
  ];
}

/** Why one cannot be set, as people and models are told. */
export const whyNotSet: Readonly<Record<Exclude<Awaited<ReturnType<Reminders['set']>>, Reminder>, string>> = {
  full: 'there are fifty already. `!reminders` lists them.',
  secret: 'it looks like a password or a key, which I do not keep.',
  long: 'it is longer than 500 characters.',
  empty: 'it does not say what of.',
};
