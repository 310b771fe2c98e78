import { withoutMentions } from '../../core/text/mentions.ts';

/**
 * What of a message is its author's own: Discord's block quotes (`> …`, and `>>> …` to the end) are somebody else's words, and
 * so are the names of whom and what it mentions: they prove nothing about the author [M5a].
 */
export function ownWords(text: string): string {
  return withoutMentions(text)
    .replace(/^[^\S\n]*>>>\s[\s\S]*/mu, '')
    .replace(/^[^\S\n]*>[^\S\n].*$/gmu, '')
    .trim();
}
