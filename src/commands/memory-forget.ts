import type { CommandButton } from '../core/reply.ts';
import type { CommandReply } from '../core/commands.ts';
import { clip, saysNothing, saysWords, toSingleLine } from '../core/text.ts';
import { sessionOf } from '../core/turn-context.ts';
import { mayUse, pickReach } from '../core/visibility.ts';
import { mayUseItem, type DurableItem } from '../memory/durable/document.ts';
import { newestItems } from '../memory/durable/items.ts';
import {
  forgetButton,
  mostChoices,
  whichToForget,
  wordsOfButtonMaxChars,
} from '../memory/durable/notices.ts';
import { countNotesSaying } from '../memory/holdings.ts';
import { listedReminder, removeButton } from '../memory/reminders/notices.ts';
import { mayUseReminder } from '../memory/reminders/reminders.ts';
import { undoButton, type MessagesByChannel } from '../memory/undo.ts';
import {
  brieflyQuoted,
  counted,
  linesOf,
  listedItem,
  nameable,
  present,
  quoted,
  withoutFences,
} from './answer-lines.ts';
import type { MemoryCall } from './memory-ports.ts';

/** Forgets one item, or `all …`, at once; of several the asker picks [K2][K4]. */
export async function forgetTarget(call: MemoryCall, target: string): Promise<CommandReply> {
  const mentions = /^mentions of\s+(?<words>\S[\s\S]*)$/iu.exec(target)?.groups?.['words'];
  if (mentions !== undefined && !saysNothing(mentions)) return forgetMentions(call, mentions);
  const all = /^all\s+(?<words>\S[\s\S]*)$/iu.exec(target)?.groups?.['words'];
  const words = mentions ?? all ?? target;
  const found = await call.memory.durable.find(call.speaker.id, words, call.place);
  if (found.isVague) return askWhatIsMeant(call, words);
  const isPlain = found.byId || all !== undefined || found.named.length === 1;
  if (!isPlain && found.named.length + found.inside.length > 0) return askWhich(call, words, found);
  return forgetNamed(call, words, found.inside);
}

/** As many as have room under an answer. */
const mostReminders = 5;

type Found = Awaited<ReturnType<MemoryCall['memory']['durable']['find']>>;

/** Lists what could be meant, with buttons for each, for all and for none. */
function askWhich(call: MemoryCall, words: string, { named, inside, elsewhere }: Found): CommandReply {
  const isInside = named.length === 0;
  const items = nameable(call, isInside ? inside : named).named;
  const where = isInside ? ', but only inside of longer words' : '';
  return {
    text: linesOf(
      `${counted(items.length, 'item')} ${items.length === 1 ? 'has' : 'have'} ${brieflyQuoted(words)}${where}. Nothing is forgotten yet; which shall I forget?`,
      items.map((item) => listedItem(item, call)),
      elsewhereLine(elsewhere),
      '-# Without buttons: `!memory forget <id>`, or `!memory forget all <words>`.',
    ),
    buttons: whichToForget(items, { words: isInside ? '' : words }),
  };
}

/** Words that name nothing by themselves take nothing: shown is what may be meant, and how all of it goes [K4]. */
async function askWhatIsMeant(call: MemoryCall, words: string): Promise<CommandReply> {
  const { memory, speaker, place, repliesTo } = call;
  const usable = (await memory.durable.list(speaker.id)).filter((item) =>
    mayUseItem(item, speaker.id, place),
  );
  const answers = await memory.provenance.sizesOf(speaker.id);
  const lastTurn = answers.find((each) => each.place.channelId === place.channelId);
  const ids = [...(lastTurn?.messageIds ?? []), ...(repliesTo === undefined ? [] : [repliesTo.id])];
  const items = newestItems(nameable(call, usable).named, ids);
  return {
    text: linesOf(
      `${brieflyQuoted(words)} names no item by itself, so nothing is forgotten yet. ${items.length === 0 ? 'I remember no item that I may use here.' : 'Is it one of these?'}`,
      items.map((item) => listedItem(item, call)),
      '-# Without buttons: `!memory forget <id>`, or words of the item, in quotes as they stand. `!memory erase` erases everything, after asking.',
    ),
    buttons: whichToForget(items, { isVague: true }),
  };
}

function elsewhereLine(count: number): string | false {
  return count > 0 && `${count} more in our DM: say \`!memory forget\` there.`;
}

async function forgetNamed(
  call: MemoryCall,
  target: string,
  inside: readonly DurableItem[],
): Promise<CommandReply> {
  const { id: commandId, place, memory } = call;
  const done = await memory.durable.forget(call.work, target, place, commandId);
  const { forgotten, elsewhere, words, withdrawn, undoId } = done;
  const rest = await leftOver(call, words);
  const others = nameable(call, inside).named;
  return {
    text: linesOf(
      forgottenLines(call, target, forgotten),
      withdrawn > 0 &&
        `With it went ${counted(withdrawn, 'message')} that it came from (including my answers): I no longer use or find them.`,
      elsewhereLine(elsewhere),
      rest === undefined && notEverywhereLine,
      rest?.lines,
      others.length > 0 && 'It also appears inside longer words:',
      others.map((item) => listedItem(item, call)),
    ),
    buttons: [
      ...undoButton(undoId),
      ...(rest?.buttons ?? []),
      ...others.slice(0, mostChoices).map((item) => forgetButton(item, 'Forget: ')),
    ],
  };
}

