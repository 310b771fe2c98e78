const ellipsis = '…';

/** At most `max` characters (UTF-16 units, as Discord and budgets count), never splitting a code point [P4]. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return '';
  const last = text.charCodeAt(max - 1);
  const splitsPair = last >= 0xd8_00 && last <= 0xdb_ff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

/** Clips at the last word that fits, marked by `…`; the result is at most `max` characters. */
export function clipAtWord(text: string, max: number): string {
  return clipAt(text, max, /\s(?=\S*$)/u);
}

/** Clips at the end of the last sentence that fits, else at a word; the result is at most `max` characters. */
export function clipAtSentence(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = clip(text, max);
  const ends = [...head.matchAll(/[.!?](?=\s|$)|[。！？]|\n/gu)];
  const end = ends.at(-1);
  if (end === undefined || end.index < max / 3) return clipAtWord(text, max);
  return head.slice(0, end.index + end[0].length).trimEnd();
}

function clipAt(text: string, max: number, boundary: RegExp): string {
  if (text.length <= max) return text;
  if (max <= 1) return clip(ellipsis, max);
  const head = clip(text, max - 1);
  const nextIsSpace = /^\s/u.test(text.slice(head.length));
  const cut = nextIsSpace ? -1 : head.search(boundary);
  return `${(cut > max / 3 ? head.slice(0, cut) : head).trimEnd()}${ellipsis}`;
}
