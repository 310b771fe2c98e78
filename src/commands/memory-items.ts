import type { CommandButton } from '../core/chat.ts';
import {
  choiceMaxChars,
  mostChoices,
  type Choice,
  type CommandForm,
  type CommandReply,
  type CompletionRequest,
} from '../core/commands.ts';
import { clip, searchForm, toSingleLine } from '../core/text.ts';
import { itemMaxChars, mayUseItem, type DurableItem, wordingOf } from '../memory/durable/document.ts';
import { dayTaken, type Stored } from '../memory/durable/notices.ts';
import type { RefusalReason } from '../memory/durable/remember-item.ts';
import { undoButton } from '../memory/undo.ts';
import {
  counted,
  everywhereLine,
  formerLines,
  idAndVisibility,
  linesOf,
  listedItem,
  nameable,
  present,
  quoted,
} from './answer-lines.ts';
import { refusalToStore } from './memory-control.ts';
import { readingPlace, type MemoryCall, type MemoryCommandPorts } from './memory-ports.ts';

/** Remembers a text by its owner's word [K2], and says what had to go for it [D3]. */
export async function rememberText(call: MemoryCall, text: string): Promise<CommandReply> {
  const { id: messageId, place, ports } = call;
  const refused = await refusalToStore(call);
  if (refused !== undefined) return refused;
  const result = await ports.durable.remember(call.work, { text, place, messageId, type: 'manual' });
  if (result.outcome === 'refused')
    return { text: refusal(result.reason, text, ports.settings.itemMaxChars) };
  // Whether the same words were kept before, perhaps from a narrower place, the answer does not tell.
  const reply = remembered(call, `Remembered: ${quotedItem(result.item)}`, result);
  return { ...reply, text: linesOf(reply.text, everywhereLine(result.item)) };
}

function quotedItem(item: DurableItem): string {
  return `${quoted(wordingOf(item))} · ${idAndVisibility(item)}`;
}

/** An item was stored: with what had to go for it [D3], and how it is undone. */
export function remembered(
  call: MemoryCall,
  line: string,
  { item, evicted, undoId, countedIn }: Pick<Stored, 'item' | 'evicted' | 'undoId' | 'countedIn'>,
): CommandReply {
  const { named, hidden } = nameable(call, evicted);
  return {
    text: linesOf(
      line,
      named.map((each) => `To make room, I let go of ${quotedItem(each)}`),
      hidden > 0 && `To make room, I let go of ${counted(hidden, 'item')} that I don't name here.`,
      countedIn !== undefined && `-# ${dayTaken(item, countedIn)}`,
    ),
    buttons: undoButton(undoId),
  };
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
  { speaker, work, view, ports: { durable } }: MemoryCall,
  { id, subcommand }: { readonly id: string; readonly subcommand: keyof typeof doneBy },
): Promise<CommandReply> {
  const { item, undoId } = await (subcommand === 'share' || subcommand === 'hide'
    ? durable.setVisibility(work, id, visibilityBy[subcommand], view)
    : durable.setPinned(work, id, subcommand === 'pin', view));
  if (item === undefined) return { text: unknownId(id) };
  const done = doneBy[subcommand];
  const line = mayUseItem(item, speaker.id, view)
    ? `${done}: ${quotedItem(item)}`
    : `${done} · ${idAndVisibility(item)}`;
  return {
    text: linesOf(line, subcommand === 'share' && everywhereLine(item)),
    buttons: undoButton(undoId),
  };
}

export function unknownId(id: string): string {
  return `I know of no item with the id ${quoted(id)} here. \`!memory show\` lists the ids; in our DM, it lists all of them.`;
}

/** The call that changes an item where it is seen: what the channel may not use is changed as in the DM. */
export function asSeen(call: MemoryCall, item: DurableItem): MemoryCall {
  const { speaker, place, view } = call;
  return mayUseItem(item, speaker.id, place) || !mayUseItem(item, speaker.id, view)
    ? call
    : { ...call, place: view };
}

/** Buttons that put an item right where it shows [K7]; the answers come below, and what was shown stays. */
export function correctingButtons(
  call: MemoryCall,
  item: DurableItem,
  labels: { readonly edit: string; readonly hide: string; readonly forget: string },
): readonly CommandButton[] {
  const { id, visibility } = item;
  // Where the channel may not use it, `forget` leaves it alone, and the panel does not.
  const forget = asSeen(call, item) === call ? `forget ${id}` : `panel-do 0 ${id} forget`;
  return present<CommandButton>(
    { label: labels.edit, line: `memory edit ${id}`, takes: 'nothing', opensForm: true },
    visibility !== 'dm' && { label: labels.hide, line: `memory hide ${id}`, takes: 'itself' },
    { label: labels.forget, line: `memory ${forget}`, takes: 'itself' },
  );
}

