/** Unicode's rules for sentences, which are the same for all languages and know no abbreviations. */
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** What somebody quotes or crosses out in the run of their text, with the white space behind it. */
export const quotations =
  /(?:~~[^~]*~~|"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|‘[^‘’]*’|«[^«»]*»|»[^«»]*«|「[^「」]*」|『[^『』]*』)\s*/gu;

/** What ends no sentence: dots, abbreviations (one letter, no vowel, or a title), an address, a line that leads on. */
const unending = [
  /(?:\.\.|(?<![\p{L}\p{M}\p{N}])(?:(?!\p{Script=Hangul})\p{L}|[bcdfghjklmnpqrstvwxzбвгджзклмнпрстфхцчшщ]{2,4}|prof|sra|srta|dra|ing|inż|rev|डॉ|ดร)\.)[^\S\n]*$/iu,
  /(?<![^\n])\d{1,3}\.[^\S\n]*$/u,
  /[?!]$/u,
  /[,:;，：；、،؛]\s*$/u,
];

/** A line that leads to a list belongs to each of its lines. */
const listItem = /^\s*(?:[-*•–]|\d{1,3}[.)])\s/u;
const listBegins = /[:：]\s*\n/u;

/**
 * The sentences of a text, by Unicode's rules and ours: none ends within a quotation or right behind it. Of one that
 * grows only the new end is read [L4].
 */
export function sentencesOf(text: string): readonly { readonly segment: string; readonly index: number }[] {
  const quoted = text.matchAll(quotations);
  let quotation = quoted.next().value;
  const sentences: { segment: string; index: number }[] = [];
  let goesOn = false;
  let leadsToList = false;
  for (const { segment, index } of segmenter.segment(text)) {
    while (quotation !== undefined && quotation.index + quotation[0].length < index)
      quotation = quoted.next().value;
    const isQuoted = quotation !== undefined && quotation.index < index;
    const isBlank = segment.trim() === '';
    const before = sentences.at(-1);
    if (before !== undefined && (isQuoted || goesOn || isBlank || (leadsToList && listItem.test(segment))))
      before.segment += segment;
    else {
      sentences.push({ segment, index });
      leadsToList = false;
    }
    leadsToList ||= listBegins.test(segment);
    // Two characters before it tell whether a word begins there.
    const end = text.slice(Math.max(sentences.at(-1)?.index ?? 0, index - 2), index + segment.length);
    if (!isBlank) goesOn = unending.some((each) => each.test(end));
  }
  return sentences;
}
