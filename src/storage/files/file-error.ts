import { StoreError } from '../../core/errors.ts';

/** The error's `code`, such as `ENOENT`, where it is one of the operating system's. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}

/** The path, or a part of it, does not exist. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Resolves with `undefined` where `work` finds nothing at its path. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Runs `work`; a failure of the file system becomes a `StoreError` for `key`. Errors of other kinds pass as they are. */
export async function orStoreError<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(key, action, error);
  }
}

/** `error` as a `StoreError` where it comes from the file system; else `error` itself. */
export function toStoreError(key: string, action: string, error: unknown): unknown {
  const code = errorCode(error);
  if (error instanceof StoreError || code === undefined) return error;
  return new StoreError(`${key} could not be ${action} (${code})`, key, { cause: error });
}
