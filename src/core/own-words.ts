/**
 * The author's own prose, without block quotes, code, and names of emoji and mentions, which prove nothing [M5a].
 * `inline` says what stands in place of what was taken out of a line, `block` of whole lines.
 */
export function ownWords(text: string, inline: (piece: string) => string = () => ' ', block = ''): string {
  return (
    withoutCode(text, inline, block)
      .replace(mentions, inline)
      // Quotes: `>>> …` reaches to the end.
      .replace(/^[ \t]*>>>\s[\s\S]*/mu, block)
      .replace(/^[ \t]*>[^\S\n].*$/gmu, block)
      .replace(emojiNames, inline)
      .trim()
  );
}

/** Backticks anywhere, or a fence of tildes at the beginning of a line, quote or list item. */
const codeOpening = /`+|^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*)*~{3,}.*/gmu;

/** Removes code as Markdown delimits it; an unclosed fence reaches to the end of the message. */
export function withoutCode(text: string, inline: (piece: string) => string = () => ' ', block = ''): string {
  const openings = [...text.matchAll(codeOpening)].map(({ 0: found, index }) => {
    const sign = found.startsWith('`') ? '`' : '~';
    const length = /`+|~{3,}/u.exec(found)?.[0].length ?? 0;
    return { sign, length, index, end: index + found.length, isBlock: length >= 3 };
  });
  const closingAt = ({ sign, length, end, isBlock }: (typeof openings)[number]): number | undefined => {
    if (sign === '`') {
      const closes = (other: (typeof openings)[number]): boolean =>
        other.index >= end &&
        other.sign === '`' &&
        (isBlock ? other.length >= length : other.length === length);
      return openings.find(closes)?.end;
    }
    const closing = new RegExp(`^[ \\t>]*~{${length},}[^\\S\\n]*$`, 'gmu');
    closing.lastIndex = end;
    return closing.exec(text) === null ? undefined : closing.lastIndex;
  };
  let prose = '';
  let from = 0;
  for (const opening of openings) {
    if (opening.index < from) continue;
    const end = closingAt(opening);
    if (end === undefined && !opening.isBlock) continue;
    const between = opening.isBlock ? `\n${block}` : inline(text.slice(opening.index, end));
    prose += text.slice(from, opening.index) + between;
    from = end ?? text.length;
  }
  return prose + text.slice(from);
}

const emojiNames = /:(?=\w*[A-Za-z])\w{2,32}:/gu;

/** Unicode's isolates, which are invisible, delimit a name. */
const opening = '\u2068';
const closing = '\u2069';
const isolates = /[\u2068\u2069]/gu;
const markedNames = new RegExp(`[@#]${opening}[^${opening}${closing}]*${closing}`, 'gu');

/** A name whose end is obvious: one word, not of digits alone. */
const oneWord = String.raw`(?=[\p{M}\p{N}_]*\p{L})[\p{L}\p{M}\p{N}_]+`;
const isOneWord = new RegExp(`^${oneWord}$`, 'u');
const mentions = new RegExp(
  String.raw`[@#]${opening}[^${opening}${closing}]*${closing}|(?<![\p{L}\p{M}\p{N}_])[@#]${oneWord}`,
  'gu',
);

/**
 * A mention as text; `before` is the preceding character. People choose any name they like, so all but single
 * words after white space are put between invisible marks, which no name can hold: so a name is never mistaken
 * for the speaker's words [M5a].
 */
export function mention(sign: '@' | '#', name: string, before = ''): string {
  const plain = name.replace(isolates, '');
  return isOneWord.test(plain) && before.trim() === '' ? sign + plain : sign + opening + plain + closing;
}

/** Removes marked names, which may look like another channel's, or like an id. */
export function withoutMarkedNames(text: string, instead = ' '): string {
  return text.replace(markedNames, instead);
}

/** Of marked names, which can say anything, a word each [M5a]. */
export function withShortNames(text: string): string {
  return text.replace(markedNames, (name) => name[0] + (/[\p{L}\p{M}\p{N}_]+/u.exec(name)?.[0] ?? 'someone'));
}

/** Whether a text holds a marked name, which can say anything. */
export function namesPeople(text: string): boolean {
  return text.includes(`@${opening}`);
}

/** Mentions as people see them, to compare with what they type. */
export function withoutMentionMarks(text: string): string {
  return text.replace(isolates, '');
}
