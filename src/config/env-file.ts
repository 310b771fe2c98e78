import { isDeepStrictEqual } from 'node:util';

import { parse } from 'dotenv';

/** As Notepad's "Unicode" and PowerShell's `>` write it: with a mark, or every other byte zero. */
function isUtf16(bytes: Buffer, zeros: 0 | 1): boolean {
  const [first, second] = zeros === 1 ? [0xff, 0xfe] : [0xfe, 0xff];
  if (bytes[0] === first && bytes[1] === second) return true;
  return bytes.length >= 4 && [0, 2].every((at) => bytes[at + zeros] === 0 && bytes[at + 1 - zeros] !== 0);
}

/** In UTF-8 or UTF-16, with a byte order mark or without. @throws {RangeError} if it is not text. */
export function decodeEnvFile(bytes: Buffer): string {
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2));
  const text = isUtf16(bytes, 1)
    ? even.toString('utf16le')
    : isUtf16(bytes, 0)
      ? Buffer.from(even).swap16().toString('utf16le')
      : bytes.toString('utf8');
  if (text.includes('\0')) throw new RangeError('it is not text: save it as UTF-8');
  return text.replace(/^\uFEFF/u, '');
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
 * Sets a variable in a `.env` text: where it was last set, else at a comment such as `# NAME=`, else at the
 * end. All else stays.
 * @throws {RangeError} where it cannot be written, or would change what else the file sets.
 */
export function withVariable(text: string, name: string, value: string): string {
  const lines = text === '' ? [] : text.replace(/\n$/u, '').split('\n');
  const isSet = (line: string) => /^\s*(?:export\s+)?(\w+)\s*=/u.exec(line)?.[1] === name;
  const isPlaceFor = (line: string) => /^#\s*(\w+)=/u.exec(line)?.[1] === name;
  const assignment = `${name}=${quoted(name, value)}`;
  const wanted = { ...parse(text), [name]: value };
  const places = [lines.findLastIndex(isSet), lines.findIndex(isPlaceFor), lines.length];
  for (const place of places.filter((each) => each !== -1)) {
    const ending = lines[place]?.endsWith('\r') === true ? '\r' : '';
    const changed = `${lines.toSpliced(place, 1, assignment + ending).join('\n')}\n`;
    if (isDeepStrictEqual({ ...parse(changed) }, wanted)) return changed;
  }
  throw new RangeError(`.env cannot be changed safely: set ${name} in it by hand`);
}

function quoted(name: string, value: string): string {
  if (/^[\w.:/@+=-]+$/u.test(value)) return value;
  if (/^[^'\r\n]*$/u.test(value)) return `'${value}'`;
  throw new RangeError(`This value of ${name} cannot stand in .env: set it in the environment`);
}
