import { z } from 'zod';

import { isSnowflake } from '../../core/snowflake.ts';

/**
 * What the library may be given [L5]: it takes every field for what Discord documents, and a payload that is not as documented would throw in its
 * midst or spoil its caches. Fields that are unknown pass, as do unknown numbers of kinds; fields that the bot has no use for are left out; an
 * optional field that is not as it should be counts as absent, a list loses what is malformed in it. What is left to refuse a payload is what
 * nothing can be done without.
 */
export type Schema = z.ZodType;

/** Absent unless it is as it should be. */
export function maybe(schema: Schema): Schema {
  return schema.optional().catch(undefined);
}

/** Not passed on. */
export const unused = z
  .unknown()
  .optional()
  .transform(() => undefined);

/** The library asks whether a key is there, so what is left out must not be there as `undefined`. */
export function object(fields: Readonly<Record<string, Schema>>): Schema {
  return z.looseObject(fields).transform((all) => {
    const present = Object.entries(all).filter(([key, value]) => value !== undefined && key !== '__proto__');
    return Object.fromEntries(present);
  });
}

/** Those that are as they should be. */
export function list(schema: Schema): Schema {
  return z.array(z.unknown()).transform((all) => usableOf(all, schema));
}

/** Those that are as they should be. */
export function usableOf(all: readonly unknown[], schema: Schema): unknown[] {
  return all.flatMap((one) => {
    const { success, data } = schema.safeParse(one);
    return success ? [data] : [];
  });
}

/** By id, those that are as they should be. */
export function byId(schema: Schema): Schema {
  return z.record(z.string(), z.unknown()).transform((all) =>
    Object.fromEntries(
      Object.entries(all).flatMap(([key, one]) => {
        const { success, data } = schema.safeParse(one);
        return success && isSnowflake(key) ? [[key, data]] : [];
      }),
    ),
  );
}

export const id = z.string().refine(isSnowflake);
/** Discord's longest has 100 characters. */
export const name = z.string().min(1).max(200);
/** Discord's longest text, that of a message's embeds together, has 6,000 characters. */
export const words = z.string().max(10_000);
export const whole = z.int().nonnegative();
export const count = maybe(whole);
export const flag = maybe(z.boolean());
export const maybeId = maybe(id.nullable());
export const maybeWords = maybe(words.nullable());
export const permissions = z.string().regex(/^[0-9]{1,30}$/u);
export const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));
export const maybeTime = maybe(time.nullable());
