import { isSnowflake } from '../../core/snowflake.ts';

/**
 * What the library may be given [L5]: it takes every field for what Discord documents, and a payload that is not as documented would throw in its
 * midst or spoil its caches. Fields that are unknown pass, as do unknown numbers of kinds; fields that the bot has no use for are left out; an
 * optional field that is `null`, or not as it should be, counts as absent, a list loses what is malformed in it. What is left to refuse a payload is what
 * nothing can be done without.
 *
 * Gives the value as the library may have it: `undefined` where it is to be left out, `refused` where nothing can be done with it. Every event of every
 * server comes by here, so these are bare functions.
 */
export type Schema = (value: unknown) => unknown;

export const refused = Symbol('refused');

type Fields = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Passed on as it is where it is as it should be. */
export function where(test: (value: unknown) => boolean): Schema {
  return (value) => (test(value) ? value : refused);
}

/** May be absent, or `null`. */
export function optional(schema: Schema): Schema {
  return (value) => (value === undefined || value === null ? undefined : schema(value));
}

/** Something else where it is not as it should be. */
export function otherwise(schema: Schema, fallback: unknown): Schema {
  return (value) => {
    const usable = schema(value);
    return usable === refused ? fallback : usable;
  };
}

/** Absent unless it is as it should be. */
export function maybe(schema: Schema): Schema {
  return (value) => {
    const usable = value === undefined ? undefined : schema(value);
    return usable === refused ? undefined : usable;
  };
}

export function orNull(schema: Schema): Schema {
  return (value) => (value === null ? null : schema(value));
}

/** As the first of them that takes it says. */
export function either(...schemas: readonly Schema[]): Schema {
  return (value) => {
    for (const schema of schemas) {
      const usable = schema(value);
      if (usable !== refused) return usable;
    }
    return refused;
  };
}

/** What is usable of it goes on to the next. */
export function both(schema: Schema, next: Schema): Schema {
  return (value) => {
    const usable = schema(value);
    return usable === refused ? refused : next(usable);
  };
}

/** For what holds others of its own kind. */
export function lazy(make: () => Schema): Schema {
  let schema: Schema | undefined;
  return (value) => (schema ??= make())(value);
}

/** Passed on as it is. */
export const anything: Schema = (value) => value;
/** Other servers send `null` where Discord leaves a field out. */
const unlessNull: Schema = (value) => (value === null ? undefined : value);
/** Not passed on, but where there is none. */
export const unusedOrNull = maybe(oneOf(null));
/** Not passed on. */
export const unused: Schema = () => undefined;

/** The library asks whether a key is there, so what is left out must not be there as `undefined`. What is whole as it should be is not copied. */
export function object(fields: Readonly<Record<string, Schema>>): Schema {
  const schemas = new Map(Object.entries(fields));
  const indispensable = Object.entries(fields)
    .map(([key, schema]) => [key, schema(undefined)] as const)
    .filter(([, absent]) => absent !== undefined);
  return (value) => {
    if (!isObject(value)) return refused;
    let copy: Record<string, unknown> | undefined;
    for (const key of Object.keys(value)) {
      const field = value[key];
      const usable = key === '__proto__' ? undefined : (schemas.get(key) ?? unlessNull)(field);
      if (usable === field) continue;
      if (usable === refused) return refused;
      copy ??= { ...value };
      if (usable === undefined) delete copy[key];
      else copy[key] = usable;
    }
    for (const [key, absent] of indispensable) {
      if (value[key] !== undefined) continue;
      if (absent === refused) return refused;
      copy ??= { ...value };
      copy[key] = absent;
    }
    return copy ?? value;
  };
}

/** Fields of one kind. */
export function each(schema: Schema, ...names: readonly string[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(names.map((key) => [key, schema]));
}

/** Those that are as they should be. */
export function list(schema: Schema): Schema {
  return (value) => (Array.isArray(value) ? usableOf(value, schema) : refused);
}

/** Refused with a single one that is not as it should be. */
export function all(schema: Schema): Schema {
  return (value) => {
    if (!Array.isArray(value)) return refused;
    const usable = usableOf(value, schema);
    return usable.length === value.length ? usable : refused;
  };
}

/** Those that are as they should be. */
export function usableOf(values: readonly unknown[], schema: Schema): readonly unknown[] {
  if (values.length === 0) return values;
  const usable = values.map(schema).filter((one) => one !== refused);
  return values.every((one, index) => one === usable[index]) ? values : usable;
}

/** By id, those that are as they should be. */
export const byId = (schema: Schema): Schema =>
  both(where(isObject), (value) =>
    Object.fromEntries(
      Object.entries(Object(value)).flatMap(([key, one]) => {
        const usable = schema(one);
        return usable !== refused && isSnowflake(key) ? [[key, usable]] : [];
      }),
    ),
  );

export function oneOf(...values: readonly unknown[]): Schema {
  return where((value) => values.includes(value));
}

function text(least: number, most: number): Schema {
  return where((value) => typeof value === 'string' && value.length >= least && value.length <= most);
}

export const id = where((value) => typeof value === 'string' && isSnowflake(value));
/** Discord's longest has 100 characters. */
export const name = text(1, 200);
/** Discord's longest text, that of a message's embeds together, has 6,000 characters. */
export const words = text(0, 10_000);
export const boolean = where((value) => typeof value === 'boolean');
export const number = where((value) => Number.isFinite(value));
export const integer = where((value) => Number.isSafeInteger(value));
export const whole = where((value) => Number.isSafeInteger(value) && Number(value) >= 0);
export const count = maybe(whole);
export const flag = maybe(boolean);
export const maybeId = maybe(orNull(id));
export const maybeName = maybe(orNull(name));
export const maybeWords = maybe(orNull(words));
const digits = /^[0-9]{1,30}$/u;
export const permissions = where((value) => typeof value === 'string' && digits.test(value));
export const time = where((value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)));
export const maybeTime = maybe(orNull(time));
