import type { MenuEntry, MenuName, MenuRequest } from '../core/application-command.ts';
import { withoutMentionMarks } from '../core/own-words.ts';
import { referenceTo, withReference } from '../core/errors.ts';
import type { CommandOptions } from './command-options.ts';
import type { MessageMenu } from './command-set.ts';
import { writeFailure } from './failure-answer.ts';
import { rememberMessage } from './remember-message.ts';
import type { MessageKnowledge } from './remember-message.ts';
import { searchMemory } from './search-memory.ts';

/** What Discord calls an entry in the menu of messages. */
const messageEntry = 3;

/** The entries in the menu of every message, in guilds and in DMs with the bot. */
export function createMessageMenus(options: CommandOptions & MessageKnowledge): readonly MessageMenu[] {
  return [
    {
      entry: entryNamed('remember', 'Remember this'),
      async handle(request) {
        try {
          return await rememberMessage(request, options);
        } catch (error) {
          const reference = referenceTo(request.id);
          options.logger.error('a message could not be remembered', {
            reference,
            userId: request.speaker.id,
            error,
          });
          return withReference(writeFailure(error), reference);
        }
      },
    },
    {
      entry: entryNamed('about', 'What do you know about this?'),
      handle: (request) => searchMessage(request, options),
    },
  ];
}

function entryNamed(name: MenuName, label: string): MenuEntry {
  return {
    name,
    definition: { type: messageEntry, name: label, contexts: [0, 1], integration_types: [0] },
  };
}

/** What the asker's own memory has on the words of a message, whoever wrote it; the message itself is left out. */
async function searchMessage(request: MenuRequest, options: CommandOptions): Promise<string> {
  const query = withoutMentionMarks(request.message.text).trim();
  if (query === '') return 'There is no text in this message that I could search for.';
  return searchMemory({ ...request, ephemeral: true }, { query, excluded: [request.message.id] }, options);
}
