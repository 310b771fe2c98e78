import type { CommandButton } from '../core/reply.ts';
import {
  choiceMaxChars,
  mostChoices,
  type Choice,
  type CommandForm,
  type CommandReply,
  type CompletionRequest,
  type MenuRequest,
} from '../core/commands.ts';
import { limits } from '../core/limits.ts';
import { withoutMentionMarks } from '../core/own-words.ts';
import { sessionOf } from '../core/turn-context.ts';
import { clipAtWord, saysNothing, searchForm, toSingleLine } from '../core/text.ts';
import { itemMaxChars, mayUseItem, type DurableItem, wordingOf } from '../memory/durable/document.ts';
import { remindButtons, type Stored } from '../memory/durable/notices.ts';
import type { RefusalReason } from '../memory/durable/remember-item.ts';
import { undoButton } from '../memory/undo.ts';
import {
  counted,
  everywhereLine,
  historyLines,
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
async function rememberText(call: MemoryCall, text: string): Promise<CommandReply> {
  const { id: messageId, place, memory } = call;
  const refused = await refusalToStore(call);
  if (refused !== undefined) return refused;
  const result = await memory.durable.remember(call.work, { text, place, messageId, type: 'manual' });
  if (result.outcome === 'refused') return { text: refusal(result.reason, text) };
  // Whether the same words were kept before, perhaps from a narrower place, the answer does not tell.
  const reply = remembered(call, `Remembered: ${quotedItem(result.item)}`, result);
  return { ...reply, text: linesOf(reply.text, everywhereLine(result.item)) };
}

/** What somebody wrote behind `remember`; *this*, or nothing, in reply to a message means that message, as its menu does. */
export async function rememberWritten(call: MemoryCall, text: string): Promise<CommandReply> {
  const { repliesTo, discord, elsewhere } = call;
  if (elsewhere !== undefined) return proposeText(call, text, elsewhere);
  const isThis = text.trim() === '' || (saysNothing(text) && !/^\s*["“„«]/u.test(text));
  if (!isThis) return rememberText(call, text);
  if (repliesTo === undefined) return { text: refusal('empty', text) };
  const message = await discord.readReplied(repliesTo);
  if (message === 'gone') return { text: 'I cannot read that message any more. Nothing was saved.' };
  if (message === 'hidden') return { text: noMessage };
  return rememberMessage({ ...call, message });
}

/** What another assistant would have remembered waits for the person's yes, and pushes out nothing that waits [EW3]. */
async function proposeText(call: MemoryCall, text: string, assistant: string): Promise<CommandReply> {
  const { id: messageId, place, speaker, memory } = call;
  const refused = await refusalToStore(call);
  if (refused !== undefined) return refused;
  if ((await memory.people.mode(speaker.id)) === 'off')
    return { text: 'Nothing was proposed: this person has nothing noticed (mode `off`).' };
  if ((await memory.proposals.list(speaker.id)).length >= limits.proposals)
    return { text: `Nothing was proposed: ${limits.proposals} proposals wait for an answer already.` };
  const request = { text, place, messageId, type: 'elsewhere', assistant } as const;
  const result = await memory.durable.propose(call.work, request);
  if (result.outcome === 'refused') return { text: refusal(result.reason, text) };
  return {
    text: result.outcome === 'proposed' ? 'Proposed: it waits for their yes.' : 'It is remembered already.',
  };
}

type MessageCall = MemoryCall & Pick<MenuRequest, 'message'>;

/** Remembers a message as its owner's word: one that the asker wrote, or one that the bot answered them with. */
export async function rememberMessage(call: MessageCall): Promise<CommandReply> {
  const { message, config } = call;
  if (!config.durable.enabled) return { text: 'Durable memory is switched off on this bot.' };
  const problem = await refusalOf(call);
  if (problem !== undefined) return { text: problem };
  const text = withoutMentionMarks(message.text).trim();
  if (text === '') return { text: 'There is no text in this message that I could remember.' };
  return rememberText({ ...call, id: message.id }, text);
}

async function refusalOf(call: MessageCall): Promise<string | undefined> {
  const { message, speaker, memory, discord } = call;
  const { kind, id } = message.author;
  // A copy of theirs has another author [G2a].
  const isLogged = (await memory.sessionLog.message(sessionOf(call), message.id)) !== undefined;
  if (!isLogged && (kind === 'bot' || (kind === 'human' && id !== speaker.id))) return othersMessage;
  if (await discord.isHidden(message.channelId, message.id)) return noMessage;
  return kind === 'self' && !isLogged ? othersAnswer : undefined;
}

const othersMessage =
  'I remember only what you said yourself or what I answered you, not what others wrote. Nothing was saved; use `/memory remember` to save it in your own words.';
const othersAnswer =
  "This is not one of my answers to you, so I won't remember it for you. Nothing was saved; use `/memory remember` to save it in your own words.";
const noMessage =
  'This is a command, an answer to one, or one of my notices, and I do not remember those. Nothing was saved; use `/memory remember` to save something in your own words.';

function quotedItem(item: DurableItem): string {
  return `${quoted(wordingOf(item))} · ${idAndVisibility(item)}`;
}

/** An item was stored: with what had to go for it [D3], and how it is undone. */
export function remembered(
  call: MemoryCall,
  line: string,
  { item, evicted, undoId }: Pick<Stored, 'item' | 'evicted' | 'undoId'>,
): CommandReply {
  const { named, hidden } = nameable(call, evicted);
  return {
    text: linesOf(
      line,
      named.map((each) => `To make room, I let go of ${quotedItem(each)}`),
      hidden > 0 && `To make room, I let go of ${counted(hidden, 'item')} that I don't name here.`,
    ),
    buttons: [...undoButton(undoId), ...remindButtons(item)],
  };
}

/** Why a text was not stored. */
export function refusal(reason: RefusalReason, text: string): string {
  switch (reason) {
    case 'empty':
      return 'There is nothing to remember: write it after `!memory remember`, or reply with that to your own message.';
    case 'too-long':
      return `That is too long: ${text.trim().length} characters, ${itemMaxChars} at most. Nothing was saved; please shorten it or split it up.`;
    case 'secret':
      return 'That looks like a secret, such as a password, key, card or bank number, so nothing was saved. Please keep it in a password manager; I can remember where it is kept.';
    case 'full':
      return 'Your memory is full, and everything in it is pinned. Nothing was saved; `!memory forget` makes room.';
    case 'enough':
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
  { speaker, work, view, memory: { durable } }: MemoryCall,
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
  /** Where several items have them. */
  name?: string,
): readonly CommandButton[] {
  const { id, visibility } = item;
  // Where the channel may not use it, `forget` leaves it alone, and the panel does not.
  const forget = asSeen(call, item) === call ? `forget ${id}` : `panel-do 0 ${id} forget`;
  return present<CommandButton>(
    { label: `✏️ ${name ?? 'Edit'}`, line: `memory edit ${id}`, takes: 'nothing', opensForm: true },
    visibility !== 'dm' && {
      label: `🔒 ${name ?? 'Only in our DM'}`,
      line: `memory hide ${id}`,
      takes: 'itself',
    },
    { label: `🗑️ ${name ?? 'Forget'}`, line: `memory ${forget}`, takes: 'itself' },
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
  const { id: messageId, speaker, view, memory } = call;
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
  const outcome = await memory.durable.edit(call.work, id, text, place, messageId);
  if (outcome.outcome === 'edited')
    return { text: `Edited: ${quotedItem(outcome.item)}`, buttons: undoButton(outcome.undoId) };
  if (outcome.reason === 'unknown-id') return { text: unknownId(id) };
  if (outcome.reason !== 'known') return { text: refusal(outcome.reason, text) };
  const which = mayUseItem(outcome.item, speaker.id, view) ? ` · ${idAndVisibility(outcome.item)}` : '';
  return { text: `Nothing was changed: you have that already${which}.` };
}

/** All that an item said before, newest first [K8]. */
export async function itemHistory(call: MemoryCall, id: string): Promise<CommandReply> {
  const item = await itemWithId(call, id);
  if (item === undefined) return { text: unknownId(id) };
  const earlierItems = (await call.memory.durable.historiesOf(call.speaker.id)).get(item.id) ?? [];
  const lines = historyLines(call, earlierItems);
  const none = lines.length === 0 && 'It has said this from the beginning.';
  return { text: linesOf(listedItem(item, call), lines, none) };
}

/** The asker's item with an id, as far as it may be named where the answer is read. */
export async function itemWithId(
  { speaker, view, memory }: MemoryCall,
  id: string,
): Promise<DurableItem | undefined> {
  const needle = id.toLowerCase();
  const items = await memory.durable.list(speaker.id);
  return items.find((each) => each.id.toLowerCase() === needle && mayUseItem(each, speaker.id, view));
}

/** Items that a subcommand would concern in this place, by the beginning of an id or by words. */
export async function completeItem(
  { subcommand, speaker, place, typed }: CompletionRequest,
  { memory: { durable }, config }: MemoryCommandPorts,
): Promise<readonly Choice[]> {
  if (!config.durable.enabled) return [];
  // A slash command's answer is for its asker only; what `forget` touches is judged by the place all the same [K2].
  const view = readingPlace(place, subcommand !== 'forget');
  const needle = searchForm(typed);
  const found = (await durable.list(speaker.id)).filter((item) => {
    if (!mayUseItem(item, speaker.id, view)) return false;
    const text = searchForm(wordingOf(item));
    return searchForm(item.id).startsWith(needle) || needle.split(' ').every((word) => text.includes(word));
  });
  return found.slice(0, mostChoices).map((item) => {
    const end = ` · ${item.id}`;
    const name = clipAtWord(toSingleLine(wordingOf(item)), choiceMaxChars - end.length);
    return { name: `${name}${end}`, value: item.id };
  });
}
