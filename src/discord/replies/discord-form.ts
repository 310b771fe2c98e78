/** Stands for a line break in a line that opens a code block, so that the table's head in it is opened again with the block wherever it is split. */
const headBreak = '\u2063';
/** Columns of a table that a code block shows without wrapping its lines; a wider one becomes a list. */
const widestTable = 100;

/** A text's lines, and which of them stand in a code fence or open or close one. */
export interface FencedLine {
  readonly line: string;
  readonly isCode: boolean;
}

/**
 * Markdown that Discord lacks as what it has [G9]: tables as aligned code blocks, wide ones as lists; headings below the third level in bold; pictures as links.
 * What stands in code stays as it is. The result is for the splitter: {@link shownForm} makes of its chunks what is sent, of the same length.
 */
export function discordForm(lines: readonly FencedLine[]): string {
  const formed: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const { line = '', isCode = false } = lines[at] ?? {};
    const table = isCode ? undefined : tableAt(lines, at);
    if (table === undefined) formed.push(isCode ? line : lineForm(line.replaceAll(headBreak, '')));
    else {
      formed.push(...tableForm(table));
      at += table.length;
    }
  }
  return formed.join('\n');
}

export function shownForm(chunk: string): string {
  return chunk.replaceAll(headBreak, '\n');
}

function lineForm(line: string): string {
  const heading = /^#{4,6} +(?<title>\S.*)$/u.exec(line)?.groups?.['title'];
  const text = heading === undefined ? line : `**${heading.replaceAll('**', '')}**`;
  return text.replaceAll(/!\[(?<alt>[^\][\n]+)\]\((?=https?:)/gu, '[$<alt>](');
}

/** Whether a line may belong to a table. */
export function mayBeRow(line: string): boolean {
  return line.includes('|') && !line.trimStart().startsWith('>');
}

/** The rows of the table that begins at a line, its head first, without the line of dashes; their cells as many as the head has. */
function tableAt(lines: readonly FencedLine[], at: number): readonly (readonly string[])[] | undefined {
  const [head, dashes] = [lines[at]?.line ?? '', lines[at + 1]?.line ?? ''];
  if (!mayBeRow(head) || lines[at + 1]?.isCode !== false) return undefined;
  const columns = cellsOf(head).length;
  const marks = cellsOf(dashes);
  if (marks.length !== columns || !marks.every((mark) => /^:?-+:?$/u.test(mark))) return undefined;
  const rows = [cellsOf(head)];
  for (let next = at + 2; next < lines.length; next += 1) {
    const { line = '', isCode = true } = lines[next] ?? {};
    if (isCode || !mayBeRow(line)) break;
    rows.push(cellsOf(line));
  }
  return rows.map((row) => Array.from({ length: columns }, (_, index) => row[index] ?? ''));
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
      .replaceAll(/[`\u2063]/gu, '')
      .replaceAll(/\*\*([^*]+)\*\*/gu, '$1'),
  );
}

function tableForm(rows: readonly (readonly string[])[]): readonly string[] {
  const [head = [], ...others] = rows;
  const widths = head.map((_, column) => Math.max(1, ...rows.map((row) => widthOf(row[column] ?? ''))));
  if (widths.reduce((sum, width) => sum + width + 2, 0) > widestTable)
    return others.map((row) => listForm(head, row));
  const aligned = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return ['```' + [headBreak, aligned(head), headBreak, rule].join(''), ...others.map(aligned), '```'];
}

function listForm(head: readonly string[], row: readonly string[]): string {
  const cells = row.map((cell, column) => (head[column] === '' ? cell : `**${head[column]}:** ${cell}`));
  return `- ${cells.filter((_, column) => row[column] !== '').join(' · ')}`;
}

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });
const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

/** Columns that a text takes in a fixed-width font: Chinese, Japanese and Korean characters and emoji take two. */
function widthOf(text: string): number {
  if (/^[ -~]*$/u.test(text)) return text.length;
  return [...characters.segment(text)].reduce((sum, { segment }) => sum + (wide.test(segment) ? 2 : 1), 0);
}

const spoiler = '||';

/** Closes a spoiler at the end of a chunk where it goes on in the next, which opens it again. Each becomes up to four characters longer. */
export function withSpoilersClosed(chunks: readonly string[]): readonly string[] {
  const counts = chunks.map(spoilerMarks);
  const whole = counts.reduce((sum, count) => sum + count, 0);
  // A mark without another one behind it hides nothing.
  const markAfter = (marks: number): string => (marks % 2 === 1 && marks < whole ? spoiler : '');
  let before = 0;
  return chunks.map((chunk, index) => {
    const after = before + (counts[index] ?? 0);
    const closed = `${markAfter(before)}${chunk}${markAfter(after)}`;
    before = after;
    return closed;
  });
}

/** The marks of spoilers in a text, those in code and those that are escaped left aside. */
export function spoilerMarks(text: string): number {
  const prose = text
    .split('```')
    .filter((_, index) => index % 2 === 0)
    .join(' ')
    .replaceAll(/`[^`\n]*`|\\[\s\S]/gu, ' ');
  return prose.match(/\|\|/gu)?.length ?? 0;
}
