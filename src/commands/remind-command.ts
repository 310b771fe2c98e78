import type { CommandReply } from '../core/commands.ts';
import type { CommandButton } from '../core/reply.ts';
import { shownText } from '../core/text.ts';
import { mayUse, reachOf } from '../core/visibility.ts';
import { isWaiting, shownMoment, type Reminder, type Reminders } from '../memory/reminders/reminders.ts';
import { whyNotSet } from '../memory/reminders/tool.ts';
import { repeats, sameHourTomorrow, type Repeat } from '../memory/reminders/wall-clock.ts';
import { readMoment, whyNot } from '../memory/reminders/when.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import type { PlaceSettings } from '../memory/settings/place-settings.ts';
import { counted, linesOf, quoted } from './answer-lines.ts';
import { defineCommand, forAskerOnly, type Command } from './command.ts';
import { refusalToStore } from './memory-control.ts';
import { readingPlace } from './memory-ports.ts';

/** `/remind` as data [RM1]. */
export const remindDefinition = {
  name: 'remind',
  description: 'Remind me of something at a moment; only you see the answer, and the reminder comes here',
  options: {
    when: {
      kind: 'text',
      description: 'Such as tomorrow at 9:00, in 20 minutes or 15 March',
      isOptional: true,
    },
    what: { kind: 'text', description: 'What I shall remind you of', isOptional: true, isSlashOnly: true },
    repeat: {
      kind: 'choice',
      description: 'How it comes again; once by default',
      choices: repeats.map((value) => ({ name: value, value })),
      isOptional: true,
      isSlashOnly: true,
    },
    where: {
      kind: 'choice',
      description: 'Where it comes; here by default',
      choices: [
        { name: 'here', value: 'here' },
        { name: 'by direct message', value: 'dm' },
      ],
      isOptional: true,
      isSlashOnly: true,
    },
  },
} as const;

/** `/reminders` as data [RM5]. */
export const remindersDefinition = {
  name: 'reminders',
  description: 'Your reminders, which you can change and remove; only you see them',
  options: {
    do: {
      kind: 'choice',
      description: 'What to do with one; without it, I list all',
      choices: [
        { name: 'done', value: 'done' },
        { name: 'come again later', value: 'later' },
        { name: 'change the moment', value: 'move' },
        { name: 'remove', value: 'remove' },
      ],
      isOptional: true,
    },
    id: { kind: 'id', description: 'The id of the reminder', isOptional: true },
    when: { kind: 'text', description: 'When instead, such as tomorrow at 9:00', isOptional: true },
  },
} as const;

export interface RemindPorts {
  readonly reminders: Omit<Reminders, 'layer'>;
  readonly people: Pick<PersonSettingsStore, 'timeZoneOf' | 'get' | 'pauseIn'>;
  readonly placeSettings: Pick<PlaceSettings, 'isMemoryOff'>;
}

const usage =
  'Say when, then a colon, then what: `!remind tomorrow at 9: call mum`, or `!remind every weekday at 8:30: stand-up`. `!reminders` lists yours.';

/** Sets a reminder in the asker's own words. */
export function createRemindCommand(ports: RemindPorts): Command {
  return defineCommand(remindDefinition, {
    async handle({ when = '', what, repeat, where = 'here' }, context) {
      const { work, id: messageId, place, at, speaker } = context;
      const timeZone = await ports.people.timeZoneOf(speaker.id);
      const now = new Date(at);
      const parts = what === undefined ? splitWritten(when, now, timeZone) : { when, what, repeat };
      if (parts === undefined)
        return { text: when.trim() === '' ? usage : linesOf(whyNot('unreadable'), usage) };
      const read = readMoment(parts.when, now, timeZone);
      if (read.outcome !== 'read') return { text: `Nothing is set. ${whyNot(read.outcome)}` };
      const refused = await refusalToStore({ ...context, memory: ports });
      if (refused !== undefined) return refused;
      const set = await ports.reminders.set(work, {
        text: parts.what,
        at: read.at,
        repeat: parts.repeat,
        where,
        place,
        messageId,
      });
      if (typeof set === 'string') return { text: `Nothing is set: ${whyNotSet[set]}` };
      return {
        text: linesOf(
          `⏰ I will remind you ${shownMoment(read.at)}${again(set)}: ${quoted(set.text)}`,
          zoneLine((await ports.people.get(speaker.id))?.timeZone, timeZone),
        ),
        buttons: [removeButton(set, 'Do not remind me')],
      };
    },
  });
}

/** Lists the asker's reminders, and does what their buttons say. */
export function createRemindersCommand({ reminders, people }: RemindPorts): Command {
  return defineCommand(remindersDefinition, {
    async handle({ do: wish, id, when = '' }, context) {
      const { work, speaker, place, ephemeral, at } = context;
      if (wish === undefined)
        return ephemeral || place.audience === 'dm'
          ? listed(await reminders.list(speaker.id))
          : { text: forAskerOnly('reminders') };
      if (id === undefined) return { text: 'Which one? `!reminders` lists them with their ids.' };
      const known = (await reminders.list(speaker.id)).find((each) => each.id === id);
      const view = readingPlace(place, ephemeral);
      if (known === undefined || !mayUse({ ownerId: speaker.id, ...reachOf(known.place) }, view, speaker.id))
        return { text: `There is no reminder ${quoted(id)} here any more. \`!reminders\` lists yours.` };
      switch (wish) {
        case 'done':
          await reminders.done(work, id);
          return {
            text: known.repeat === undefined ? 'Done.' : `Done for now; it comes again ${known.repeat}.`,
          };
        case 'remove':
          await reminders.remove(work, id);
          return { text: `I will not remind you of ${quoted(known.text)} any more.` };
        case 'later':
        case 'move': {
          const timeZone = await people.timeZoneOf(speaker.id);
          if (when === '' && wish === 'move') return moveForm(known);
          const now = new Date(at);
          const read =
            wish === 'later' && when === tomorrow
              ? ({ outcome: 'read', at: sameHourTomorrow(new Date(known.at), now, timeZone) } as const)
              : readMoment(when, now, timeZone);
          if (read.outcome !== 'read')
            return {
              ...moveForm(known, whyNot(read.outcome)),
              text: `Nothing is changed. ${whyNot(read.outcome)}`,
            };
          await reminders[wish === 'later' ? 'snooze' : 'move'](work, id, read.at);
          return { text: `⏰ It comes ${shownMoment(read.at)}: ${quoted(known.text)}` };
        }
      }
    },
  });
}

