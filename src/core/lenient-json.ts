import type { z } from 'zod';

import { parseJson } from './text.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Beginnings that turn out to be no JSON; without an end, a text of open brackets would be read once a bracket [L4]. */
const mostVainTries = 100;

/**
 * The objects of an answer in order, those of a list one by one [M14]: some models put words or a fence around JSON,
 * leave a comma or a line break in it, or write several values. What is not JSON is passed over, so that of a broken
 * list the whole entries are left. @throws {SyntaxError} where there is none.
 */
export function jsonIn(text: string): readonly JsonObject[] {
  const found: JsonObject[] = [];
  let isJson = false;
  for (let from = 0, tries = 0; tries < mostVainTries;) {
    const start = from + text.slice(from).search(/[[{]/u);
    if (start < from) break;
    const end = valueEnd(text, start);
    const value = end === undefined ? undefined : parsed(text.slice(start, end));
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (end !== undefined && values.every(isObject)) {
      found.push(...values);
      isJson = true;
      from = end;
    } else {
      tries += 1;
      from = start + 1;
    }
  }
  if (!isJson) throw new SyntaxError('There is no JSON');
  return found;
}

/** The index behind the bracket that closes the one at `start`. */
function valueEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (isQuoted && sign === '\\') at += 1;
    else if (sign === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** A string, a comma with nothing behind it, or an id, of which a number would lose digits. */
const mended = /"[^"\\]*(?:\\.[^"\\]*)*"|,(?=\s*[\]}])|(?<![\w.+-])\d{16,}(?![\w.])/gsu;

function parsed(json: string): unknown {
  try {
    return parseJson(
      json.replace(mended, (part) => {
        if (part === ',') return '';
        return part.startsWith('"')
          ? part.replace(/[\n\r\t]/gu, (sign) => JSON.stringify(sign).slice(1, -1))
          : `"${part}"`;
      }),
    );
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
  switch (schema.type) {
    case 'object': {
      const given = typeof value === 'string' ? parsed(value) : (value ?? {});
      if (!isObject(given)) return value;
      const { properties = {}, required = [] } = schema;
      const fields = Object.entries(given).filter(([name, each]) => each !== null || required.includes(name));
      return Object.fromEntries(fields.map(([name, each]) => [name, inForm(each, properties[name])]));
    }
    case 'array': {
      const spelt = typeof value === 'string' ? parsed(value) : undefined;
      const given = typeof spelt === 'object' && spelt !== null ? spelt : value;
      const { items } = schema;
      const all: readonly unknown[] = Array.isArray(given) ? given : [given];
      return all.map((each) => inForm(each, Array.isArray(items) ? undefined : items));
    }
    case 'integer':
    case 'number':
      return typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/u.test(value) ? Number(value) : value;
    case 'boolean':
      return typeof value === 'string' && /^\s*(?:true|false)\s*$/iu.test(value)
        ? /true/iu.test(value)
        : value;
    case 'string': {
      if (Number.isSafeInteger(value)) return String(value);
      if (typeof value !== 'string') return value;
      const meant = value.trim().toLowerCase();
      return schema.enum?.find((each) => String(each).toLowerCase() === meant) ?? value;
    }
    default:
      return value;
  }
}
