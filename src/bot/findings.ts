import { ConfigError } from '../config/config.ts';
import { StoreError, UnusableStoreError } from '../core/errors.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { RequestError, usage, UsageError } from './command-line.ts';
import { errorCode } from '../storage/files/file-system.ts';
import { refusedByDisk } from './folders.ts';

/** What a check found. A `warning` limits what the bot can do; `broken` has to be fixed. */
export interface Finding {
  readonly level: 'fine' | 'warning' | 'broken';
  readonly about: string;
  readonly text: string;
  readonly remedy?: string;
  /** What the model's server refuses for good: no start makes sense before it is fixed [O2]. */
  readonly wrong?: 'key' | 'model';
}

/** A start is pointless until the operator fixes what the message says [O2]. */
export class UnusableError extends Error {
  override readonly name = 'UnusableError';
}

export const fine = (about: string, text: string): Finding => ({ level: 'fine', about, text });

export function warning(about: string, text: string, remedy: string): Finding {
  return { level: 'warning', about, text, remedy };
}

export function broken(about: string, text: string, remedy: string, wrong?: Finding['wrong']): Finding {
  return { level: 'broken', about, text, remedy, wrong };
}

/** What the process prints of a failure, one line where people can fix it, and its exit code. */
export function describeFailure(failure: unknown): { readonly text: string; readonly exitCode: number } {
  const error = refusedByDisk(failure) ?? failure;
  // As shells do [O6].
  if (error instanceof UsageError) return { text: `${error.message}\n\n${usage}`, exitCode: 2 };
  if (error instanceof RequestError) return { text: error.message, exitCode: 2 };
  const needsOperator =
    error instanceof ConfigError ||
    error instanceof UnusableError ||
    error instanceof UnusableStoreError ||
    (error instanceof GatewayError && !error.isPassing);
  // `EX_CONFIG` of sysexits.h: a restart does not help [O2].
  if (needsOperator) return { text: error.message, exitCode: 78 };
  if (!(error instanceof Error)) return { text: String(error), exitCode: 1 };
  // What the system says, such as of a full disk, needs no stack.
  const isClear =
    error instanceof GatewayError || error instanceof StoreError || errorCode(error) !== undefined;
  return { text: isClear ? error.message : (error.stack ?? error.message), exitCode: 1 };
}
