import type { CommandButton } from '../core/reply.ts';
import type { CommandReply, CommandSelect } from '../core/commands.ts';
import { clipAtWord, toSingleLine } from '../core/text.ts';
import { sessionOf } from '../core/turn-context.ts';
import { isOver, itemMaxChars, type DurableItem, wordingOf } from '../memory/durable/document.ts';
import { captureModes, type CaptureMode } from '../memory/settings/person-settings.ts';
import { counted, linesOf, listedItem, present, shownLine } from './answer-lines.ts';
import { asSeen, editForm, unknownId } from './memory-items.ts';
import type { MemoryCall } from './memory-ports.ts';
import { toReview } from './memory-review.ts';
import { switchedOffLine } from './memory-show.ts';

/** Commands for the chosen item. */
const itemActions = ['edit', 'pin', 'unpin', 'share', 'hide', 'forget', 'why'] as const;
const otherCommands = ['undo', 'remember', 'mode', 'pause', 'resume', 'export'] as const;

/** What can be done on the panel: `show` chooses an item, `back` and `next` turn the pages. */
export const panelActions = [...itemActions, 'show', 'back', 'next', ...otherCommands] as const;

/** A page of it, and the chosen item; `rest` is what was chosen or written. All of it stands in the button. */
interface PanelInput {
  /** From 0. */
  readonly page: string;
  /** Of the chosen item, or `-`. */
  readonly id: string;
  readonly action: (typeof panelActions)[number];
  readonly rest?: string | undefined;
}

interface PanelState {
  readonly page: number;
  readonly id: string | undefined;
}

const itemsOnPage = 10;
/** Of an answer above the items: with a page of these it stays under 2,000, so that the first words fit too [K12]. */
const answerMaxChars = 600;
const lineMaxChars = 60;

const opensWindow = 'This opens a form.';
const forOwnEyes = 'Please use `/memory panel`: it opens for your eyes only.';

/** One page with a person's items and all that can be done with them by mouse [K8]. */
export async function showPanel(
  call: MemoryCall,
  requested: PanelState = { page: 0, id: undefined },
  done?: CommandReply,
): Promise<CommandReply> {
  if (!call.ephemeral) return { text: forOwnEyes };
  const { speaker, place, at, memory } = call;
  const durableEnabled = call.config.durable.enabled;
  const [all, mode, pause, review, isOff] = await Promise.all([
    durableEnabled ? memory.durable.list(speaker.id) : [],
    memory.people.mode(speaker.id),
    memory.people.pauseIn(sessionOf(call), at),
    durableEnabled ? toReview(call) : [],
    memory.placeSettings.isMemoryOff(place),
  ]);
  const pages = Math.max(1, Math.ceil(all.length / itemsOnPage));
  const chosenAt = requested.id === undefined ? -1 : all.findIndex(({ id }) => id === requested.id);
  const chosen = all[chosenAt];
  // Beyond the last page comes the first one.
  const page = chosen === undefined ? (requested.page + pages) % pages : Math.floor(chosenAt / itemsOnPage);
  const state = { page, id: chosen?.id };
  const first = page * itemsOnPage;
  const shown = all.slice(first, first + itemsOnPage);

  const end = linesOf(
    isOff && switchedOffLine,
    pause !== undefined && `⏸️ Paused ${pause.scope === 'here' ? 'here' : 'everywhere'}.`,
  );
  const heading = durableEnabled
    ? `**Your memory: ${counted(all.length, 'item')}**${pages > 1 ? ` · page ${page + 1} of ${pages}` : ''}`
    : 'Durable memory is switched off on this bot.';
  const answer = done?.text ?? (chosen === undefined ? '' : listedItem(chosen, call));
  const list = linesOf(
    heading,
    shown.map((item, index) => {
      const text = shownLine(wordingOf(item), lineMaxChars);
      const isPast = isOver(item, call.today);
      return `${item === chosen ? '▸ ' : ''}${first + index + 1}. ${text} · ${stateOf(item)}${isPast ? ' · over' : ''}`;
    }),
    durableEnabled && all.length === 0 && 'Nothing yet.',
  );
  return {
    text: [clipAtWord(answer, answerMaxChars), list, end].filter((part) => part !== '').join('\n\n'),
    rows: present<readonly CommandButton[] | CommandSelect>(
      shown.length > 0 && itemSelect(shown, first, state),
      chosen !== undefined && [itemButtons(chosen, state)],
      pageButtons(state, { pages, waiting: review.length }, done),
      {
        placeholder: 'Mode',
        line: lineFor(state, 'mode'),
        options: captureModes.map((value) => ({ label: modeLabels[value], value, isChosen: value === mode })),
      },
      [generalButtons(state, { durableEnabled, isPaused: pause !== undefined })],
    ),
    files: done?.files,
  };
}

