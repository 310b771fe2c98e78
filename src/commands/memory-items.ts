import {
  choiceMaxChars,
  mostChoices,
  type Choice,
  type CommandContext,
  type CommandReply,
  type CompletionRequest,
} from '../core/commands.ts';
import { clip, toSingleLine, searchForm } from '../core/text.ts';
import type { CommandButton } from '../core/chat.ts';
import { nearDuplicateOf } from '../memory/durable/merge.ts';
import { mayUseItem, type DurableItem, wordingOf } from '../memory/durable/document.ts';
import type { Stored } from '../memory/durable/notices.ts';
import type { RefusalReason } from '../memory/durable/remember-item.ts';
import { undoButton } from '../memory/undo.ts';
import {
  counted,
  everywhereLines,
  formerLines,
  idAndVisibility,
  listedItem,
  nameable,
  quoted,
  readingPlace,
} from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';

/** Remembers a text by its owner's word [K2], and says what had to go for it [D3]. */
export async function rememberText(
  context: CommandContext,
  text: string,
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  const { id: messageId, speaker, place } = context;
  const { durable, settings } = ports;
  const refused = await refusalToStore(context, ports);
  if (refused !== undefined) return refused;
  const result = await durable.remember(speaker.id, { text, place, messageId, type: 'manual' });
  if (result.outcome === 'refused') return { text: refusal(result.reason, text, settings.itemMaxChars) };
  // Whether the same words were kept before, perhaps from a narrower place, the answer does not tell.
  const reply = remembered(context, `Remembered: ${quoted(text)} · ${idAndVisibility(result.item)}`, result);
  const near = nearDuplicateOf(result.item, await durable.list(speaker.id), speaker.id, place);
  const lines = [reply.text, ...everywhereLines(result.item)];
  return { text: lines.join('\n'), buttons: [...(reply.buttons ?? []), ...mergeButton(result.item, near)] };
}

function mergeButton(item: DurableItem, near: DurableItem | undefined): readonly CommandButton[] {
  if (near === undefined) return [];
  return [{ label: `Merge with ${quoted(wordingOf(near), 60)}`, line: `memory merge ${item.id} ${near.id}` }];
}

/** Makes one of two items that say nearly the same [K8]: the newer one's text under the older one's id. */
export async function mergeItem(
  { speaker, place }: CommandContext,
  { id, into }: { readonly id: string; readonly into: string },
  { durable }: MemoryCommandPorts,
): Promise<CommandReply> {
  const { item, before, undoId } = await durable.merge(speaker.id, id, into, place);
  if (item === undefined || before === undefined)
    return { text: 'Nothing was merged: one of the two is gone, or may not be used here.' };
  const line = `Merged: ${quoted(wordingOf(item))} · ${idAndVisibility(item)}${item.pinned ? ' · pinned' : ''}`;
  return { text: `${line}\nIt said before: ${quoted(wordingOf(before))}`, buttons: undoButton(undoId) };
}

/** An item was stored: with what had to go for it [D3], and how it is undone. */
export function remembered(
  context: CommandContext,
  line: string,
  { evicted, undoId }: Pick<Stored, 'evicted' | 'undoId'>,
): CommandReply {
  const { named, hidden } = nameable(evicted, context.speaker.id, readingPlace(context));
  const lines = [
    line,
    ...named.map((item) => `To make room, I let go of ${quoted(wordingOf(item))} · ${idAndVisibility(item)}`),
    ...(hidden === 0 ? [] : [`To make room, I let go of ${counted(hidden, 'item')} that I don't name here.`]),
  ];
  return { text: lines.join('\n'), buttons: undoButton(undoId) };
}

/** Why a text was not stored. */
export function refusal(reason: RefusalReason, text: string, maxChars: number): string {
  switch (reason) {
    case 'empty':
      return 'There is nothing to remember: write it after `!memory remember`.';
    case 'too-long':
      return `That is too long: ${text.trim().length} characters, ${maxChars} at most. Nothing was saved; please shorten it or split it up.`;
    case 'secret':
      return 'That looks like a secret, such as a password, key, code, card or account number, so nothing was saved. Please keep it in a password manager; I can remember where it is kept.';
    case 'full':
      return 'Your memory is full, and everything in it is pinned. Nothing was saved; `!memory forget` makes room.';
    case 'forgotten':
    case 'unknown-id':
      return 'That could not be saved. Please say it again.';
  }
}

/** By its owner's word, an item may be used everywhere from now on, or in the DM only [V1]. */
const visibilityBy = { share: 'everywhere', hide: 'dm' } as const;

const doneBy = { share: 'Shared', hide: 'Hidden', pin: 'Pinned', unpin: 'No longer pinned' } as const;

