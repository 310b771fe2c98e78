import { z } from 'zod';

import { isSnowflake } from '../core/snowflake.ts';

/** One environment variable: how it is read, and what people are told about it. */
export interface Variable<Value> {
  /** From the raw text; `undefined` where it is unset or empty. */
  readonly schema: z.ZodType<Value, string | undefined>;
  /** The default as one would write it; the empty string where there is none. */
  readonly fallback: string;
  /** What a good value looks like, for error messages. */
  readonly expects: string;
  readonly about: string;
  /** Its value is never printed. */
  readonly secret: boolean;
}

interface Description {
  readonly about: string;
  readonly fallback?: string;
}

/** A text that may be absent. */
export function text(description: Description): Variable<string | undefined> {
  return variable(description, 'a text', (raw) => raw);
}

/** A token or key: absent or a text that is never printed. */
export function secret(description: Description): Variable<string | undefined> {
  return { ...text(description), expects: 'a secret without spaces', secret: true };
}

/** A text with a default. */
export function textOr(fallback: string, description: Description): Variable<string> {
  return variable({ ...description, fallback }, 'a text', (raw) => raw ?? fallback);
}

/** A whole number of at least `min`. */
export function wholeNumber(fallback: number, min: number, description: Description): Variable<number> {
  const expects = `a whole number from ${min}`;
  return variable({ ...description, fallback: String(fallback) }, expects, (raw, fail) => {
    if (raw === undefined) return fallback;
    const value = /^\d+$/.test(raw) ? Number(raw) : Number.NaN;
    return Number.isSafeInteger(value) && value >= min ? value : fail();
  });
}

const flags = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

export function flag(fallback: boolean, description: Description): Variable<boolean> {
  return variable({ ...description, fallback: String(fallback) }, 'true or false', (raw, fail) =>
    raw === undefined ? fallback : (flags.get(raw.toLowerCase()) ?? fail()),
  );
}

/** Discord ids separated by commas or spaces. */
export function ids(description: Description): Variable<readonly string[]> {
  return variable(description, 'Discord ids (15 to 21 digits) separated by commas', (raw, fail) => {
    const parts = (raw ?? '').split(/[\s,]+/u).filter((part) => part !== '');
    return parts.every(isSnowflake) ? parts : fail();
  });
}

/** An http or https address, without a trailing slash. */
export function address(description: Description): Variable<string | undefined> {
  return variable(description, 'an http or https address', (raw, fail) => {
    if (raw === undefined) return undefined;
    if (!URL.canParse(raw) || !/^https?:$/.test(new URL(raw).protocol)) return fail();
    return raw.replace(/\/+$/u, '');
  });
}

export function oneOf<const Choice extends string>(
  choices: readonly [Choice, ...Choice[]],
  description: Description,
): Variable<Choice> {
  const [fallback] = choices;
  return variable({ ...description, fallback }, `one of ${choices.join(', ')}`, (raw, fail) =>
    raw === undefined ? fallback : (choices.find((choice) => choice === raw.toLowerCase()) ?? fail()),
  );
}

/** An IANA time zone; by default the machine's. */
export function timeZone(description: Description): Variable<string> {
  return variable(description, 'an IANA time zone such as Europe/Berlin', (raw, fail) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: raw }).resolvedOptions().timeZone;
    } catch {
      return fail();
    }
  });
}

function variable<Value>(
  { about, fallback = '' }: Description,
  expects: string,
  read: (raw: string | undefined, fail: () => never) => Value,
): Variable<Value> {
  const schema = z.transform((input: string | undefined, context): Value => {
    const trimmed = input?.trim();
    try {
      return read(trimmed === '' ? undefined : trimmed, () => {
        throw new RangeError(expects);
      });
    } catch (error) {
      context.issues.push({
        code: 'custom',
        message: error instanceof Error ? error.message : expects,
        input,
      });
      return z.NEVER;
    }
  });
  return { schema, fallback, expects, about, secret: false };
}
