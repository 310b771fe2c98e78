import { isIP } from 'node:net';

import { isSnowflake } from '../core/snowflake.ts';
import { machineTimeZone, timeZoneNamed } from '../core/time-zone.ts';

export interface Variable<Value> {
  /** Reads the raw text. @throws {RangeError} for a bad value. */
  readonly read: (raw: string | undefined) => Value;
  /** As one would write it; empty without one. */
  readonly fallback: string;
  /** What a good value looks like, for error messages. */
  readonly expects: string;
  /** As markdown. */
  readonly about: string;
  /** Its value is never printed. */
  readonly secret: boolean;
}

export function text(about: string): Variable<string | undefined> {
  return variable(about, 'a text', '', (raw) => raw);
}

/** Separated by commas or spaces. */
function partsOf(raw: string): readonly string[] {
  return raw.split(/[\s,]+/u).filter((part) => part !== '');
}

/** Never printed; absent without one. */
export function secret(about: string): Variable<string | undefined> {
  return { ...text(about), expects: 'a secret without spaces', secret: true };
}

export function textOr(fallback: string, about: string): Variable<string> {
  return variable(about, 'a text', fallback, (raw) => raw ?? fallback);
}

export function wholeNumber(
  fallback: number,
  min: number,
  about: string,
  max: number = Number.MAX_SAFE_INTEGER,
): Variable<number> {
  const range = max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `from ${min}`;
  return variable(about, `a whole number ${range}`, String(fallback), (raw, fail) => {
    if (raw === undefined) return fallback;
    const value = /^\d+$/.test(raw) ? Number(raw) : Number.NaN;
    return Number.isSafeInteger(value) && value >= min && value <= max ? value : fail();
  });
}

/** In US dollars, above zero unless `from` is 0. */
export function dollars(about: string, from?: 0): Variable<number | undefined> {
  const expects = `an amount in US dollars ${from === 0 ? 'from' : 'above'} 0, such as 5 or 0.50`;
  return variable(about, expects, '', (raw, fail) => {
    if (raw === undefined) return undefined;
    const amount = amountOf(raw);
    return amount !== undefined && (amount > 0 || from === 0) ? amount : fail();
  });
}

/** In US dollars a million tokens of input and of output, by model. */
export function prices(
  about: string,
): Variable<Readonly<Record<string, { readonly input: number; readonly output: number }>>> {
  const expects =
    'prices as model=input/output in US dollars per million tokens, separated by commas, such as my-model=0.5/1.5';
  return variable(about, expects, '', (raw, fail) => {
    return Object.fromEntries(
      partsOf(raw ?? '').map((part) => {
        const at = part.lastIndexOf('=');
        const [input, output, ...more] = part
          .slice(at + 1)
          .split('/')
          .map(amountOf);
        if (at < 1 || input === undefined || output === undefined || more.length > 0) return fail();
        return [part.slice(0, at), { input, output }];
      }),
    );
  });
}

/** At most a million, so that no sum loses the cents. */
function amountOf(raw: string): number | undefined {
  const amount = /^\d{1,7}(?:\.\d{1,9})?$/u.test(raw) ? Number(raw) : Number.NaN;
  return amount <= 1_000_000 ? amount : undefined;
}

const yes: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const no: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);

export function flag(fallback: boolean, about: string): Variable<boolean> {
  return variable(about, 'true or false', String(fallback), (raw, fail) => {
    if (raw === undefined) return fallback;
    const word = raw.toLowerCase();
    return yes.has(word) || (no.has(word) ? false : fail());
  });
}

/** A number of at least 1, or `auto`. */
export function shardCount(about: string): Variable<number | 'auto'> {
  return variable(about, 'a whole number from 1, or auto', '1', (raw, fail) => {
    if (raw === undefined) return 1;
    if (raw.toLowerCase() === 'auto') return 'auto';
    const value = /^\d{1,5}$/u.test(raw) ? Number(raw) : 0;
    return value >= 1 ? value : fail();
  });
}

