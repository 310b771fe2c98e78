import { styleText } from 'node:util';

/** Where the chat writes: a terminal says whether it shows colours, which takes `NO_COLOR` into account. */
export interface TerminalOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  /** Of a terminal. */
  readonly columns?: number;
  hasColors?(): boolean;
}

export interface TranscriptLine {
  readonly place: string;
  readonly name: string;
  readonly isBot: boolean;
  readonly text: string;
  /** What is worth knowing about the message, such as that it was edited. */
  readonly remark?: string;
}

/** What people read: who said what where, and lines of the chat itself. */
export interface Transcript {
  said(line: TranscriptLine): void;
  /** A line of the chat itself. */
  tell(text: string): void;
  /** Something in passing. */
  note(text: string): void;
  /** Something that did not work. */
  problem(text: string): void;
}

interface TranscriptOptions {
  readonly write: (text: string) => void;
  readonly isColoured: boolean;
  /** Of a terminal, as it is now: lines break between words there. */
  readonly columns?: () => number | undefined;
}

type Colour = 'bold' | 'cyan' | 'dim' | 'red';

export function createTranscript({ write, isColoured, columns }: TranscriptOptions): Transcript {
  const paint = (colour: Colour, text: string): string =>
    // The stream was asked already; asking again would ask standard output, whatever is written to.
    isColoured ? styleText(colour, text, { validateStream: false }) : text;

  const format = ({ place, name, isBot, text, remark = '' }: TranscriptLine): string => {
    const indent = ' '.repeat(place.length + 2);
    const body = printable(text).trimEnd();
    const gap = body.includes('\n') ? '\n' : ' ';
    const ending = remark === '' ? '' : `(${remark})`;
    const head = `${place}  ${name}: `;
    const all = `${head}${body}${ending === '' ? '' : gap}${ending}`;
    const lines = wrapped(all.replaceAll(/\n(?!\n)/g, `\n${indent}`), columns?.()).slice(head.length);
    const words = lines.endsWith(ending) ? lines.slice(0, lines.length - ending.length) : lines;
    const tail = words === lines ? '' : paint('dim', ending);
    return `${paint('dim', place)}  ${paint(isBot ? 'cyan' : 'bold', name)}: ${words}${tail}\n`;
  };
  const plain = (text: string): string => wrapped(printable(text), columns?.());

  return {
    said: (line) => write(format(line)),
    tell: (text) => write(`${plain(text)}\n`),
    note: (text) => write(`${paint('dim', plain(text))}\n`),
    problem: (text) => write(`${paint('red', plain(`! ${text}`))}\n`),
  };
}

/** Columns that are too few to break lines well. */
const fewColumns = 30;

/** Each line broken between words where it has more than so many columns; what follows stands below its text. */
function wrapped(text: string, columns: number | undefined): string {
  if (columns === undefined || columns < fewColumns) return text;
  return text.replaceAll(/[^\n]+/gu, (line) => {
    const [start = ''] = /^\s*(?:[-•→] |\S+(?: \S+)*\s{2,}(?=\S))?/u.exec(line) ?? [];
    const below = ' '.repeat(start.length < columns / 2 ? start.length : 4);
    let row = '';
    let rows = '';
    for (const word of line.match(/\s*\S+/gu) ?? []) {
      // The last column stays free: a terminal goes to the next row behind it.
      const isFull = row.trim() !== '' && columnsOf(row + word) >= columns;
      if (isFull) rows += `${row}\n`;
      row = isFull ? below + word.trimStart() : row + word;
    }
    return rows + row;
  });
}

/** Wide letters and emoji take two columns, marks none. */
function columnsOf(text: string): number {
  const wide = text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/gu,
  );
  return (
    text.replaceAll(/[\p{M}\u200D]/gu, '').replaceAll(/[\u{10000}-\u{10FFFF}]/gu, 'x').length +
    (wide?.length ?? 0)
  );
}

/** Without control characters, which a terminal would obey; line breaks and tabs stay. */
function printable(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])\p{Cc}/gu, '');
}