/** Of the button: at the hour at which it came. */
const tomorrow = 'tomorrow';

/** Under what comes [RM5]. */
export function buttonsUnder(reminder: Reminder): readonly CommandButton[] {
  const { id, repeat } = reminder;
  return [
    { label: 'Done', line: `reminders done ${id}` },
    { label: '10 minutes', line: `reminders later ${id} in 10 minutes` },
    { label: '1 hour', line: `reminders later ${id} in 1 hour` },
    { label: 'Tomorrow', line: `reminders later ${id} ${tomorrow}` },
    ...(repeat === undefined ? [] : [removeButton(reminder, 'Done for good')]),
  ];
}

const mostWithButtons = 12;

function listed(all: readonly Reminder[]): CommandReply {
  if (all.length === 0) return { text: linesOf('No reminders are waiting.', usage) };
  const lines = all.map(
    (each, index) =>
      `${index + 1}. ${isWaiting(each) ? shownMoment(new Date(each.at)) : `${each.isMissed ? 'missed' : 'came'} ${shownMoment(new Date(each.cameAt ?? each.at))}`}${again(each)}: ${shownText(each.text)} · id ${each.id}`,
  );
  return {
    text: linesOf(
      `${counted(all.length, 'reminder')}:`,
      lines,
      '-# Without buttons: `!reminders move <id> <when>` or `!reminders remove <id>`.',
    ),
    buttons: all
      .slice(0, mostWithButtons)
      .flatMap((each, index) => [
        { label: `✏️ ${index + 1}`, line: `reminders move ${each.id}`, takes: 'nothing', opensForm: true },
        removeButton(each, `🗑️ ${index + 1}`),
      ]),
  };
}

function removeButton({ id }: Reminder, label: string): CommandButton {
  return { label, line: `reminders remove ${id}`, takes: 'itself' };
}

function again({ repeat }: Pick<Reminder, 'repeat'>): string {
  return repeat === undefined ? '' : `, ${repeat}`;
}

function moveForm({ id, text }: Reminder, reason?: string): CommandReply {
  return {
    text: `When instead? \`!reminders move ${id} tomorrow at 9:00\``,
    form: {
      reason,
      title: 'When shall I remind you?',
      label: text.slice(0, 45),
      value: '',
      maxChars: 100,
      line: `reminders move ${id}`,
    },
  };
}

/** Whose clock it goes by, and how that is changed [RM2]. */
function zoneLine(own: string | undefined, timeZone: string): string {
  return own === undefined
    ? `-# By the clock in ${timeZone}, which is mine; \`!memory timezone <city>\` sets yours.`
    : `-# By the clock in ${timeZone}; \`!memory timezone <city>\` changes that.`;
}

const everyUnit = new Map<string, Repeat>([
  ['day', 'daily'],
  ['weekday', 'weekdays'],
  ['week', 'weekly'],
  ['month', 'monthly'],
  ['year', 'yearly'],
]);

/** When and what, as they are written behind `!remind`: with a colon between, or the moment first. */
function splitWritten(
  written: string,
  now: Date,
  timeZone: string,
): { readonly when: string; readonly what: string; readonly repeat: Repeat | undefined } | undefined {
  const { repeat, rest } = readRepeat(written.replace(/^me\s+/iu, ''));
  const words = [...rest.matchAll(/:(?=\s|\p{L})|：|\s+/gu)];
  const colons = words.filter(([between]) => between.trim() !== '');
  // Before a colon, or else the longest beginning that names a moment, so that `9:30` and `tomorrow at 9` stay whole.
  for (const { index, 0: between } of [...colons.toReversed(), ...words.toReversed()]) {
    const when = rest.slice(0, index).trim();
    const what = rest.slice(index + between.length).replace(/^:?\s*(?:to\s+)?/u, '');
    if (what !== '' && readMoment(when, now, timeZone).outcome !== 'unreadable')
      return { when, what, repeat };
  }
  return undefined;
}

/** `every day at 9`, `daily at 9`, `every Monday`: what of it says how it comes again. */
function readRepeat(written: string): { readonly repeat: Repeat | undefined; readonly rest: string } {
  const named = /^(daily|weekly|monthly|yearly|weekdays)\s+/iu.exec(written);
  if (named !== null) {
    const word = named[1]?.toLowerCase();
    return { repeat: repeats.find((each) => each === word), rest: written.slice(named[0].length) };
  }
  const [head = '', unit = ''] = /^every\s+(\p{L}+)\s*/iu.exec(written) ?? [];
  const repeat = everyUnit.get(unit.toLowerCase());
  if (repeat !== undefined) return { repeat, rest: written.slice(head.length) };
  return head === ''
    ? { repeat: undefined, rest: written }
    : { repeat: 'weekly', rest: written.replace(/^every\s+/iu, '') };
}
