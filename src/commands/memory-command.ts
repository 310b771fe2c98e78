import type { CommandReply } from '../core/commands.ts';
import { captureModes } from '../memory/settings/person-settings.ts';
import { defineCommand, parseCommand, type Command, type CommandInput } from './command.ts';
import { showAnswers, tellWhy } from './memory-why.ts';
import {
  givePageLink,
  pauseMemory,
  resumeMemory,
  setMode,
  setNotices,
  setTimeZone,
  showPrivacy,
} from './memory-control.ts';
import { resetRolling, showConversations, showNotebook, writeNotebook } from './memory-notes.ts';
import {
  askToErase,
  askToPurge,
  createPending,
  eraseOwnMessages,
  type Pending,
  exportMemory,
} from './memory-data.ts';
import { forgetTarget, undoChange } from './memory-forget.ts';
import { previewImport } from './memory-import.ts';
import { changeItem, completeItem, editItem, itemHistory, rememberWritten } from './memory-items.ts';
import { panelActions, pressPanel, showPanel } from './memory-panel.ts';
import { memoryCall, type MemoryCall, type MemoryCommandPorts } from './memory-ports.ts';
import { acceptProposal, declineProposal, showProposals, reviewMemory } from './memory-review.ts';
import { searchMemory, showMemory } from './memory-show.ts';

const helpEnd =
  'Where I may use an item: `everywhere`, `server` (that server and our DM), `here` (that channel and our DM) or `dm`.';

const ofOneItem = {
  options: { id: { kind: 'id', description: 'The id of the item', autocomplete: true } },
} as const;

/** One of a few words, shown as they are written. */
function choiceOf<const Value extends string>(values: readonly Value[], description: string) {
  return { kind: 'choice', description, choices: values.map((value) => ({ name: value, value })) } as const;
}

