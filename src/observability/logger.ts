import { styleText } from 'node:util';

import { destination as openDestination, pino, stdTimeFunctions, type DestinationStream } from 'pino';

import type { Logger } from '../core/logger.ts';

export interface LoggerOptions {
  readonly level: keyof Logger;
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
  destination = ownDestination(),
  isTerminal = process.stderr.isTTY,
}: LoggerOptions): Logger {
  const forPeople: DestinationStream = { write: (line) => destination.write(lineForPeople(line)) };
  const inWords = (error: unknown): string =>
    `(${errorInWords(error)})${level === 'debug' && error instanceof Error ? `\n${error.stack}` : ''}`;
  const lines = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      redact: secretFields,
      serializers: { error: isTerminal ? inWords : describeError },
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

/** Where nothing can be written, as on a full disk, a million characters wait, and the bot goes on [O7]. */
const ownDestination = (): DestinationStream =>
  openDestination({ fd: 2, sync: true, maxLength: 1_000_000 }).on('error', () => undefined);

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

function errorInWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = error.message === '' ? error.name : JSON.stringify(error.message).slice(1, -1);
  const code = 'code' in error ? String(error.code) : '';
  const own = words.includes(code) ? words : `${words}, ${code}`;
  return error.cause === undefined ? own : `${own}; because: ${errorInWords(error.cause)}`;
}

const colours = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

/** `14:03:07 warn  the model is out of reach failure=unavailable`: of errors what they say, and their stacks only at level debug. */
function lineForPeople(json: string): string {
  const line: { level: keyof typeof colours; time: string; msg: string; error?: string } = JSON.parse(json);
  const { level, time, msg, error = '', ...data } = line;
  const isColoured = process.stderr.isTTY && process.stderr.hasColors();
  const inColour = (colour: (typeof colours)[keyof typeof colours], text: string) =>
    isColoured ? styleText(colour, text) : text;
  const fields = Object.entries(data).map(([name, value]) => `${name}=${plain(value)}`);
  const details = [...fields, error].join(' ').trimEnd();
  const clock = new Date(time).toTimeString().slice(0, 8);
  return `${inColour('gray', clock)} ${inColour(colours[level], level.padEnd(5))} ${msg}${details === '' ? '' : ` ${inColour('gray', details)}`}\n`;
}

function plain(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@-]+$/u.test(value) ? value : JSON.stringify(value);
}
