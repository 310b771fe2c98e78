import type { CommandContext, CommandReply } from '../core/commands.ts';
import { sessionOf } from '../core/turn-context.ts';
import { writeFailure } from './answer-lines.ts';
import { defineCommand, type Command, type CommandInput } from './command.ts';
import { changeVisibility, completeItem, forgetTarget, rememberText } from './memory-items.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';
import { searchMemory } from './memory-search.ts';
import { showMemory } from './memory-show.ts';

const help = `\`!memory show\` shows what I remember about you
\`!memory search <words>\` finds what you said and what I keep about it
\`!memory remember <text>\` makes me remember something
\`!memory forget <words or id>\` makes me forget anything that contains these words, or the item with this id
\`!memory share <id>\` lets an item be used everywhere
\`!memory hide <id>\` keeps an item to our DM
\`!memory reset rolling\` clears the summary of this conversation
\`!memory help\` shows this

Each item says where I may use it: \`everywhere\`, \`here\` (the channel it comes from, and our DM) or \`dm\` (our DM only). The same commands exist as \`/memory\`, whose answers only you see.
In the menu of a message, under Apps: “Remember this” and “What do you know about this?”.`;

const ofOneItem = {
  options: { id: { kind: 'word', description: 'The id of the item', autocomplete: true } },
  misuse: 'Say which one by its id; `!memory show` lists the ids.',
} as const;

/** `!memory` and `/memory` as data. */
export const memoryDefinition = {
  name: 'memory',
  description: 'See, correct and delete what I remember about you',
  subcommands: {
    show: { description: 'Show everything that I remember about you' },
    search: {
      description: 'Find what you said and what I keep about it',
      options: { query: { kind: 'text', description: 'Words to look for' } },
      misuse: 'Say what to search for.',
    },
    remember: {
      description: 'Remember something about you',
      options: { text: { kind: 'text', description: 'What to remember', mayBeEmpty: true } },
    },
    forget: {
      description: 'Forget anything that contains these words, or the item with this id',
      options: { target: { kind: 'text', description: 'Some of its words, or its id', autocomplete: true } },
      misuse: 'Say what to forget.',
    },
    reset: {
      description: 'Clear a layer of memory',
      options: {
        layer: {
          kind: 'choice',
          description: 'Which layer',
          choices: [{ name: 'rolling summary of this conversation', value: 'rolling' }],
        },
      },
      misuse: 'Only `rolling` can be reset.',
    },
    share: { description: 'Let an item be used everywhere', ...ofOneItem },
    hide: { description: 'Keep an item to our DM', ...ofOneItem },
  },
  help: { description: 'Explain these commands', text: help, noun: 'command' },
} as const;

type MemoryInput = CommandInput<typeof memoryDefinition>;

/** `!memory` and `/memory` [K0]. */
export function createMemoryCommand(ports: MemoryCommandPorts): Command {
  return defineCommand(memoryDefinition, {
    handle: (input, context) => handle(input, context, ports),
    complete: (subcommand, request) => completeItem(subcommand, request, ports),
    explain: writeFailure,
  });
}

async function handle(
  input: MemoryInput,
  context: CommandContext,
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  if (changesItems(input) && !ports.settings.durableEnabled)
    return { text: 'Durable memory is switched off on this bot, so nothing was changed.' };
  switch (input.subcommand) {
    case 'show':
      return showMemory(context, ports);
    case 'search':
      return searchMemory(context, input.query, ports);
    case 'remember':
      return rememberText(context, input.text, ports);
    case 'forget':
      return forgetTarget(context, input.target, ports);
    case 'share':
      return changeVisibility(context, input.id, 'everywhere', ports);
    case 'hide':
      return changeVisibility(context, input.id, 'dm', ports);
    case 'reset':
      await ports.rolling.reset(sessionOf(context));
      return { text: 'Rolling summary of this conversation cleared.' };
  }
}

function changesItems({ subcommand }: MemoryInput): boolean {
  return (
    subcommand === 'remember' || subcommand === 'forget' || subcommand === 'share' || subcommand === 'hide'
  );
}
