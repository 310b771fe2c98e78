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
  line(line: TranscriptLine): void;
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
    const head = `${place}  ${name}: `;
    const body = printable(text).trimEnd();
    const all = remark === '' ? body : `${body}${body.includes('\n') ? '\n' : ' '}(${remark})`;
    const indented = (head + all).replaceAll(/\n(?!\n)/g, `\n${' '.repeat(place.length + 2)}`);
    const words = wrapped(indented, columns?.()).slice(head.length);
    return `${paint('dim', place)}  ${paint(isBot ? 'cyan' : 'bold', name)}: ${words}\n`;
  };
  const plain = (text: string): string => wrapped(printable(text), columns?.());

  return {
    line: (line) => write(format(line)),
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
      const isFull = row.trim() !== '' && (row + word).length >= columns;
      if (isFull) rows += `${row}\n`;
      row = isFull ? below + word.trimStart() : row + word;
    }
    return rows + row;
  });
}

/** Without control characters, which a terminal would obey; line breaks and tabs stay. */
function printable(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])\p{Cc}/gu, '');
}
