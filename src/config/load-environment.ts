import { config } from 'dotenv';

import type { Environment } from './read-config.ts';

/** The process's environment, with `.env` of the working folder behind it: what is set already wins. */
export function loadEnvironment(): Environment {
  const { parsed = {} } = config({ quiet: true, processEnv: {} });
  return { ...parsed, ...process.env };
}
