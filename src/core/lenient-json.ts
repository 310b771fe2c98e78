import type { z } from 'zod';

import { parseJson } from './text.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Brackets that turn out to begin no JSON; without an end, a text of brackets would be read once for each [L4]. */
const mostVainTries = 100;

/**
 * The objects of an answer in order, those of a list one by one [M14]; `undefined` where there is no JSON. Some models
 * put words or a fence around it, leave a comma or a line break in it, or write several values; of a broken list the
 * whole entries are left.
 */
export function jsonIn(text: string): readonly JsonObject[] | undefined {
  const opening = /[[{]/gu;
  let found: JsonObject[] | undefined;
  for (let tries = 0; tries < mostVainTries && opening.test(text);) {
    const json = valueAt(text, opening.lastIndex - 1);
    const value = parsed(json);
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.every(isObject)) {
      (found ??= []).push(...values);
      opening.lastIndex += json.length - 1;
    } else tries += 1;
  }
  return found;
}

/** From the bracket at `start` to the one that closes it. */
function valueAt(text: string, start: number): string {
  let depth = 0;
  let isQuoted = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (isQuoted && sign === '\\') at += 1;
    else if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && '{['.includes(sign)) depth += 1;
    else if (!isQuoted && '}]'.includes(sign)) depth -= 1;
    if (depth === 0) return text.slice(start, at + 1);
  }
  return '';
}

/** A string, a comma with nothing behind it, or an id, of which a number would lose digits. */
const mended = /"[^"\\]*(?:\\.[^"\\]*)*"|,(?=\s*[\]}])|(?<![\w.+-])\d{16,}(?![\w.])/gsu;

function parsed(json: string): unknown {
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
  const read = typeof value === 'string' ? parsed(value) : undefined;
  return typeof read === 'object' && read !== null ? read : value;
}
