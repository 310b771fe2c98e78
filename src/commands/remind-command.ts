import type { CommandContext, CommandForm, CommandReply, MenuForms } from '../core/commands.ts';
import type { CommandButton } from '../core/reply.ts';
import { discordLink } from '../core/snowflake.ts';
import { daysAfter, localDateTime } from '../core/time.ts';
import { mayUseItem, wordingOf } from '../memory/durable/document.ts';
import type { DurableMemory } from '../memory/durable/durable-memory.ts';
import {
  listedReminder,
  removeButton,
  shownReminder,
  shownWhen,
  whyNotSet,
} from '../memory/reminders/notices.ts';
import {
  mayUseReminder,
  type NewReminder,
  type Reminder,
  type Reminders,
} from '../memory/reminders/reminders.ts';
import { repeats } from '../memory/reminders/wall-clock.ts';
import { readMoment, whyNot } from '../memory/reminders/when.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import type { PlaceSettings } from '../memory/settings/place-settings.ts';
import { counted, linesOf, present, quoted } from './answer-lines.ts';
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
        { name: 'come again later', value: 'later' },
        { name: 'change the moment', value: 'move' },
        { name: 'remove', value: 'remove' },
        { name: 'set one about a message', value: 'about' },
        { name: 'set one for an item with a day', value: 'item' },
      ],
      isOptional: true,
    },
    id: { kind: 'id', description: 'The id of the reminder, message or item', isOptional: true },
    when: { kind: 'text', description: 'When instead, such as tomorrow at 9:00', isOptional: true },
  },
} as const;

export interface RemindPorts {
  readonly durable: Pick<DurableMemory, 'list'>;
  readonly reminders: Omit<Reminders, 'layer'>;
  readonly people: Pick<PersonSettingsStore, 'timeZoneOf' | 'shownClock' | 'pauseIn'>;
  readonly placeSettings: Pick<PlaceSettings, 'isMemoryOff'>;
}

const usage =
  'Say when, then a colon, then what: `!remind tomorrow at 9: call mum`, or `!remind weekdays at 8:30: stand-up`. `!reminders` lists yours.';

interface Wish extends Pick<NewReminder, 'place' | 'messageId' | 'repeat' | 'statement'> {
  readonly when: string;
  readonly what: string;
  /** Another moment that may be meant. */
  readonly before?: string;
}

/** Sets a reminder in the asker's own words. */
export function createRemindCommand(ports: RemindPorts): Command {
  return defineCommand(remindDefinition, {
    handle({ when = '', what, repeat, where }, context) {
      const wish = what === undefined ? splitWritten(when, repeat) : { when, what, repeat };
      const place = readingPlace(context.place, where === 'dm');
      return setReminder(ports, context, { ...wish, place, messageId: context.id });
    },
  });
}

async function setReminder(
  ports: RemindPorts,
  context: CommandContext,
  { when, what, repeat, place, messageId, statement, before }: Wish,
): Promise<CommandReply> {
  const { speaker, work, at } = context;
  if (when === '' || what === '') return { text: linesOf('Nothing is set.', usage) };
  const timeZone = await ports.people.timeZoneOf(speaker.id);
  const read = readMoment(when, new Date(at), timeZone);
  if (typeof read === 'string') return { text: `Nothing is set. ${whyNot(read)}` };
  const refused = await refusalToStore({ ...context, memory: ports });
  if (refused !== undefined) return refused;
  const set = await ports.reminders.set(work, { text: what, at: read, repeat, place, messageId, statement });
  if (typeof set === 'string') return { text: `Nothing is set: ${whyNotSet[set]}` };
  const isAhead = before !== undefined && readMoment(before, new Date(at), timeZone) instanceof Date;
  return {
    text: linesOf(
      `⏰ I will remind you ${shownReminder(set)}`,
      `-# ${await ports.people.shownClock(speaker.id)}`,
    ),
    buttons: present<CommandButton>(
      removeButton(set),
      isAhead && { label: 'The evening before', line: `reminders move ${set.id} ${before}`, takes: 'itself' },
    ),
  };
}

