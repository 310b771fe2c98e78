import { withoutMentions } from './mentions.ts';

/**
 * What of a message is its author's own: Discord's block quotes are somebody else's words, and so are the names of whom and what it
 * mentions: they prove nothing about the author [M5a].
 */
export function ownWords(text: string): string {
  return withoutQuotes(withoutMentions(text)).trim();
}

/** A message without Discord's block quotes: `> …`, and `>>> …` to the end. */
export function withoutQuotes(text: string): string {
  return text.replace(/^[^\S\n]*>>>\s[\s\S]*/mu, '').replace(/^[^\S\n]*>[^\S\n].*$/gmu, '');
}
