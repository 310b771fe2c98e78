import type { ChatMessage } from '../core/chat.ts';
import { lookalike } from '../core/text.ts';
import { label } from './quoted.ts';

type Author = ChatMessage['author'];

/** What people are called in a session's prompts, by id and display name. */
export type Names = ReadonlyMap<string, string>;

/**
 * Gives everybody in view a name of their own, which starts as their display name: whoever has one that looks like somebody else's, whatever its letters,
 * gets a number, such as `Alice (2)` [P3]. Who was named first keeps the name, so that lines keep their bytes [P2]; names of those who are no longer in
 * `present`, by id, become free. `reserved` is nobody's: the bot's own name.
 */
export function createNaming(
  known: Names | undefined,
  present: ReadonlySet<string>,
  reserved: string | undefined,
) {
  const names = new Map([...(known ?? [])].filter(([key]) => present.has(idOf(key))));

  function nameOf(author: Author): string {
    const key = `${author.id} ${author.name}`;
    const given = names.get(key);
    if (given !== undefined) return given;
    const others = [...names].filter(([other]) => idOf(other) !== author.id).map(([, name]) => name);
    const taken = new Set([...others, ...(reserved === undefined ? [] : [reserved])].map(lookalike));
    const plain = plainName(author);
    let name = plain;
    for (let number = 2; taken.has(lookalike(name)); number += 1) name = `${plain} (${number})`;
    names.set(key, name);
    return name;
  }

  return { nameOf, names: names as Names };
}

/** An author's display name as a label; another bot is marked as one [H2]. */
export function plainName({ name, kind }: Author): string {
  return kind === 'bot' ? `${label(name)} (bot)` : label(name);
}

function idOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}
