import { styleText } from 'node:util';

import { destination as openDestination, pino, stdTimeFunctions, type DestinationStream } from 'pino';

import type { Logger } from '../core/logger.ts';

export interface LoggerOptions {
  readonly level: keyof Logger;
  /** In every line: which process it comes from, where there are several. */
  readonly about?: Readonly<Record<string, unknown>> | undefined;
  /** Where the lines go; by default standard error, so that standard output stays for people. */
  readonly destination?: DestinationStream;
  /** Whether a person reads along: short lines, coloured where possible. Default: whether standard error is a terminal. */
  readonly isTerminal?: boolean;
}

const secretFields = [
  'token',
  'apiKey',
  'authorization',
  '*.token',
  '*.apiKey',
  '*.authorization',
  '*.headers',
];

/** JSON lines by pino, or lines for people [O5]; fields that carry secrets are redacted. */
export function createLogger({
  level,
  about,
  destination = openDestination({ fd: 2, sync: true }),
  isTerminal = process.stderr.isTTY,
}: LoggerOptions): Logger {
  const forPeople: DestinationStream = {
    write: (line) => destination.write(lineForPeople(line, { hasStacks: level === 'debug' })),
  };
  const lines = pino(
    {
      level,
      base: about ?? null,
      timestamp: stdTimeFunctions.isoTime,
      redact: secretFields,
      serializers: { error: describeError },
      formatters: { level: (label) => ({ level: label }) },
    },
    isTerminal ? forPeople : destination,
  );
  return {
    debug: (event, data = {}) => lines.debug(data, event),
    info: (event, data = {}) => lines.info(data, event),
    warn: (event, data = {}) => lines.warn(data, event),
    error: (event, data = {}) => lines.error(data, event),
  };
}

/** An error by name, message, code, stack and causes; other properties may hold request bodies, so they stay out. */
function describeError(error: unknown): object | string {
  if (!(error instanceof Error)) return String(error);
  return {
    name: error.name,
    message: error.message,
    code: 'code' in error ? error.code : undefined,
    stack: error.stack,
    cause: error.cause === undefined ? undefined : describeError(error.cause),
  };
}

const colours = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

type DescribedError = Readonly<Partial<Record<'name' | 'message' | 'code' | 'stack', string>>> & {
  readonly cause?: DescribedError;
};

/** `14:03:07 warn  the model is out of reach failure=unavailable`: of errors what they say, and their stacks only where asked for. */
function lineForPeople(json: string, { hasStacks }: { readonly hasStacks: boolean }): string {
  const line: { level: keyof typeof colours; time: string; msg: string; error?: DescribedError | string } =
    JSON.parse(json);
  const { level, time, msg, error, ...data } = line;
  const isColoured = process.stderr.isTTY && process.stderr.hasColors();
  const inColour = (colour: (typeof colours)[keyof typeof colours], text: string) =>
    isColoured ? styleText(colour, text) : text;
  const fields = Object.entries(data).map(([name, value]) => `${name}=${plain(value)}`);
  const said = typeof error === 'object' ? errorInWords(error) : error;
  const stack = hasStacks && typeof error === 'object' ? `\n${error.stack}` : '';
  const details = [...fields, ...(said === undefined ? [] : [`(${said})`])].join(' ');
  const clock = new Date(time).toTimeString().slice(0, 8);
  return `${inColour('gray', clock)} ${inColour(colours[level], level.padEnd(5))} ${msg}${details === '' ? '' : ` ${inColour('gray', details)}`}${stack}\n`;
}

function plain(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@-]+$/u.test(value) ? value : JSON.stringify(value);
}

function errorInWords({ name = 'Error', message = '', code, cause }: DescribedError): string {
  const said = message === '' ? name : JSON.stringify(message).slice(1, -1);
  const own = code === undefined || said.includes(code) ? said : `${said}, ${code}`;
  return cause === undefined
    ? own
    : `${own}; because: ${typeof cause === 'object' ? errorInWords(cause) : cause}`;
}
