import { styleText } from 'node:util';

/** Where the chat writes: a terminal says whether it shows colours, which takes `NO_COLOR` into account. */
export interface TerminalOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  /** Of a terminal. */
  readonly rows?: number;
  readonly columns?: number;
  hasColors?(): boolean;
}

export interface TranscriptLine {
  readonly place: string;
  readonly name: string;
  readonly isBot: boolean;
  readonly text: string;
  /** What is worth knowing about the message, such as that it was edited. */
  readonly remark?: string | undefined;
}

/** What people read: who said what where, and lines of the chat itself. */
export interface Transcript {
  /** The lines of a message, each with its line end. */
  format(line: TranscriptLine): string;
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
}

type Colour = 'bold' | 'cyan' | 'dim' | 'red';

export function createTranscript({ write, isColoured }: TranscriptOptions): Transcript {
  const paint = (colour: Colour, text: string): string =>
    // The stream was asked already; asking again would ask standard output, whatever is written to.
    isColoured ? styleText(colour, text, { validateStream: false }) : text;

  const format = ({ place, name, isBot, text, remark }: TranscriptLine): string => {
    const indent = ' '.repeat(place.length + 2);
    const body = printable(text).trimEnd();
    const gap = body.includes('\n') ? '\n' : ' ';
    const ending = remark === undefined ? '' : `${gap}${paint('dim', `(${remark})`)}`;
    const lines = `${body}${ending}`.replaceAll(/\n(?!\n)/g, `\n${indent}`);
    return `${paint('dim', place)}  ${paint(isBot ? 'cyan' : 'bold', name)}: ${lines}\n`;
  };

  return {
    format,
    said: (line) => write(format(line)),
    tell: (text) => write(`${printable(text)}\n`),
    note: (text) => write(`${paint('dim', printable(text))}\n`),
    problem: (text) => write(`${paint('red', `! ${printable(text)}`)}\n`),
  };
}

/** Without control characters, which a terminal would obey; line breaks and tabs stay. */
function printable(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])\p{Cc}/gu, '');
}