/** Does what was pressed by the command that does it, and shows the panel again, with the command's answer on top. */
export async function pressPanel(
  call: MemoryCall,
  { page: writtenPage, id: writtenId, action, rest }: PanelInput,
  /** Gives a command by its words, as its person would write them. Rejects as that does. */
  give: (line: string, call: MemoryCall) => Promise<CommandReply>,
): Promise<CommandReply> {
  if (!call.ephemeral) return { text: forOwnEyes };
  const page = /^\d{1,6}$/u.test(writtenPage) ? Number(writtenPage) : 0;
  const state = { page, id: writtenId === '-' ? undefined : writtenId };
  if (action === 'show') return showPanel(call, { page, id: rest });
  if (action === 'back' || action === 'next')
    return showPanel(call, { page: page + (action === 'next' ? 1 : -1), id: undefined });
  if (action === 'remember' && rest === undefined) {
    const line = lineFor(state, action);
    const form = { title: 'Remember', label: 'What I remember', value: '', maxChars: itemMaxChars, line };
    return { text: opensWindow, form };
  }
  const isOfItem = itemActions.some((each) => each === action);
  return isOfItem ? changeItem() : show([action, rest ?? ''].join(' '));

  async function changeItem(): Promise<CommandReply> {
    const { speaker, memory } = call;
    const id = state.id ?? '';
    const item = (await memory.durable.list(speaker.id)).find((each) => each.id === id);
    // An id that is gone would be taken for words.
    if (item === undefined) return showPanel(call, { page, id: undefined }, { text: unknownId(id) });
    if (action === 'edit' && rest === undefined)
      return { text: opensWindow, form: editForm(item, lineFor(state, action)) };
    return show([action, id, rest ?? ''].join(' '), asSeen(call, item));
  }

  async function show(line: string, as = call): Promise<CommandReply> {
    return showPanel(call, state, await give(line, as));
  }
}

function stateOf({ visibility, pinned }: DurableItem): string {
  return `${visibility}${pinned ? ' 📌' : ''}`;
}

/** The line that a button carries: the panel as it is, and what is to be done. */
function lineFor({ page, id = '-' }: PanelState, action: string): string {
  return `memory panel-do ${page} ${id} ${action}`;
}

function button(label: string, state: PanelState, action: string): CommandButton {
  return { label, line: lineFor(state, action), takes: 'answer' };
}

function itemSelect(shown: readonly DurableItem[], first: number, { page, id }: PanelState): CommandSelect {
  const options = shown.map((item, index) => ({
    label: `${first + index + 1}. ${toSingleLine(wordingOf(item))}`,
    value: item.id,
    description: stateOf(item),
    isChosen: item.id === id,
  }));
  return { placeholder: 'Choose an item', line: lineFor({ page, id: undefined }, 'show'), options };
}

function itemButtons({ visibility, pinned }: DurableItem, state: PanelState): readonly CommandButton[] {
  return present<CommandButton>(
    { ...button('✏️ Edit', state, 'edit'), opensForm: true },
    pinned ? button('Unpin', state, 'unpin') : button('📌 Pin', state, 'pin'),
    visibility !== 'everywhere' && button('🌐 Share', state, 'share'),
    visibility !== 'dm' && button('🔒 Hide', state, 'hide'),
    { ...button('🗑️ Forget', state, 'forget'), isDanger: true },
  );
}

/** What turns the pages and opens the review, with the buttons of what was done last. */
function pageButtons(
  state: PanelState,
  { pages, waiting }: { readonly pages: number; readonly waiting: number },
  done: CommandReply | undefined,
): readonly (readonly CommandButton[])[] {
  const ofDone = (done?.buttons ?? []).flatMap((each): readonly CommandButton[] => {
    const [, command, id = ''] = /^memory (undo|forget) (.*)$/u.exec(each.line ?? '') ?? [];
    if (command === 'undo') return [button('↩️ Undo', { ...state, id: undefined }, `undo ${id}`)];
    return command === 'forget' && each.takes === 'itself' ? [each] : [];
  });
  const row = present(
    state.id !== undefined && button('❔ Why', state, 'why'),
    pages > 1 && [button('◀', state, 'back'), button('▶', state, 'next')],
    waiting > 0 && { label: `Review ${waiting}`, line: 'memory review', takes: 'nothing' as const },
    ofDone,
  );
  return row.length === 0 ? [] : [row];
}

const modeLabels: Readonly<Record<CaptureMode, string>> = {
  auto: 'Mode auto: I notice what you say',
  ask: 'Mode ask: I ask before I keep it',
  off: 'Mode off: only what you tell me to remember',
};

function generalButtons(
  state: PanelState,
  { durableEnabled, isPaused }: { readonly durableEnabled: boolean; readonly isPaused: boolean },
): readonly CommandButton[] {
  return present<CommandButton>(
    durableEnabled && { ...button('➕ Remember', state, 'remember'), opensForm: true },
    isPaused
      ? button('▶️ Resume', state, 'resume')
      : [button('⏸️ Pause', state, 'pause'), button('Pause here', state, 'pause here')],
    button('📦 Export', state, 'export'),
    { label: 'Erase…', line: 'memory erase', isDanger: true, takes: 'nothing' },
  );
}