function forgottenLines(
  call: MemoryCall,
  target: string,
  forgotten: readonly DurableItem[],
): readonly string[] {
  const where = call.place.audience === 'dm' ? '' : ' that I may use here';
  if (forgotten.length === 0) return [`No item${where} matches ${brieflyQuoted(target)}`];
  return [
    `Deprecated ${counted(forgotten.length, 'item')} matching ${brieflyQuoted(target)}`,
    ...nameable(call, forgotten).named.map((item) => listedItem(item, call)),
  ];
}

/** The items are forgotten by now: what fails after that must not look as if they were not. */
const notEverywhereLine =
  'I could not search every other layer for it right now; please try again in a few minutes.';

/** What else still says the words, as far as it may be used in this place; `undefined` where that cannot be known. */
async function leftOver(call: MemoryCall, words: string) {
  const { speaker, place, view, memory, logger } = call;
  try {
    const messages = countOf(await mentionsOf(call, words));
    const summary = await memory.rolling.show(sessionOf(call), view, speaker.id);
    const notes = place.audience === 'dm' ? await countNotesSaying(speaker.id, words, [memory.notes]) : 0;
    const reminders = (await memory.reminders.list(speaker.id))
      .filter((each) => saysWords(each.text, words) && mayUseReminder(each, speaker.id, place))
      .slice(0, mostReminders);
    const brief = withoutFences(clip(toSingleLine(words), 100));
    const button = (label: string, command: string): CommandButton | false =>
      words.length <= wordsOfButtonMaxChars && {
        label,
        line: `memory ${command} ${toSingleLine(words)}`,
        takes: 'itself',
      };
    return {
      lines: present(
        messages > 0 &&
          `${messages === 1 ? '1 more message says' : `${messages} more messages say`} it in our conversations, including my answers; \`!memory forget mentions of ${brief}\` takes them too.`,
        saysWords(summary ?? '', words) &&
          'The rolling summary of this conversation still mentions it; `!memory reset rolling` clears it.',
        notes > 0 &&
          `${notes === 1 ? '1 note says' : `${notes} notes say`} it too; \`!memory purge ${brief}\` erases all that does.`,
        reminders.length > 0 && 'I am still to remind you of it:',
        reminders.map(listedReminder),
      ),
      buttons: present(
        messages > 0 && button('Forget these messages too', 'forget mentions of'),
        notes > 0 && button('Erase all that says it', 'purge'),
        reminders.map((each) => removeButton(each, `Do not remind me: ${toSingleLine(each.text)}`)),
      ),
    };
  } catch (error) {
    logger.error('not every layer could be searched for forgotten words', { error });
    return undefined;
  }
}

function countOf(messages: MessagesByChannel): number {
  return messages.reduce((sum, { messageIds }) => sum + messageIds.length, 0);
}

/** The messages that say some words and may be used in this place. */
function mentionsOf({ speaker, place, memory }: MemoryCall, words: string): Promise<MessagesByChannel> {
  return memory.sessionLog.mentions(speaker.id, words, (message) =>
    mayUse({ ownerId: speaker.id, ...pickReach(message) }, place, speaker.id),
  );
}

/** Takes all messages out that say the words, and answers to them: as what an item came from [K4]. */
async function forgetMentions(call: MemoryCall, words: string): Promise<CommandReply> {
  const { id: commandId, place, memory } = call;
  const messages = await mentionsOf(call, words);
  if (countOf(messages) === 0) return { text: `No message that I may use here says ${brieflyQuoted(words)}` };
  const about = { words, messages };
  const done = await memory.durable.forget(call.work, [], place, commandId, about);
  return {
    text: `Forgot ${counted(done.withdrawn, 'message')} around ${brieflyQuoted(words)}, including my answers. They are still on Discord; I no longer use or find them.`,
    buttons: undoButton(done.undoId),
  };
}

/** Undoes the asker's newest change, or the one with this id [K5]. */
export async function undoChange(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  // As the button of an answer says it that told of several.
  if (id?.includes(',') === true) return listChanges(call, id.split(','));
  const done = await call.memory.durable.undo(call.work, id);
  if (done === undefined) return { text: nothingToUndo };
  const { what, isDone } = done;
  if (!isDone)
    return { text: `I did not undo the \`${what}\`: part of it has changed since. Undo that first.` };
  return { text: `Undone: the \`${what}\`.` };
}

const nothingToUndo =
  'There is nothing to undo: changes can be undone for ten minutes, and what I took out of your notebook for thirty days, each once.';

/** Lists several changes, each with its buttons [K6]. */
async function listChanges(call: MemoryCall, ids: readonly string[]): Promise<CommandReply> {
  const changes = await call.memory.durable.undoable(call.speaker.id, ids);
  if (changes.length === 0) return { text: nothingToUndo };
  const lines = changes.map(({ what, items }, index) => {
    const texts = nameable(call, items).named.map(({ text }) => quoted(text));
    return `${index + 1}. ${texts.length === 0 ? `\`${what}\`` : texts.join(', ')}`;
  });
  const buttons = changes.flatMap(({ id, items }, index): readonly CommandButton[] => [
    { label: `Undo ${index + 1}`, line: `memory undo ${id}`, takes: 'itself' },
    ...items
      .filter(({ visibility }) => visibility !== 'dm')
      .map((item): CommandButton => ({
        label: `Only in DM ${index + 1}`,
        line: `memory hide ${item.id}`,
        takes: 'itself',
      })),
  ]);
  return { text: linesOf('Recent changes that you can undo:', lines), buttons };
}
