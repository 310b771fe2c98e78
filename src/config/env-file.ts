import { isDeepStrictEqual } from 'node:util';

import { parse } from 'dotenv';

/** What a `.env` file sets. */
export function readEnvFile(text: string): Readonly<Record<string, string>> {
  return parse(text);
}

/**
 * The text of a `.env` file with a variable set: in the place where it was set last, else where a comment such as `# NAME=` keeps one for it,
 * else at the end. All else stays as it is.
 * @throws {RangeError} where that cannot be written, or would change what else the file sets.
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
