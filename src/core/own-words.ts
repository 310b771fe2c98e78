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

/** Begin and end of a name inside a text: Unicode's isolates, which are not seen. */
const opening = '\u2068';
const closing = '\u2069';
const isolates = /[\u2068\u2069]/gu;
const markedPeople = new RegExp(`@${opening}[^${opening}${closing}]*${closing}`, 'gu');

/** A name that shows by itself where it ends: one word, not of digits alone. */
const oneWord = String.raw`(?=[\p{M}\p{N}_]*\p{L})[\p{L}\p{M}\p{N}_]+`;
const isOneWord = new RegExp(`^${oneWord}$`, 'u');
const mentions = new RegExp(
  String.raw`[@#]${opening}[^${opening}${closing}]*${closing}|(?<![\p{L}\p{M}\p{N}_])[@#]${oneWord}`,
  'gu',
);

/**
 * A mention as text; `before` is the character that it follows, if any. People choose their names as they like, so any name but a single
 * word after white space stands between invisible marks, which no name can hold: what a name says can then be told from what the
 * speaker says [M5a].
 */
export function mention(sign: '@' | '#', name: string, before = ''): string {
  const plain = name.replace(isolates, '');
  return isOneWord.test(plain) && before.trim() === '' ? sign + plain : sign + opening + plain + closing;
}

/** A text without its mentions, and without what merely looks like one. */
export function withoutMentions(text: string): string {
  return text.replace(mentions, ' ');
}

/** A text without the names of people and roles that hold more than one word: such a name may look like a channel's, or like an id. */
export function withoutMarkedPeople(text: string): string {
  return text.replace(markedPeople, ' ');
}

/** A text with its mentions as people see them, for what is compared with what they type. */
export function withoutMentionMarks(text: string): string {
  return text.replace(isolates, '');
}
