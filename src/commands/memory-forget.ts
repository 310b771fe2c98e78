import type { CommandButton } from '../core/chat.ts';
import { buttonLineMaxChars, type CommandContext, type CommandReply } from '../core/commands.ts';
import { clip, toSingleLine, saysWords } from '../core/text.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { DurableItem } from '../memory/durable/document.ts';
import { undoButton, type MessagesByChannel } from '../memory/undo.ts';
import {
  brieflyQuoted,
  counted,
  listedItem,
  nameable,
  quoted,
  readingPlace,
  withoutFences,
} from './answer-lines.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';

/** Buttons that fit under an answer, less the two that are for all and none. */
const mostChoiceButtons = 20;
/** Words that fit into what a button does. */
const wordsOfButtonMaxChars = 40;

/**
 * Forgets what the target names and may be used in this place [K2][K4]: where that is one item, or `all` stands before it, at once; otherwise the
 * asker picks. With an item go the messages that it came from. What else says the words is counted, and can be taken too.
 */
export async function forgetTarget(
  context: CommandContext,
  target: string,
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  const mentions = /^mentions of\s+(?<words>\S[\s\S]*)$/iu.exec(target)?.groups?.['words'];
  if (mentions !== undefined) return forgetMentions(context, mentions, ports);
  const all = /^all\s+(?<words>\S[\s\S]*)$/iu.exec(target)?.groups?.['words'];
  const words = all ?? target;
  const { speaker, place } = context;
  const found = await ports.durable.find(speaker.id, words, place);
  const isPlain = found.byId || all !== undefined || found.named.length === 1;
  if (!isPlain && found.named.length + found.inside.length > 0) return askWhich(context, words, found);
  return forgetNamed(context, words, found.inside, ports);
}

type Found = Awaited<ReturnType<MemoryCommandPorts['durable']['find']>>;

/** Lists what could be meant, with buttons for each, for all and for none. */
function askWhich(context: CommandContext, words: string, { named, inside, elsewhere }: Found): CommandReply {
  const view = readingPlace(context);
  const isInside = named.length === 0;
  const items = nameable(isInside ? inside : named, context.speaker.id, view).named;
  const where = isInside ? ', but only inside of longer words' : '';
  const byIds = `memory forget ${items.map(({ id }) => id).join(' ')}`;
  const isShort = byIds.length <= buttonLineMaxChars;
  const allLine = isShort ? byIds : `memory forget all ${words}`;
  const mayTakeAll = items.length > 1 && (isShort || fitsButton(words, isInside));
  return {
    text: [
      `${counted(items.length, 'item')} ${items.length === 1 ? 'has' : 'have'} ${brieflyQuoted(words)}${where}. Nothing is forgotten yet; which shall I forget?`,
      ...items.map((item) => listedItem(item, view)),
      ...(elsewhere === 0 ? [] : [elsewhereLine(elsewhere)]),
      '-# Without buttons: `!memory forget <id>`, or `!memory forget all <words>`.',
    ].join('\n'),
    buttons: [
      ...(mayTakeAll ? [{ label: `All ${items.length}`, line: allLine, isDanger: true as const }] : []),
      ...items.slice(0, mostChoiceButtons).map(({ id, text }) => ({
        label: toSingleLine(text),
        line: `memory forget ${id}`,
        takes: 'itself' as const,
      })),
      { label: 'None' },
    ],
  };
}

function fitsButton(words: string, isInside: boolean): boolean {
  return !isInside && words.length <= wordsOfButtonMaxChars;
}

function elsewhereLine(count: number): string {
  return `${count} more in our DM: say \`!memory forget\` there.`;
}

async function forgetNamed(
  context: CommandContext,
  target: string,
  inside: readonly DurableItem[],
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  const { id: commandId, speaker, place } = context;
  const done = await ports.durable.forget(speaker.id, target, place, commandId);
  const { forgotten, elsewhere, words, isEverywhere, withdrawn, notes, undoId } = done;
  const rest = await leftOver(context, words, ports);
  const view = readingPlace(context);
  const others = nameable(inside, speaker.id, view).named;
  return {
    text: [
      ...(forgotten.length === 0 && notes > 0 ? [] : forgottenLines(context, target, forgotten)),
      ...(notes === 0 ? [] : [`Forgot ${counted(notes, 'note')} of yours in channels.`]),
      ...(withdrawn === 0 ? [] : [`With it ${wentLine(withdrawn)}`]),
      ...(elsewhere === 0 ? [] : [elsewhereLine(elsewhere)]),
      ...(isEverywhere && !rest.isUnknown ? [] : [notEverywhereLine]),
      ...rest.lines,
      ...(others.length === 0 ? [] : ['It also appears inside longer words:']),
      ...others.map((item) => listedItem(item, view)),
    ].join('\n'),
    buttons: [
      ...undoButton(undoId),
      ...rest.buttons,
      ...others.slice(0, mostChoiceButtons).map(({ id, text }) => ({
        label: `Forget: ${toSingleLine(text)}`,
        line: `memory forget ${id}`,
        takes: 'itself' as const,
      })),
    ],
  };
}

function wentLine(messages: number): string {
  return `${messages === 1 ? 'went 1 message' : `went ${messages} messages`} that it came from (including my answers): I no longer use or find them.`;
}