/** `!memory` and `/memory` as data. */
export const memoryDefinition = {
  name: 'memory',
  description: 'See, correct and delete what I remember about you',
  groups: {
    item: 'More that can be done with one item',
    data: 'All that I hold about you: take it along, bring it, erase it',
  },
  subcommands: {
    panel: { description: 'See and change it all with buttons, for your eyes only' },
    'panel-do': {
      description: 'Do what a button of the panel says',
      options: {
        page: { kind: 'word', description: 'The page, from 0' },
        id: { kind: 'id', description: 'The id of the chosen item, or -' },
        action: choiceOf(panelActions, 'What to do'),
        rest: { kind: 'text', description: 'What was chosen or written', isOptional: true },
      },
      isHidden: true,
    },
    page: {
      description: 'Get a link to a page of your own with all of it',
      isForAskerOnly: true,
    },
    show: { description: 'Show everything that I remember about you', isKept: true },
    search: {
      description: 'Find what you said and what I keep about it',
      options: { query: { kind: 'text', description: 'Words to look for' } },
    },
    remember: {
      description: 'Remember something about you',
      options: { text: { kind: 'text', description: 'What to remember', mayBeEmpty: true } },
    },
    forget: {
      description: 'Forget items with these words, or the item with this id',
      options: { target: { kind: 'text', description: 'Some of its words, or its id', autocomplete: true } },
    },
    reset: {
      description: 'Clear a layer of memory',
      options: {
        layer: {
          kind: 'choice',
          description: 'Which layer',
          choices: [{ name: 'rolling summary of a conversation', value: 'rolling' }],
        },
        conversation: {
          kind: 'id',
          description: 'The id of another conversation; without it, this one',
          isOptional: true,
        },
      },
    },
    conversations: {
      description: 'List our conversations, or show what I noted of one',
      options: { id: { kind: 'id', description: 'The id of a conversation', isOptional: true } },
      isForAskerOnly: true,
      group: 'data',
    },
    notebook: {
      description: 'List the files of your notebook, or show one to edit it',
      options: { file: { kind: 'word', description: 'A file, such as USER.md', isOptional: true } },
      isForAskerOnly: true,
      group: 'data',
    },
    'notebook-write': {
      description: 'Put a text in place of a file of your notebook',
      options: {
        tag: { kind: 'word', description: 'Of what the file said' },
        file: { kind: 'word', description: 'The file' },
        text: { kind: 'text', description: 'All that it says from now on', isOptional: true },
      },
      isForAskerOnly: true,
      isHidden: true,
    },
    share: {
      description: 'Let me use an item everywhere',
      ...ofOneItem,
    },
    hide: { description: 'Keep an item to our DM', ...ofOneItem },
    pin: { description: 'Keep an item even when memory is full', ...ofOneItem, group: 'item' },
    unpin: {
      description: 'Let an item be dropped when memory is full',
      ...ofOneItem,
      group: 'item',
    },
    edit: {
      description: 'Change the text of an item',
      options: {
        ...ofOneItem.options,
        text: { kind: 'text', description: 'What it says from now on', isOptional: true },
      },
    },
    review: {
      description: 'Ask me what may not be true any more',
      options: {
        answer: { kind: 'text', description: 'Your answer, as the card shows it', isOptional: true },
      },
    },
    why: {
      description: 'Say where an item comes from, or what an answer was made from',
      options: {
        id: {
          kind: 'id',
          description: 'The id of an item, or the id or link of an answer; without it, my newest here',
          autocomplete: true,
          isOptional: true,
        },
      },
    },
    answers: {
      description: 'Show on the page what I was given for my newest answers',
      options: { id: { kind: 'id', description: 'The id of an answered message', isOptional: true } },
      isForAskerOnly: true,
      isHidden: true,
    },
    history: { description: 'Show what an item said before', ...ofOneItem, group: 'item' },
    undo: {
      description: 'Take back your last change',
      options: { id: { kind: 'id', description: 'The id of the change', isOptional: true } },
    },
    export: { description: 'Get everything that I hold about you, as a file', isKept: true, group: 'data' },
    import: {
      description: 'Bring memories from a file, or hear how to get them from ChatGPT or Claude',
      options: {
        file: {
          kind: 'attachment',
          description: "An export of mine, an assistant's memories.json, or a list with one item a line",
          isOptional: true,
        },
        list: { kind: 'text', description: 'Or the list itself, as you have it', isOptional: true },
      },
      isForAskerOnly: true,
      group: 'data',
    },
    erase: {
      description: 'Erase everything that I hold about you, after asking',
      isKept: true,
      group: 'data',
    },
    confirm: {
      description: 'Do what was shown before',
      options: { token: { kind: 'word', description: 'As it was shown' } },
      isKept: true,
      isHidden: true,
    },
    purge: {
      description: 'Erase whatever says these words, after asking',
      options: { target: { kind: 'text', description: 'Whole words' } },
      group: 'data',
    },
    'erase-dm': { description: 'Delete my own messages in our DM', isHidden: true },
    mode: {
      description: 'Let me notice what you say about yourself, or not',
      options: {
        value: {
          ...choiceOf(captureModes, 'auto: I notice; ask: I ask before; off: only remember stores'),
          isOptional: true,
        },
      },
    },
    proposals: {
      description: 'List what I noticed and may remember if you say yes',
      options: { id: { kind: 'id', description: 'The id of a proposal', isOptional: true } },
    },
    accept: {
      description: 'Accept a proposal',
      options: {
        id: { kind: 'id', description: 'The id of the proposal' },
        text: { kind: 'text', description: 'What to remember in its place', isOptional: true },
      },
      isHidden: true,
    },
    decline: {
      description: 'Reject a proposal',
      options: { id: { kind: 'id', description: 'The id of the proposal' } },
      isHidden: true,
    },
    pause: {
      description: 'Store nothing that you say, everywhere or in this conversation, until you resume',
      isKept: true,
      options: {
        for: { ...choiceOf(['here'], 'Only this conversation; by default everywhere'), isOptional: true },
      },
    },
    resume: { description: 'End the pause, here and everywhere' },
    notices: {
      description: 'Tell you under an answer what I stored, or not',
      options: { value: { ...choiceOf(['on', 'off'], 'Whether I tell you'), isOptional: true } },
    },
    timezone: {
      description: 'Set the time zone by which your days count',
      options: {
        name: { kind: 'text', description: 'Such as Europe/Berlin, New York or UTC+2', isOptional: true },
      },
    },
    privacy: { description: 'Say what I store, where, how long, and who can read it' },
  },
  help: { description: 'Explain these commands', end: helpEnd, noun: 'command' },
} as const;

