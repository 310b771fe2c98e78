import { ConfigError } from '../config/config.ts';
import { StoreError, UnusableStoreError } from '../core/errors.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { RequestError, usage, UsageError } from './command-line.ts';
import { UnusableError } from './findings.ts';
import { errorCode } from '../storage/files/file-system.ts';
import { refusedByDisk } from './folders.ts';

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