/** Shares, hides, pins or unpins an item. */
export async function changeItem(
  context: CommandContext,
  id: string,
  subcommand: keyof typeof doneBy,
  { durable }: MemoryCommandPorts,
): Promise<CommandReply> {
  const { speaker } = context;
  const view = readingPlace(context);
  const changed =
    subcommand === 'share' || subcommand === 'hide'
      ? await durable.setVisibility(speaker.id, id, visibilityBy[subcommand], view)
      : await durable.setPinned(speaker.id, id, subcommand === 'pin', view);
  const { item, undoId } = changed;
  if (item === undefined) return { text: unknownId(id) };
  const done = doneBy[subcommand];
  const line = mayUseItem(item, speaker.id, view)
    ? `${done}: ${quoted(wordingOf(item))} · ${idAndVisibility(item)}`
    : `${done} · ${idAndVisibility(item)}`;
  const text = [line, ...(subcommand === 'share' ? everywhereLines(item) : [])].join('\n');
  return { text, buttons: undoButton(undoId) };
}

export function unknownId(id: string): string {
  return `I know of no item with the id ${quoted(id)} here. \`!memory show\` lists the ids; in our DM, it lists all of them.`;
}

/** Puts a new text into an item [K8]. */
export async function editItem(
  context: CommandContext,
  { id, text }: { readonly id: string; readonly text: string },
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  const { id: messageId, speaker, place } = context;
  const { durable, settings } = ports;
  const refused = await refusalToStore(context, ports);
  if (refused !== undefined) return refused;
  // A slash command's words are seen by nobody else, but they are as wide as the place they are said in, like those of `remember`.
  const outcome = await durable.edit(speaker.id, id, text, place, messageId);
  if (outcome.outcome === 'edited') {
    const { item, undoId } = outcome;
    const lines = [`Edited: ${quoted(item.text)} · ${idAndVisibility(item)}`];
    return { text: lines.join('\n'), buttons: undoButton(undoId) };
  }
  if (outcome.reason === 'unknown-id') return { text: unknownId(id) };
  if (outcome.reason !== 'known') return { text: refusal(outcome.reason, text, settings.itemMaxChars) };
  const which = mayUseItem(outcome.item, speaker.id, readingPlace(context))
    ? ` · ${idAndVisibility(outcome.item)}`
    : '';
  return { text: `Nothing was changed: you have that already${which}.` };
}

/** All that an item said before, newest first [K8]. */
export async function itemHistory(
  context: CommandContext,
  id: string,
  { durable }: MemoryCommandPorts,
): Promise<CommandReply> {
  const { speaker } = context;
  const view = readingPlace(context);
  const item = await itemWithId(context, id, durable);
  if (item === undefined) return { text: unknownId(id) };
  const former = (await durable.formerOf(speaker.id)).get(item.id) ?? [];
  const lines = formerLines(former, speaker.id, view);
  return {
    text: [
      listedItem(item, view),
      ...lines,
      ...(lines.length === 0 ? ['It has said this from the beginning.'] : []),
    ].join('\n'),
  };
}

/** The asker's item with an id, as far as it may be named where the answer is read. */
export async function itemWithId(
  context: CommandContext,
  id: string,
  durable: MemoryCommandPorts['durable'],
): Promise<DurableItem | undefined> {
  const view = readingPlace(context);
  const wanted = id.toLowerCase();
  const items = await durable.list(context.speaker.id);
  return items.find((each) => each.id.toLowerCase() === wanted && mayUseItem(each, context.speaker.id, view));
}

/**
 * The asker's items that a subcommand would concern if it were given in this place: the pinned and the newest first,
 * as far as they match what was typed: the beginning of an id, or words.
 */
export async function completeItem(
  subcommand: 'forget' | 'edit' | 'history' | 'why' | keyof typeof doneBy,
  { speaker, place, typed }: CompletionRequest,
  { durable, settings }: MemoryCommandPorts,
): Promise<readonly Choice[]> {
  if (!settings.durableEnabled) return [];
  const active = await durable.list(speaker.id);
  // A slash command's answer is for its asker only; what `forget` touches is judged by the place all the same [K2].
  const view = subcommand === 'forget' ? place : readingPlace({ place, ephemeral: true });
  const former = subcommand === 'forget' ? [...(await durable.formerOf(speaker.id)).values()].flat() : [];
  return [...active, ...former]
    .filter((item) => mayUseItem(item, speaker.id, view))
    .filter((item) => !isAlready(item, subcommand))
    .filter((item) => isTyped(item, typed))
    .map(choiceOf)
    .slice(0, mostChoices);
}

/** Whether an item is what a subcommand would make of it. */
function isAlready({ visibility, pinned }: DurableItem, subcommand: string): boolean {
  switch (subcommand) {
    case 'share':
    case 'hide':
      return visibility === visibilityBy[subcommand];
    case 'pin':
      return pinned;
    case 'unpin':
      return !pinned;
    default:
      return false;
  }
}

function isTyped(item: DurableItem, typed: string): boolean {
  const wanted = searchForm(typed);
  const text = searchForm(wordingOf(item));
  return searchForm(item.id).startsWith(wanted) || wanted.split(' ').every((word) => text.includes(word));
}

/** `text · id`. */
function choiceOf(item: DurableItem): Choice {
  const { id } = item;
  const end = ` · ${id}`;
  const line = toSingleLine(wordingOf(item));
  const room = choiceMaxChars - end.length;
  const name = line.length <= room ? line : `${clip(line, room - 1)}…`;
  return { name: `${name}${end}`, value: id };
}
