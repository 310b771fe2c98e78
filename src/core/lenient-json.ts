import type { z } from 'zod';

import { parseJson } from './text.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Brackets that turn out to begin no JSON; without an end, a text of brackets would be read once for each [L4]. */
const mostVainTries = 100;

/** Objects in a text, or a list of them, and where they stand. */
export interface FoundJson {
  readonly value: JsonObject | readonly JsonObject[];
  readonly start: number;
  readonly end: number;
}

/**
 * What a text has of JSON with fields, in order [M14]: some models put words or a fence around it, leave a comma or a line break in it, or
 * write several values; of a broken list the whole entries are left.
 */
export function jsonValuesIn(text: string): readonly FoundJson[] {
  const opening = /[[{]/gu;
  const found: FoundJson[] = [];
  for (let tries = 0; tries < mostVainTries && opening.test(text);) {
    const start = opening.lastIndex - 1;
    const end = endOfJson(text, start) ?? start;
    const value = jsonOf(text.slice(start, end));
    if (isObject(value) || (Array.isArray(value) && value.every(isObject))) {
      found.push({ value, start, end });
      opening.lastIndex = end;
    } else tries += 1;
  }
  return found;
}

/** The objects of an answer, those of a list one by one; `undefined` where there is no JSON. */
export function jsonIn(text: string): readonly JsonObject[] | undefined {
  const found = jsonValuesIn(text);
  return found.length === 0 ? undefined : found.flatMap(({ value }) => value);
}

/** Behind the bracket that closes the one at `start`, if any does. */
export function endOfJson(text: string, start: number): number | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (isQuoted && sign === '\\') at += 1;
    else if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && '{['.includes(sign)) depth += 1;
    else if (!isQuoted && '}]'.includes(sign)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

/** A string, a comma with nothing behind it, or an id, of which a number would lose digits. */
const mended = /"[^"\\]*(?:\\.[^"\\]*)*"|,(?=\s*[\]}])|(?<![\w.+-])\d{16,}(?![\w.])/gsu;

/** Of JSON, strict or nearly; `undefined` for anything else. */
export function jsonOf(json: string): unknown {
  try {
    const strict = json.replace(/[\n\r\t]/gu, ' ').replace(mended, (part) => {
      if (part === ',') return '';
      return part.startsWith('"') ? part : `"${part}"`;
    });
    return parseJson(strict);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As a schema has it, else in a form that comes near it [M14]; `form` is the schema's own description. */
export function parseNearly<T>(schema: z.ZodType<T>, form: z.core.JSONSchema._JSONSchema, value: unknown) {
  const strict = schema.safeParse(value);
  return strict.success ? strict : schema.safeParse(inForm(value, form));
}

/**
 * A value in the form that a schema asks for, as far as it comes close [M14]: text for a list or for what it spells,
 * `null` for what is left out, another case. All else stays, for the schema to refuse.
 */
function inForm(value: unknown, schema: z.core.JSONSchema._JSONSchema | undefined): unknown {
  if (typeof schema !== 'object') return value;
  const { type, properties = {}, required = [], items } = schema;
  if (type === 'array')
    return [spelt(value)].flat().map((each) => inForm(each, Array.isArray(items) ? undefined : items));
  if (type === 'object') {
    const object = spelt(value) ?? {};
    if (!isObject(object)) return value;
    const fields = Object.entries(object).filter(([name, each]) => each !== null || required.includes(name));
    return Object.fromEntries(fields.map(([name, each]) => [name, inForm(each, properties[name])]));
  }
  if (type === 'string' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') return value;
  const meant = value.trim().toLowerCase();
  if (type === 'integer' || type === 'number')
    return /^-?\d+(?:\.\d+)?$/u.test(meant) ? Number(meant) : value;
  const choices = type === 'boolean' ? [true, false] : (schema.enum ?? []);
  return choices.find((each) => String(each).toLowerCase() === meant) ?? value;
}

/** The list or object that a text spells. */
function spelt(value: unknown): unknown {
  const read = typeof value === 'string' ? jsonOf(value) : undefined;
  return typeof read === 'object' && read !== null ? read : value;
}
