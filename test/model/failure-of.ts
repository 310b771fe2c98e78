import { ModelError } from '../../src/core/errors.ts';

/** The `ModelError` that a call rejects with; anything else fails the test. */
export async function failureOf(call: Promise<unknown>): Promise<ModelError> {
  const error: unknown = await call.then(
    () => new Error('The call did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof ModelError) return error;
  throw error;
}
