import { defineCommand, forAskerOnly, type Command } from './command.ts';

/** `/ask` as data. */
export const askDefinition = {
  name: 'ask',
  description: 'Ask me as in our direct messages, wherever you are; only you see it',
  options: {
    text: { kind: 'text', description: 'What you want to ask or tell me', isOptional: true },
    file: { kind: 'attachment', description: 'A picture, PDF or text to look at', isOptional: true },
  },
} as const;

/** As a slash command it is a turn [EW2]; written out, everybody there would read the question. */
export function createAskCommand(): Command {
  return defineCommand(askDefinition, {
    handle: async (_, { place }) => ({
      text: place.audience === 'dm' ? 'Here you need no command: just write to me.' : forAskerOnly('ask'),
    }),
  });
}