/** Lists the asker's reminders, and does what their buttons say. */
export function createRemindersCommand(ports: RemindPorts): Command {
  const { reminders, people } = ports;
  return defineCommand(remindersDefinition, {
    async handle({ do: wish, id = '', when = '' }, context) {
      const { work, speaker, place, ephemeral, at } = context;
      if (wish === undefined)
        return ephemeral || place.audience === 'dm'
          ? listed(await reminders.list(speaker.id))
          : { text: forAskerOnly('reminders') };
      if (wish === 'about') return remindAbout(ports, context, id, when);
      if (wish === 'item') return remindOfItem(ports, context, id);
      const known = (await reminders.list(speaker.id)).find((each) => each.id === id);
      const view = readingPlace(place, ephemeral);
      if (known === undefined || !mayUseReminder(known, speaker.id, view))
        return { text: `There is no reminder ${quoted(id)} here any more. \`!reminders\` lists yours.` };
      if (wish === 'remove') {
        await reminders.remove(work, id);
        return { text: `Off your list: ${quoted(known.text)}` };
      }
      if (when === '') return moveForm(known);
      const timeZone = await people.timeZoneOf(speaker.id);
      const sameHour = `tomorrow at ${localDateTime(new Date(known.at), timeZone).slice(11)}`;
      const isPutOff = wish === 'later';
      const read = readMoment(isPutOff && when === 'tomorrow' ? sameHour : when, new Date(at), timeZone);
      if (typeof read === 'string') {
        const reason = `Nothing is changed. ${whyNot(read)}`;
        return { ...moveForm(known, reason), text: reason };
      }
      const then =
        isPutOff && known.repeat !== undefined
          ? await reminders.set(work, onceMore(known, read))
          : await reminders.move(work, known, read);
      if (typeof then === 'string') return { text: `Nothing is changed: ${whyNotSet[then]}` };
      return { text: `⏰ It comes ${shownReminder(then)}` };
    },
  });
}

/** Beside what comes again. */
function onceMore({ text, place, messageId, statement }: Reminder, at: Date): NewReminder {
  return { text, place, messageId, statement, at };
}

const mostWithButtons = 12;

function listed(all: readonly Reminder[]): CommandReply {
  if (all.length === 0) return { text: linesOf('No reminders are waiting.', usage) };
  const lines = all.map((each, index) => `${index + 1}. ${listedReminder(each)}`);
  return {
    text: linesOf(
      `${counted(all.length, 'reminder')}:`,
      lines,
      '-# Without buttons: `!reminders move <id> <when>` or `!reminders remove <id>`.',
    ),
    data: {
      kind: 'reminders',
      cards: all.map((each) => ({
        question: `${shownWhen(each)}: ${each.text}`,
        items: [],
        buttons: [{ label: 'Change', line: `reminders move ${each.id}` }, removeButton(each, 'Remove')],
      })),
    },
    buttons: all
      .slice(0, mostWithButtons)
      .flatMap((each, index) => [
        { label: `✏️ ${index + 1}`, line: `reminders move ${each.id}`, takes: 'nothing', opensForm: true },
        removeButton(each, `🗑️ ${index + 1}`),
      ]),
  };
}

/** Of a message's menu: the windows that ask when, by what people see [RM1]. */
export const remindMenu: MenuForms = {
  'Remind me about this': (messageId) =>
    whenForm(`reminders about ${messageId}`, 'When? Behind a colon, words of your own'),
};

/** The text is a link and the asker's own words: nothing of the message [RM1], and no link to where the bot is not [EW1]. */
function remindAbout(ports: RemindPorts, context: CommandContext, messageId: string, written: string) {
  const { guildId, channelId } = context.place;
  const { what: words, ...wish } = splitWritten(written);
  const link = discordLink({ guildId, channelId, messageId });
  const what = context.isElsewhere === true ? words : `${words} ${link}`;
  return setReminder(ports, context, { ...context, ...wish, what, messageId: context.id });
}

/** At nine o'clock of its day [RM8]; where the place may not be told of the item, by direct message. */
async function remindOfItem(ports: RemindPorts, context: CommandContext, id: string): Promise<CommandReply> {
  const { speaker, place, ephemeral } = context;
  const view = readingPlace(place, ephemeral);
  const item = (await ports.durable.list(speaker.id)).find(
    (each) => each.id === id && mayUseItem(each, speaker.id, view),
  );
  if (item?.when === undefined) return { text: `I know of no item ${quoted(id)} with a day here.` };
  return setReminder(ports, context, {
    when: `${item.when} 9:00`,
    before: `${daysAfter(item.when, -1)} 18:00`,
    what: wordingOf(item),
    place: mayUseItem(item, speaker.id, place) ? place : view,
    messageId: item.source.messageId,
    statement: item.text,
  });
}

function moveForm({ id, text }: Reminder, reason?: string): CommandReply {
  return {
    text: `When instead? \`!reminders move ${id} tomorrow at 9:00\``,
    form: { ...whenForm(`reminders move ${id}`, text), reason },
  };
}

function whenForm(line: string, label: string): CommandForm {
  return { title: 'When shall I remind you?', label, value: '', maxChars: 600, line };
}

/** When and what, as they are written behind `!remind`, perhaps with how it comes again before. */
function splitWritten(written: string, otherwise?: NewReminder['repeat']) {
  const [, named, rest = ''] = /^(?:(daily|weekdays|weekly|monthly|yearly)\s)?([^]*)$/iu.exec(written) ?? [];
  // The colons of an hour and of Discord's `<t:…:F>` are none.
  const [when = '', what = ''] = rest.split(/(?::(?!\d|[a-z]>)|：)([^]*)/iu);
  const repeat = repeats.find((each) => each === named?.toLowerCase()) ?? otherwise;
  return { when: when.trim(), what: what.trim(), repeat };
}
