import { z } from 'zod';

import type { SandboxControl } from './sandbox-control.ts';
import { SandboxError } from './sandbox-error.ts';

/** A method as HTTP calls it. */
export type ControlCall = (input?: unknown) => Promise<unknown>;

/** Makes a method of the control out of the form of its input and what it does. */
export type DefineCall = <Schema extends z.ZodType, Result>(
  name: keyof SandboxControl,
  schema: Schema,
  run: (input: z.output<Schema>) => Result | Promise<Result>,
) => (input?: unknown) => Promise<Result>;

/** Methods that check their input, and all that were defined, by name. */
export function createControlCalls(): {
  readonly define: DefineCall;
  readonly calls: ReadonlyMap<string, ControlCall>;
} {
  const calls = new Map<string, ControlCall>();
  const define: DefineCall = (name, schema, run) => {
    const call = async (input?: unknown): Promise<Awaited<ReturnType<typeof run>>> => {
      const parsed = schema.safeParse(input ?? {});
      if (parsed.success) return await run(parsed.data);
      throw new SandboxError(`${name}: ${z.prettifyError(parsed.error)}`);
    };
    calls.set(name, call);
    return call;
  };
  return { define, calls };
}
