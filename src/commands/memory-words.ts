import { withoutMentionMarks } from '../core/own-words.ts';
import { quoted } from './quoted.ts';

/** What somebody asks of their memory. */
export type MemoryWords =
  | { readonly command: 'show' }
  | { readonly command: 'search'; readonly query: string }
  | { readonly command: 'remember'; readonly text: string }
  | { readonly command: 'forget'; readonly target: string }
  | { readonly command: 'reset'; readonly layer: 'rolling' }
  | { readonly command: 'share'; readonly id: string }
  | { readonly command: 'hide'; readonly id: string }
  /** `reason` says what was not understood, where something was not. */
  | { readonly command: 'help'; readonly reason?: string };

/** Reads the words after `!memory`. Whatever cannot be understood becomes help that says why [K1]. */
export function parseWords(words: string): MemoryWords {
  const [, name = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/u.exec(withoutMentionMarks(words).trim()) ?? [];
  const command = name.toLowerCase();
  switch (command) {
    case '':
    case 'help':
      return { command: 'help' };
    case 'show':
      return { command };
    case 'search':
      return rest === '' ? help('Say what to search for.') : { command, query: rest };
    case 'remember':
      return { command, text: rest };
    case 'forget':
      return rest === '' ? help('Say what to forget.') : { command, target: rest };
    case 'reset':
      return rest.toLowerCase() === 'rolling'
        ? { command, layer: 'rolling' }
        : help('Only `rolling` can be reset.');
    case 'share':
    case 'hide':
      return /^\S+$/u.test(rest)
        ? { command, id: rest }
        : help('Say which one by its id; `!memory show` lists the ids.');
    default:
      return help(`I don't know the command ${quoted(name)}.`);
  }
}

function help(reason: string): MemoryWords {
  return { command: 'help', reason };
}
