import { withoutMarkedPeople, withoutMentionMarks, ownWords, withoutQuotes } from '../../core/own-words.ts';

export interface NamedChannel {
  readonly id: string;
  readonly name: string;
}

const partOfName = /[\p{L}\p{M}\p{N}_-]/u;

/**
 * Whether a message names a channel: by a mention of it, by its id, or by its name as a word. What the message quotes from others does not
 * count, nor do the names of people that it mentions.
 */
export function namesChannel(message: string, channel: NamedChannel): boolean {
  return (
    pointsToChannel(message, channel) ||
    holdsWord(ownWords(message).toLowerCase(), channel.name.toLowerCase())
  );
}

/** Whether a message names a channel so that nothing else can be meant: by a mention of it, by its id, or as `#name`. */
export function pointsToChannel(message: string, { id, name }: NamedChannel): boolean {
  const text = withoutMarkedPeople(withoutQuotes(message));
  return text.includes(id) || holdsWord(withoutMentionMarks(text).toLowerCase(), `#${name.toLowerCase()}`);
}

function holdsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const before = Array.from(text.slice(0, at)).at(-1) ?? ' ';
    const after = Array.from(text.slice(at + word.length, at + word.length + 2))[0] ?? ' ';
    if (!partOfName.test(before) && !partOfName.test(after)) return true;
  }
  return false;
}

/** What a channel is called by, as the model gives it: `#name` or `name`, `<#id>` or an id. */
export function channelReference(reference: string): { readonly id: string } | { readonly name: string } {
  const plain = withoutMentionMarks(reference).trim();
  const id = /^(?:<#)?(?<id>[0-9]{15,21})>?$/u.exec(plain)?.groups?.['id'];
  return id === undefined ? { name: plain.replace(/^#/u, '').trim().toLowerCase() } : { id };
}
