import { z } from 'zod';

import { controlInputs, type CheckedInput, type ControlInput, type ControlMethod } from './control-inputs.ts';

/** The sandbox cannot do what it was asked; the message says why and what there is. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** A method as HTTP calls it. */
export type ControlCall = (input?: unknown) => Promise<unknown>;

/** Makes a method of the control, which checks its input, out of what it does. */
export type DefineCall = <Method extends ControlMethod, Result>(
  name: Method,
  run: (input: CheckedInput<Method>) => Result | Promise<Result>,
) => (...input: Given<Method>) => Promise<Result>;

/** A method whose every field has a default takes nothing as well. */
type Given<Method extends ControlMethod> =
  {} extends ControlInput<Method> ? [input?: ControlInput<Method>] : [input: ControlInput<Method>];

const schemas: { readonly [Method in ControlMethod]: z.ZodType<CheckedInput<Method>> } = controlInputs;

/** Methods that check their input, and all that were defined, by name. */
export function createControlCalls(): {
  readonly define: DefineCall;
  readonly calls: ReadonlyMap<string, ControlCall>;
} {
  const calls = new Map<string, ControlCall>();
  const define: DefineCall = (name, run) => {
    const call = async (input?: unknown): Promise<Awaited<ReturnType<typeof run>>> => {
      const parsed = schemas[name].safeParse(input ?? {});
      if (parsed.success) return await run(parsed.data);
      throw new SandboxError(`${name}: ${z.prettifyError(parsed.error)}`);
    };
    calls.set(name, call);
    return call;
  };
  return { define, calls };
}
