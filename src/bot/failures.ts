import { ConfigError } from '../config/config.ts';
import { StoreError, UnusableStoreError } from '../core/errors.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { usage, UsageError } from './command-line.ts';
import { UnusableError } from './findings.ts';
import { refusedByDisk } from './folders.ts';

/** As shells have it: the command line is wrong [O6]. */
const badArguments = 2;

/** `EX_CONFIG` of sysexits.h: starting again does not help [O2]. */
const badConfiguration = 78;

/** People get one clear line for what they can mend, and the whole error for what is ours. */
export function explain(failure: unknown): string {
  const error = known(failure);
  if (error instanceof UsageError) return `${error.message}\n\n${usage}`;
  const isForPeople =
    error instanceof ConfigError ||
    error instanceof GatewayError ||
    error instanceof UnusableError ||
    error instanceof StoreError;
  if (isForPeople) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

export function exitCodeFor(failure: unknown): number {
  const error = known(failure);
  if (error instanceof UsageError) return badArguments;
  const needsOperator =
    error instanceof ConfigError ||
    error instanceof UnusableError ||
    error instanceof UnusableStoreError ||
    (error instanceof GatewayError && !error.isPassing);
  return needsOperator ? badConfiguration : 1;
}

function known(failure: unknown): unknown {
  return refusedByDisk(failure) ?? failure;
}
