/**
 * What of a message is its author's own prose: Discord's block quotes are somebody else's words, code is nobody's, and so are the names of
 * emoji and of whom and what it mentions: they prove nothing about the author [M5a]. `named` stands where a mention stood.
 */
export function ownWords(text: string, named = ' '): string {
  return withoutQuotes(withoutCode(text).replace(mentions, named)).replace(emojiNames, ' ').trim();
}

/** A message without its code: what stands between two runs of as many backticks, or from three of them on, were they never closed, to the end of the message. */
function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+/gu)].map(({ 0: { length }, index }) => ({
    index,
    length,
    end: index + length,
  }));
  let prose = '';
  let from = 0;
  for (const [position, run] of runs.entries()) {
    if (run.index < from) continue;
    const isBlock = run.length >= 3;
    const close = runs
      .slice(position + 1)
      .find(({ length }) => (isBlock ? length >= 3 : length === run.length));
    if (close === undefined && !isBlock) continue;
    prose += `${text.slice(from, run.index)}${isBlock ? '\n' : ' '}`;
    from = close?.end ?? text.length;
  }
  return prose + text.slice(from);
}

/** Emoji as the edge names them: `:name:`. */
const emojiNames = /:(?=\w*[A-Za-z])\w{2,32}:/gu;

/** A message without Discord's block quotes: `> …`, and `>>> …` to the end. */
export function withoutQuotes(text: string): string {
  return text.replace(/^[ \t]*>>>\s[\s\S]*/mu, '').replace(/^[ \t]*>[^\S\n].*$/gmu, '');
}

/** Begin and end of a name inside a text: Unicode's isolates, which are not seen. */
const opening = '\u2068';
const closing = '\u2069';
const isolates = /[\u2068\u2069]/gu;
const markedNames = new RegExp(`[@#]${opening}[^${opening}${closing}]*${closing}`, 'gu');

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

/** A text without the names between invisible marks: such a name may look like another channel's, or like an id. */
export function withoutMarkedNames(text: string): string {
  return text.replace(markedNames, ' ');
}

/** Whether a text holds such a name of somebody, who chose it: it can say anything. */
export function namesPeople(text: string): boolean {
  return text.includes(`@${opening}`);
}

/** A text with its mentions as people see them, for what is compared with what they type. */
export function withoutMentionMarks(text: string): string {
  return text.replace(isolates, '');
}
