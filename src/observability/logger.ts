import { destination as openDestination, pino, stdTimeFunctions, type DestinationStream } from 'pino';

import type { Logger } from '../core/logger.ts';

export interface LoggerOptions {
  readonly level: keyof Logger;
  /** Where the JSON lines go; by default standard error, so that standard output stays for people. */
  readonly destination?: DestinationStream;
}

const secretFields = [
  'token',
  'apiKey',
  'authorization',
  '*.token',
  '*.apiKey',
  '*.authorization',
  '*.headers',
];

/** JSON lines by pino; fields that carry secrets are redacted. */
export function createLogger({ level, destination }: LoggerOptions): Logger {
  const lines = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      redact: secretFields,
      serializers: { error: describeError },
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? openDestination({ fd: 2, sync: true }),
  );
  return {
    debug: (event, data = {}) => lines.debug(data, event),
    info: (event, data = {}) => lines.info(data, event),
    warn: (event, data = {}) => lines.warn(data, event),
    error: (event, data = {}) => lines.error(data, event),
  };
}

/** An error by name, message, code, stack and causes; other properties may hold request bodies, so they stay out. */
function describeError(error: unknown): object | string {
  if (!(error instanceof Error)) return String(error);
  return {
    name: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
