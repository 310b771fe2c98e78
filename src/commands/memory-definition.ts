/** What Discord calls a subcommand, and an option that is a text. */
const subcommand = 1;
const text = 3;

const itemId = {
  type: text,
  name: 'id',
  description: 'The id of the item',
  required: true,
  autocomplete: true,
} as const;

/**
 * `/memory` as Discord's application command JSON. Each subcommand takes at most one option, whose name the words after `!memory` do
 * not have.
 */
export const memoryDefinition = {
  type: 1,
  name: 'memory',
  description: 'See, correct and delete what I remember about you',
  /** In guilds and in DMs with the bot. */
  contexts: [0, 1],
  integration_types: [0],
  options: [
    { type: subcommand, name: 'show', description: 'Show everything that I remember about you' },
    {
      type: subcommand,
      name: 'search',
      description: 'Find what you said and what I keep about it',
      options: [{ type: text, name: 'query', description: 'Words to look for', required: true }],
    },
    {
      type: subcommand,
      name: 'remember',
      description: 'Remember something about you',
      options: [{ type: text, name: 'text', description: 'What to remember', required: true }],
    },
    {
      type: subcommand,
      name: 'forget',
      description: 'Forget what contains these words, or the item with this id',
      options: [
        {
          type: text,
          name: 'target',
          description: 'Some of its words, or its id',
          required: true,
          autocomplete: true,
        },
      ],
    },
    {
      type: subcommand,
      name: 'reset',
      description: 'Clear a layer of memory',
      options: [
        {
          type: text,
          name: 'layer',
          description: 'Which layer',
          required: true,
          choices: [{ name: 'rolling summary of this conversation', value: 'rolling' }],
        },
      ],
    },
    {
      type: subcommand,
      name: 'share',
      description: 'Let an item be used everywhere',
      options: [itemId],
    },
    {
      type: subcommand,
      name: 'hide',
      description: 'Keep an item to our DM',
      options: [itemId],
    },
    { type: subcommand, name: 'help', description: 'Explain these commands' },
  ],
} as const;

/** The same words as after `!memory`, from a slash command's subcommand and its options by name. */
export function wordsFromSlash(subcommandName: string, options: Readonly<Record<string, string>>): string {
  return [subcommandName, ...Object.values(options)].join(' ').trim();
}
