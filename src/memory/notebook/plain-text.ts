/**
 * A file's text as people see it: line breaks are `\n`, and control and invisible characters are gone, but for tabs and the joiners
 * that scripts and emoji need. Doing it twice changes nothing more.
 */
export function plainText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/gu, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, '');
}
