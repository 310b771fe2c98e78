import { isDeepStrictEqual } from 'node:util';

import { parse } from 'dotenv';

import { encodingOf } from '../core/text.ts';

/** In UTF-8, or UTF-16 as Notepad's "Unicode" and PowerShell's `>` write it. @throws {RangeError} if it is not text. */
export function decodeEnvFile(bytes: Buffer): string {
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes);
  if (text.includes('\0')) throw new RangeError('it is not text: save it as UTF-8');
  return text;
}

/** Quotation marks that word processors put in place of plain ones. */
const curlyQuoted = /^[\u201C-\u201F\u2018-\u201B](.*)[\u201C-\u201F\u2018-\u201B]$/u;

export function readEnvFile(text: string): Readonly<Record<string, string>> {
  const entries = Object.entries(parse(text));
  return Object.fromEntries(entries.map(([name, value]) => [name, curlyQuoted.exec(value)?.[1] ?? value]));
}

/** Whether there is anything but comments. */
export function saysSomething(text: string): boolean {
  return text.split('\n').some((line) => /^\s*[^#\s]/u.test(line));
}

/**
 * Sets a variable in a `.env` text: where it was last set, else at the end. All else stays.
 * @throws {RangeError} where it cannot be written, or would change what else the file sets.
 */
export function withVariable(text: string, name: string, value: string): string {
  const lines = text === '' ? [] : text.replace(/\n$/u, '').split('\n');
  const isSet = (line: string) => /^\s*(?:export\s+)?(\w+)\s*=/u.exec(line)?.[1] === name;
  const assignment = `${name}=${quoted(name, value)}`;
  const expected = { ...parse(text), [name]: value };
  const places = [lines.findLastIndex(isSet), lines.length];
  for (const place of places.filter((each) => each !== -1)) {
    const ending = lines[place]?.endsWith('\r') === true ? '\r' : '';
    const changed = `${lines.toSpliced(place, 1, assignment + ending).join('\n')}\n`;
    if (isDeepStrictEqual({ ...parse(changed) }, expected)) return changed;
  }
  throw new RangeError(`.env cannot be changed safely: set ${name} in it by hand`);
}

function quoted(name: string, value: string): string {
  if (/^[\w.:/@+=-]+$/u.test(value)) return value;
  if (/^[^'\r\n]*$/u.test(value)) return `'${value}'`;
  throw new RangeError(`This value of ${name} cannot stand in .env: set it in the environment`);
}