function forgottenLines(
  context: CommandContext,
  target: string,
  forgotten: readonly DurableItem[],
): readonly string[] {
  const where = context.place.audience === 'dm' ? '' : ' that I may use here';
  if (forgotten.length === 0) return [`No item${where} matches ${brieflyQuoted(target)}`];
  const view = readingPlace(context);
  const { named } = nameable(forgotten, context.speaker.id, view);
  return [
    `Deprecated ${counted(forgotten.length, 'item')} matching ${brieflyQuoted(target)}`,
    ...named.map((item) => listedItem(item, view)),
  ];
}

/** The items are forgotten by now: what fails after that must not look as if they were not. */
const notEverywhereLine =
  'I could not search every other layer for it right now; please try again in a few minutes.';

interface LeftOver {
  readonly lines: readonly string[];
  readonly buttons: readonly CommandButton[];
  readonly isUnknown?: true;
}

/** What else still says the words, as far as it may be used in this place: messages, answers among them, and the summary. */
async function leftOver(
  context: CommandContext,
  words: string,
  { rolling, mentions, logger }: MemoryCommandPorts,
): Promise<LeftOver> {
  try {
    const messages = countOf(await mentions(context.speaker.id, words, context.place));
    const summary = await rolling.show(sessionOf(context), readingPlace(context), context.speaker.id);
    const isInSummary = saysWords(summary ?? '', words);
    return {
      lines: [
        ...(messages === 0
          ? []
          : [
              `${messages === 1 ? '1 more message says' : `${messages} more messages say`} it in our conversations, including my answers; \`!memory forget mentions of ${withoutFences(brief(words))}\` takes them too.`,
            ]),
        ...(isInSummary
          ? ['The rolling summary of this conversation still mentions it; `!memory reset rolling` clears it.']
          : []),
      ],
      buttons:
        messages > 0 && words.length <= wordsOfButtonMaxChars
          ? [
              {
                label: 'Forget these messages too',
                line: `memory forget mentions of ${toSingleLine(words)}`,
                takes: 'itself',
              },
            ]
          : [],
    };
  } catch (error) {
    logger.error('not every layer could be searched for forgotten words', { error });
    return { lines: [], buttons: [], isUnknown: true };
  }
}

function brief(words: string): string {
  return clip(toSingleLine(words), 100);
}

function countOf(messages: MessagesByChannel): number {
  return messages.reduce((sum, { messageIds }) => sum + messageIds.length, 0);
}

/** Takes all messages out that say the words, and answers to them: as what an item came from [K4]. */
async function forgetMentions(
  context: CommandContext,
  words: string,
  { durable, mentions }: MemoryCommandPorts,
): Promise<CommandReply> {
  const { id: commandId, speaker, place } = context;
  const messages = await mentions(speaker.id, words, place);
  if (countOf(messages) === 0) return { text: `No message that I may use here says ${brieflyQuoted(words)}` };
  const { withdrawn, isEverywhere, undoId } = await durable.forget(speaker.id, [], place, commandId, {
    words,
    messages,
  });
  return {
    text: [
      `Forgot ${counted(withdrawn, 'message')} around ${brieflyQuoted(words)}, including my answers. They are still on Discord; I no longer use or find them.`,
      ...(isEverywhere ? [] : [notEverywhereLine]),
    ].join('\n'),
    buttons: undoButton(undoId),
  };
}

/** Undoes the asker's newest change, or the one with this id [K5]. */
export async function undoChange(
  context: CommandContext,
  id: string | undefined,
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  // As the button of an answer says it that told of several.
  if (id?.includes(',') === true) return listChanges(context, id.split(','), ports);
  const { durable } = ports;
  const done = await durable.undo(context.speaker.id, id);
  if (done === undefined) return { text: nothingToUndo };
  const what = `\`${done.what}\``;
  if (!done.isDone)
    return { text: `I did not undo the ${what}: part of it has changed since. Undo that first.` };
  const view = readingPlace(context);
  const { named } = nameable(
    done.before.filter(({ status }) => status === 'active'),
    context.speaker.id,
    view,
  );
  const back = named.map((item) => listedItem(item, view));
  return { text: [`Undone: the ${what}.${back.length === 0 ? '' : ' As before:'}`, ...back].join('\n') };
}

const nothingToUndo = 'There is nothing to undo: changes can be undone for ten minutes, each of them once.';

/** Lists several changes, each with its buttons [K6]. */
async function listChanges(
  context: CommandContext,
  ids: readonly string[],
  { durable }: MemoryCommandPorts,
): Promise<CommandReply> {
  const { speaker } = context;
  const changes = await durable.undoable(speaker.id, ids);
  if (changes.length === 0) return { text: nothingToUndo };
  const view = readingPlace(context);
  const lines = changes.map(({ what, items }, index) => {
    const { named } = nameable(items, speaker.id, view);
    const texts = named.map(({ text }) => quoted(text)).join(', ');
    return `${index + 1}. ${texts === '' ? `\`${what}\`` : texts}`;
  });
  const buttons = changes.flatMap(({ id, items }, index) =>
    [
      { label: `Undo ${index + 1}`, line: `memory undo ${id}` },
      ...items.flatMap((item) =>
        item.visibility === 'dm'
          ? []
          : [{ label: `Only in DM ${index + 1}`, line: `memory hide ${item.id}` }],
      ),
    ].map((button) => ({ ...button, takes: 'itself' as const })),
  );
  return { text: ['Recent changes that you can undo:', ...lines].join('\n'), buttons };
}