/** The window in which an item gets a new text, and the command that does it. */
export function editForm({ text: value }: DurableItem, line: string): CommandForm {
  // What somebody wrote by hand may be longer: none of it gets lost here.
  const maxChars = Math.max(itemMaxChars, value.length);
  return { title: 'Edit', label: 'What I remember', value, maxChars, line };
}

/** Puts a new text into an item [K8]; without one, it asks for it. */
export async function editItem(
  call: MemoryCall,
  { id, text }: { readonly id: string; readonly text?: string | undefined },
): Promise<CommandReply> {
  const { id: messageId, speaker, view, ports } = call;
  const item = await itemWithId(call, id);
  if (item === undefined) return { text: unknownId(id) };
  if (text === undefined) {
    const how = `Say what it should say: \`!memory edit ${item.id} <your words>\`. It says now: ${quotedItem(item)}`;
    return { text: how, form: editForm(item, `memory edit ${item.id}`) };
  }
  const refused = await refusalToStore(call);
  if (refused !== undefined) return refused;
  // Even a slash command's words are as wide as the place they are said in.
  const { place } = asSeen(call, item);
  const outcome = await ports.durable.edit(call.work, id, text, place, messageId);
  if (outcome.outcome === 'edited')
    return { text: `Edited: ${quotedItem(outcome.item)}`, buttons: undoButton(outcome.undoId) };
  if (outcome.reason === 'unknown-id') return { text: unknownId(id) };
  if (outcome.reason !== 'known') return { text: refusal(outcome.reason, text, ports.settings.itemMaxChars) };
  const which = mayUseItem(outcome.item, speaker.id, view) ? ` · ${idAndVisibility(outcome.item)}` : '';
  return { text: `Nothing was changed: you have that already${which}.` };
}

/** All that an item said before, newest first [K8]. */
export async function itemHistory(call: MemoryCall, id: string): Promise<CommandReply> {
  const item = await itemWithId(call, id);
  if (item === undefined) return { text: unknownId(id) };
  const former = (await call.ports.durable.formerOf(call.speaker.id)).get(item.id) ?? [];
  const lines = formerLines(call, former);
  const none = lines.length === 0 && 'It has said this from the beginning.';
  return { text: linesOf(listedItem(item, call), lines, none) };
}

/** The asker's item with an id, as far as it may be named where the answer is read. */
export async function itemWithId(
  { speaker, view, ports }: MemoryCall,
  id: string,
): Promise<DurableItem | undefined> {
  const wanted = id.toLowerCase();
  const items = await ports.durable.list(speaker.id);
  return items.find((each) => each.id.toLowerCase() === wanted && mayUseItem(each, speaker.id, view));
}

/** Items that a subcommand would concern in this place, by the beginning of an id or by words. */
export async function completeItem(
  { subcommand, speaker, place, typed }: CompletionRequest,
  { durable, settings }: MemoryCommandPorts,
): Promise<readonly Choice[]> {
  if (!settings.durableEnabled) return [];
  const isForget = subcommand === 'forget';
  const former = isForget ? [...(await durable.formerOf(speaker.id)).values()].flat() : [];
  // A slash command's answer is for its asker only; what `forget` touches is judged by the place all the same [K2].
  const view = readingPlace(place, !isForget);
  return [...(await durable.list(speaker.id)), ...former]
    .filter((item) => mayUseItem(item, speaker.id, view))
    .filter((item) => !isAlready(item, subcommand) && isTyped(item, typed))
    .map(choiceOf)
    .slice(0, mostChoices);
}

/** Whether an item is what a subcommand would make of it. */
function isAlready({ visibility, pinned }: DurableItem, subcommand: string): boolean {
  if (subcommand === 'share' || subcommand === 'hide') return visibility === visibilityBy[subcommand];
  return pinned ? subcommand === 'pin' : subcommand === 'unpin';
}

function isTyped(item: DurableItem, typed: string): boolean {
  const wanted = searchForm(typed);
  const text = searchForm(wordingOf(item));
  return searchForm(item.id).startsWith(wanted) || wanted.split(' ').every((word) => text.includes(word));
}

/** `text · id`. */
function choiceOf(item: DurableItem): Choice {
  const end = ` · ${item.id}`;
  const line = toSingleLine(wordingOf(item));
  const room = choiceMaxChars - end.length;
  const name = line.length <= room ? line : `${clip(line, room - 1)}…`;
  return { name: `${name}${end}`, value: item.id };
}
