import type { CommandRequest } from '../core/chat.ts';
import { referenceTo, withReference } from '../core/errors.ts';
import { sessionOf } from '../core/turn-context.ts';
import { changeVisibility } from './change-visibility.ts';
import type { Command } from './command-set.ts';
import type { CommandOptions } from './command-options.ts';
import { completeItem } from './complete-item.ts';
import { writeFailure } from './failure-answer.ts';
import { forgetTarget } from './forget-target.ts';
import { helpText } from './help-text.ts';
import { memoryDefinition, wordsFromSlash } from './memory-definition.ts';
import { parseWords } from './memory-words.ts';
import type { MemoryWords } from './memory-words.ts';
import { rememberText } from './remember-text.ts';
import { searchMemory } from './search-memory.ts';
import { showMemory } from './show-memory.ts';

/** `!memory` and `/memory` [§8]. */
export function createMemoryCommand(options: CommandOptions): Command {
  return {
    slash: { name: 'memory', definition: memoryDefinition, words: wordsFromSlash },
    complete: (request) => completeItem(request, options),
    async handle(request) {
      const words = parseWords(request.words);
      try {
        return await answer(words, request, options);
      } catch (error) {
        const { command } = words;
        const reference = referenceTo(request.id);
        options.logger.error('a memory command failed', {
          reference,
          command,
          userId: request.speaker.id,
          error,
        });
        return withReference(writeFailure(error), reference);
      }
    },
  };
}

function answer(words: MemoryWords, request: CommandRequest, options: CommandOptions): Promise<string> {
  if (changesItems(words) && !options.settings.durableEnabled)
    return Promise.resolve('Durable memory is switched off on this bot, so nothing was changed.');
  switch (words.command) {
    case 'show':
      return showMemory(request, options);
    case 'search':
      return searchMemory(request, words, options);
    case 'remember':
      return rememberText(request, words.text, options);
    case 'forget':
      return forgetTarget(request, words.target, options);
    case 'reset':
      return resetRolling(request, options);
    case 'share':
    case 'hide':
      return changeVisibility(request, words, options);
    case 'help':
      return Promise.resolve(helpText(words.reason));
  }
}

function changesItems({ command }: MemoryWords): boolean {
  return command === 'remember' || command === 'forget' || command === 'share' || command === 'hide';
}

async function resetRolling(request: CommandRequest, { rolling }: CommandOptions): Promise<string> {
  await rolling.reset(sessionOf(request));
  return 'Rolling summary of this conversation cleared.';
}