/** Numbers and ranges, ascending and each once. */
export function shardIds(about: string): Variable<readonly number[] | undefined> {
  return variable(about, 'numbers of shards and ranges of them, such as 0-3,6', '', (raw, fail) => {
    if (raw === undefined) return undefined;
    const named = partsOf(raw).flatMap((part) => {
      const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/u.exec(part) ?? fail();
      const [first, last] = [Number(from), Number(to)];
      return first > last ? fail() : Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
    return named.length === 0 ? fail() : [...new Set(named)].toSorted((a, b) => a - b);
  });
}

/** Separated by commas or spaces; `none` switches a default off. */
export function ids(about: string, fallback = ''): Variable<readonly string[]> {
  const expects = 'Discord ids (15 to 21 digits) separated by commas, or none';
  return variable(about, expects, fallback, (raw = fallback, fail) => {
    const parts = raw.toLowerCase() === 'none' ? [] : partsOf(raw);
    return parts.every(isSnowflake) ? parts : fail();
  });
}

/** Http or https, without a trailing slash, nor the ending that the program adds itself. */
export function address(about: string, ending = /$/u): Variable<string | undefined> {
  return variable(about, 'an http or https address', '', (raw, fail) => {
    if (raw === undefined) return undefined;
    if (!URL.canParse(raw) || !/^https?:$/.test(new URL(raw).protocol)) return fail();
    return raw.replace(/(?<!\/)\/+$/u, '').replace(ending, '');
  });
}

/** May hold a password, and is never printed. */
export function proxy(about: string): Variable<string | undefined> {
  return { ...address(about), expects: 'an http or https address such as http://HOST:PORT', secret: true };
}

/** Of https, or of http on this very machine: a browser would show what it gets in between to anybody. */
export function origin(about: string): Variable<string | undefined> {
  const expects =
    'an https address without a path, or an http one of this machine such as http://127.0.0.1:8080';
  return variable(about, expects, '', (raw, fail) => {
    if (raw === undefined) return undefined;
    if (!URL.canParse(raw)) return fail();
    const { protocol, hostname, origin: found, pathname, search, hash } = new URL(raw);
    const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(hostname);
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isHere);
    return isSafe && pathname === '/' && search === '' && hash === '' ? found : fail();
  });
}

/** Where the port of the variable before it listens: an address of this machine, or a name for one. */
export function host(): Variable<string> {
  const fallback = '127.0.0.1';
  return variable(
    'Where that port listens: this machine alone by default, `0.0.0.0` for all networks (in the container).',
    'an address or a name of this machine, such as 127.0.0.1 or 0.0.0.0',
    fallback,
    (raw, fail) => {
      const bare = raw?.replace(/^\[(.+)\]$/u, '$1') ?? fallback;
      return isIP(bare) !== 0 || /^(?!\d+(?:\.\d+)*$)[\w.-]{1,253}$/u.test(bare) ? bare : fail();
    },
  );
}

/** `files`, given as `undefined`, or a PostgreSQL address, which may hold a password and is never printed. */
export function databaseOrFiles(about: string): Variable<string | undefined> {
  const expects =
    'files, or a database as postgres://USER:PASSWORD@HOST/DATABASE, with %40, %2F, %3F and %23 for @, /, ? and # in the password';
  const one = variable<string | undefined>(about, expects, 'files', (raw, fail) => {
    if (raw === undefined || raw.toLowerCase() === 'files') return undefined;
    const { protocol, pathname, search, hash } = URL.canParse(raw) ? new URL(raw) : { protocol: '' };
    // Of a password that is cut short, the rest would be taken for the host, and be logged.
    if (!/^postgres(?:ql)?:$/.test(protocol) || `${pathname}${search}${hash}`.includes('@')) return fail();
    return raw;
  });
  return { ...one, secret: true };
}

/** The first is the default. */
export function oneOf<const Choice extends string>(
  choices: readonly [Choice, ...Choice[]],
  about: string,
): Variable<Choice> {
  const [fallback] = choices;
  return variable(about, `one of ${choices.join(', ')}`, fallback, (raw, fail) =>
    raw === undefined ? fallback : (choices.find((choice) => choice === raw.toLowerCase()) ?? fail()),
  );
}

/** IANA; by default the machine's. */
export function timeZone(about: string): Variable<string> {
  return variable(about, 'a time zone such as Europe/Berlin, Tokyo or UTC+2', '', (raw, fail) => {
    return raw === undefined ? machineTimeZone() : (timeZoneNamed(raw) ?? fail());
  });
}

function variable<Value>(
  about: string,
  expects: string,
  fallback: string,
  read: (raw: string | undefined, fail: () => never) => Value,
): Variable<Value> {
  return {
    read(raw) {
      const trimmed = raw?.trim();
      return read(trimmed === '' ? undefined : trimmed, () => {
        throw new RangeError(expects);
      });
    },
    fallback,
    expects,
    about,
    secret: false,
  };
}