type MemoryInput = CommandInput<typeof memoryDefinition>;
type InputOf<Name> = Extract<MemoryInput, { readonly subcommand: Name }>;
type Handled = Exclude<MemoryInput['subcommand'], 'panel-do'>;

/** `!memory` and `/memory` [K0]. */
export function createMemoryCommand(ports: MemoryCommandPorts): Command {
  const pending = createPending();
  const command: Command = defineCommand(memoryDefinition, {
    async handle(input, context) {
      const call = await memoryCall(context, ports);
      if (input.subcommand === 'panel-do') return pressPanel(call, input, give);
      return handle(input.subcommand, input, call, pending);
    },
    complete: (request) => completeItem(request, ports),
  });
  return command;

  async function give(line: string, call: MemoryCall): Promise<CommandReply> {
    const written = parseCommand(`!${memoryDefinition.name} ${line}`, [memoryDefinition]);
    if (written === undefined) throw new Error('The panel gives commands of its own only');
    return command.answer({ ...call, command: written });
  }
}

type Handlers<Names extends Handled> = {
  readonly [Name in Names]: (
    input: InputOf<Name>,
    call: MemoryCall,
    pending: Pending,
  ) => Promise<CommandReply>;
};

/** What needs durable items. */
const itemHandlers = {
  remember: ({ text }, call) => rememberWritten(call, text),
  forget: ({ target }, call) => forgetTarget(call, target),
  share: (input, call) => changeItem(call, input),
  hide: (input, call) => changeItem(call, input),
  pin: (input, call) => changeItem(call, input),
  unpin: (input, call) => changeItem(call, input),
  edit: (input, call) => editItem(call, input),
  review: ({ answer }, call) => reviewMemory(call, answer),
  history: ({ id }, call) => itemHistory(call, id),
  undo: ({ id }, call) => undoChange(call, id),
  import: (input, call, pending) => previewImport(call, input, pending),
  accept: (input, call) => acceptProposal(call, input),
} satisfies Partial<Handlers<Handled>>;

const handlers: Handlers<Handled> = {
  ...itemHandlers,
  panel: (_, call) => showPanel(call),
  page: (_, call) => givePageLink(call),
  show: (_, call) => showMemory(call),
  search: ({ query }, call) => searchMemory(call, query),
  why: ({ id }, call) => tellWhy(call, id),
  answers: ({ id }, call) => showAnswers(call, id),
  export: (_, call) => exportMemory(call),
  erase: (_, call, pending) => askToErase(call, pending),
  confirm: ({ token }, call, pending) => pending.carryOut(call, token),
  'erase-dm': (_, call) => eraseOwnMessages(call),
  purge: ({ target }, call, pending) => askToPurge(call, target, pending),
  reset: ({ conversation }, call) => resetRolling(call, conversation),
  conversations: ({ id }, call) => showConversations(call, id),
  notebook: ({ file }, call) => showNotebook(call, file),
  'notebook-write': ({ tag, file, text }, call) => writeNotebook(call, tag, file, text),
  mode: ({ value }, call) => setMode(call, value),
  proposals: ({ id }, call) => showProposals(call, id),
  decline: ({ id }, call) => declineProposal(call, id),
  pause: (input, call) => pauseMemory(call, input.for ?? 'everywhere'),
  resume: (_, call) => resumeMemory(call),
  notices: ({ value }, call) => setNotices(call, value),
  timezone: ({ name }, call) => setTimeZone(call, name),
  privacy: (_, call) => showPrivacy(call),
};

async function handle<Name extends Handled>(
  name: Name,
  input: InputOf<Name>,
  call: MemoryCall,
  pending: Pending,
): Promise<CommandReply> {
  if (name in itemHandlers && !call.config.durable.enabled)
    return { text: 'Durable memory is switched off on this bot, so nothing was changed.' };
  return handlers[name](input, call, pending);
}
