/** Stands for a line break in a code block's opening line: a table's head is repeated in each part. */
const headBreak = '\u2063';
const widestTable = 100;

/** `isCode`: inside a code fence, or one of its ends. */
export interface FencedLine {
  readonly line: string;
  readonly isCode: boolean;
}

/** Replaces markdown that Discord lacks [G9]. {@link shownForm} finishes each chunk. */
export function discordForm(lines: readonly FencedLine[]): string {
  const formed: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const { line = '', isCode = false } = lines[at] ?? {};
    const table = isCode ? undefined : tableAt(lines, at);
    if (table === undefined || isHidden(formed, lines.slice(at)))
      formed.push(isCode ? line : lineForm(line.replaceAll(headBreak, '')));
    else {
      formed.push(...tableForm(table));
      at += table.length;
    }
  }
  return formed.join('\n');
}

/** `[name]: https://… "title"` */
const linkTarget = /^ {0,3}\[(?<name>[^\][^]+)\]: +<?(?<url>https?:[^\s>]+)>?(?: +["'(].*)?$/u;
const thematicBreak = /^ {0,3}(?:-(?:[ \t]*-){2,}|\*(?:[ \t]*\*){2,}|_(?:[ \t]*_){2,})[ \t]*$/u;
const underline = /^ {0,3}(?:={3,}|-{3,})[ \t]*$/u;
/** A line that can be a heading: no list, quote, heading or row. */
const paragraph = /^[^\s>#|*+`~-][^|]*$/u;

/** What Discord reads for the name of a custom emoji: `<:party:123>`. */
export type EmojiNamed = (name: string) => string | undefined;

/** Code stays as it is. */
export function plainForm(lines: readonly FencedLine[], emojiNamed: EmojiNamed): string {
  const targets = new Map<string, string>();
  for (const { line, isCode } of lines) {
    const { name, url } = (isCode ? undefined : linkTarget.exec(line)?.groups) ?? {};
    if (name !== undefined && url !== undefined) targets.set(name.toLowerCase(), url);
  }
  const formed: string[] = [];
  for (const [at, { line, isCode }] of lines.entries()) {
    const [above = '', higher = ''] = [lines[at - 1]?.line, lines[at - 2]?.line];
    if (isCode) formed.push(line);
    else if (underline.test(line) && paragraph.test(above) && higher.trim() === '')
      formed.splice(-1, 1, `${line.includes('=') ? '#' : '##'} ${formed.at(-1)}`);
    else if (thematicBreak.test(line)) formed.push(...(above.trim() === '' ? [] : ['']));
    else if (line.trim() === '' && thematicBreak.test(above) && formed.at(-1) === '') continue;
    else if (!linkTarget.test(line))
      formed.push(mayBeRow(line) ? line : plainLine(line, targets, emojiNamed));
  }
  return formed.join('\n');
}

const marksOfTags: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  mark: '**',
  i: '*',
  em: '*',
  u: '__',
  s: '~~',
  del: '~~',
  kbd: '`',
};

/** What Discord reads, and code, comes first and stays. */
const inlineForms =
  /`[^`]*`|<(?:[@#]|a?:|t:|https?:)[^<>]*>|https?:\/\/\S+|(?<dropped><!--.*?-->|<\/?(?:p|div|span|center|details|summary|small|font|sub|sup)(?: [^<>]*)?>)|(?<br><br ?\/?>)|<(?<tag>b|strong|mark|i|em|u|s|del|kbd)>(?<inner>[^<>]+)<\/\k<tag>>|\$\$(?<formula>[^$]+)\$\$|==(?<marked>[^=\s](?:[^=]*[^=\s])?)==|:(?<emoji>\w{2,32}):|\[\^(?<note>[^\]]+)\]:?|\[(?<text>[^\][]+)\](?:\[(?<target>[^\][]*)\])?(?![(:])/gu;

function plainLine(line: string, targets: ReadonlyMap<string, string>, emojiNamed: EmojiNamed): string {
  return line
    .replace(
      /^(?<before>\s*(?:[-*+]|\d+[.)]) +)\[(?<box>[ xX])\](?= )/u,
      (_, before: string, box: string) => `${before}${box === ' ' ? '☐' : '☑'}`,
    )
    .replaceAll(
      inlineForms,
      (
        found: string,
        dropped: string | undefined,
        br: string | undefined,
        tag: string | undefined,
        inner = '',
        formula: string | undefined,
        marked: string | undefined,
        emoji: string | undefined,
        note: string | undefined,
        text = '',
        target = '',
      ) => {
        if (dropped !== undefined) return '';
        if (br !== undefined) return '\n';
        if (tag !== undefined) return `${marksOfTags[tag]}${inner}${marksOfTags[tag]}`;
        if (formula !== undefined) return `\`${formula.trim()}\``;
        if (marked !== undefined) return `**${marked}**`;
        if (emoji !== undefined) return emojiNamed(emoji) ?? found;
        if (note !== undefined) return `[${note}]`;
        const url = targets.get((target || text).toLowerCase());
        return url === undefined ? found : `[${text}](${url})`;
      },
    );
}

export function shownForm(chunk: string): string {
  return chunk.replaceAll(headBreak, '\n');
}

