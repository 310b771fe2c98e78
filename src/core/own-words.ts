/**
 * What of a message is its author's own prose: Discord's block quotes are somebody else's words, code is nobody's, and so are the names of
 * emoji and of whom and what it mentions: they prove nothing about the author [M5a]. `named` stands where a mention stood.
 */
export function ownWords(text: string, named = ' '): string {
  return withoutQuotes(withoutCode(text).replace(mentions, named)).replace(emojiNames, ' ').trim();
}

/** Where code may begin: a run of backticks anywhere, or a fence of tildes with its info string at the begin of a line, also of one in a quote or list. */
const codeOpening = /`+|^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*)*~{3,}.*/gmu;

/**
 * A message without its code: what stands between two runs of as many backticks, from three on of no fewer; what stands between a fence of tildes and the
 * next line of no fewer tildes. What is never closed, one or two backticks aside, goes on to the end of the message.
 */
function withoutCode(text: string): string {
  const openings = [...text.matchAll(codeOpening)].map(({ 0: found, index }) => {
    const sign = found.startsWith('`') ? '`' : '~';
    const length = /`+|~{3,}/u.exec(found)?.[0].length ?? 0;
    return { sign, length, index, end: index + found.length, isBlock: length >= 3 };
  });
  const endOf = ({ sign, length, end, isBlock }: (typeof openings)[number]): number | undefined => {
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
    const end = endOf(opening);
    if (end === undefined && !opening.isBlock) continue;
    prose += `${text.slice(from, opening.index)}${opening.isBlock ? '\n' : ' '}`;
    from = end ?? text.length;
  }
  return prose + text.slice(from);
}

/** Emoji as the edge names them: `:name:`. */
const emojiNames = /:(?=\w*[A-Za-z])\w{2,32}:/gu;

/** A message without Discord's block quotes: `> …`, and `>>> …` to the end. */
function withoutQuotes(text: string): string {
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