function lineForm(line: string): string {
  const heading = /^#{4,6} +(?<title>\S.*)$/u.exec(line)?.groups?.['title'];
  const text = heading === undefined ? line : `**${heading.replaceAll('**', '')}**`;
  return text.replaceAll(/`[^`]*`|!\[([^\][\n]+)\]\((?=https?:)/gu, (found, alt: string | undefined) =>
    alt === undefined ? found : `[${alt}](`,
  );
}

/** A spoiler would not end inside code. */
function isHidden(before: readonly string[], rest: readonly FencedLine[]): boolean {
  if (spoilerMarks(before.join('\n')).length % 2 === 0) return false;
  return spoilerMarks(rest.map(({ line }) => line).join('\n')).length > 0;
}

export function mayBeRow(line: string): boolean {
  return line.includes('|') && !line.trimStart().startsWith('>');
}

/** Its head first, without the line of dashes; all rows have as many cells as the head. */
function tableAt(lines: readonly FencedLine[], at: number): readonly (readonly string[])[] | undefined {
  const [head, dashes] = [lines[at]?.line ?? '', lines[at + 1]?.line ?? ''];
  if (!mayBeRow(head) || !mayBeRow(dashes) || lines[at + 1]?.isCode !== false) return undefined;
  const titles = cellsOf(head);
  const marks = cellsOf(dashes);
  if (marks.length !== titles.length || !marks.every((mark) => /^:?-+:?$/u.test(mark))) return undefined;
  const rows = [titles];
  for (let next = at + 2; next < lines.length; next += 1) {
    const { line = '', isCode = true } = lines[next] ?? {};
    if (isCode || !mayBeRow(line)) break;
    rows.push(rowOf(line, titles.length));
  }
  return rows;
}

/** Pipes in spoilers and code count as text if needed; the last cell takes the rest. */
function rowOf(line: string, columns: number): readonly string[] {
  const plain = cellsOf(line);
  const cells = plain.length === columns ? plain : cellsOf(line.replaceAll(spoilerOrCode, escapePipes));
  const rest = cells.slice(columns - 1).join(' | ');
  return Array.from({ length: columns }, (_, index) => (index === columns - 1 ? rest : (cells[index] ?? '')));
}

const spoilerOrCode = /`[^`]*`|\|\|[^|]+\|\|/gu;

function escapePipes(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}

function cellsOf(row: string): readonly string[] {
  const inner = row
    .trim()
    .replace(/^\|/u, '')
    .replace(/(?<!\\)\|$/u, '');
  return inner.split(/(?<!\\)\|/u).map((cell) =>
    cell
      .trim()
      .replaceAll(String.raw`\|`, '|')
      .replaceAll(/<br ?\/?>/giu, ' ')
      .replaceAll(headBreak, ''),
  );
}

/** Spoilers, links, mentions, custom emoji and times, which code would show as characters. */
const proseOnly = /\|\|[^|]+\|\||https?:\/\/|<(?:[@#]|a?:|t:)/u;

function tableForm(rows: readonly (readonly string[])[]): readonly string[] {
  const plain = rows.map((row) => row.map(withoutMarks));
  const [head = [], ...others] = plain;
  const widths = head.map((_, column) => Math.max(1, ...plain.map((row) => widthOf(row[column] ?? ''))));
  const isWide = widths.reduce((sum, width) => sum + width + 2, 0) > widestTable;
  const isProse = rows.some((row) => row.some((cell) => proseOnly.test(cell.replaceAll(/`[^`]*`/gu, ''))));
  if (rows.length > 1 && (isWide || isProse)) return rows.slice(1).map((row) => listForm(head, row));
  const aligned = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return ['```' + [headBreak, aligned(head), headBreak, rule].join(''), ...others.map(aligned), '```'];
}

function withoutMarks(cell: string): string {
  return cell.replaceAll('`', '').replaceAll(/\*\*([^*]+)\*\*/gu, '$1');
}

function listForm(head: readonly string[], row: readonly string[]): string {
  const cells = row.map((cell, column) => (head[column] === '' ? cell : `**${head[column]}:** ${cell}`));
  return `- ${cells.filter((_, column) => row[column] !== '').join(' · ')}`;
}

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });
const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

/** Chinese, Japanese and Korean characters and emoji take two columns. */
function widthOf(text: string): number {
  if (/^[ -~]*$/u.test(text)) return text.length;
  return [...characters.segment(text)].reduce((sum, { segment }) => sum + (wide.test(segment) ? 2 : 1), 0);
}

export const spoilerMark = '||';

/** Each chunk becomes up to four characters longer. */
export function withSpoilersClosed(chunks: readonly string[]): readonly string[] {
  const counts = chunks.map((chunk) => spoilerMarks(chunk).length);
  const whole = counts.reduce((sum, count) => sum + count, 0);
  const lastMark = chunks.flatMap((chunk) => spoilerMarks(chunk).map((at) => chunk.slice(at))).at(-1) ?? '';
  // A single mark hides nothing, unless an answer ended behind it.
  const hidden = /^\|\|[^\s|]/u.test(lastMark) ? whole + 1 : whole;
  const markAfter = (marks: number): string => (marks % 2 === 1 && marks < hidden ? spoilerMark : '');
  let before = 0;
  return chunks.map((chunk, index) => {
    const after = before + (counts[index] ?? 0);
    const closed = `${markAfter(before)}${chunk}${markAfter(after)}`;
    before = after;
    return closed;
  });
}

/** Positions, without marks in code and escaped ones. */
export function spoilerMarks(text: string): readonly number[] {
  const prose = text
    .split('```')
    .map((part, index) => (index % 2 === 0 ? part : blank(part)))
    .join(blank('```'))
    .replaceAll(/``[^`\n]+(?:`[^`\n]+)*``|`[^`\n]*`|\\[\s\S]/gu, blank);
  return Array.from(prose.matchAll(/\|\|/gu), ({ index }) => index);
}

function blank(text: string): string {
  return ' '.repeat(text.length);
}
