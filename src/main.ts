import { runConnected, runInSandbox } from './bot/run.ts';
import { ConfigError, loadEnvironment, readConfig } from './config/config.ts';
import { StoreError } from './core/errors.ts';
import { GatewayError } from './discord/client.ts';

/** `EX_CONFIG` of sysexits.h: starting again does not help [O2]. */
const badConfiguration = 78;

/**
 * Milliseconds from the wish to stop until the process ends, whatever still holds it, such as a request that Discord makes wait [G4]. What was
 * acknowledged is on disk by then.
 */
const exitAfterMs = 9500;

/** Runs the bot: on Discord where a token is set, otherwise in a sandbox of its own with a chat in the terminal. */
async function main(): Promise<void> {
  const stop = new AbortController();
  const end = (signal: NodeJS.Signals): void => {
    stop.abort();
    setTimeout(() => process.exit(), exitAfterMs).unref();
    // The next one ends the process at once. Until all have heard this one the listener stays: while a file is replaced, write-file-atomic
    // listens too, and ends the process where nobody else does.
    setImmediate(() => process.off(signal, end));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  const { config, notes } = readConfig(loadEnvironment());
  const { token } = config.discord;
  return token === undefined
    ? runInSandbox(config, notes, stop.signal)
    : runConnected(config, token, notes, stop.signal);
}

/** People get one clear line for what they can mend, and the whole error for what is ours. */
function explain(error: unknown): string {
  const isForPeople =
    error instanceof ConfigError || error instanceof GatewayError || error instanceof StoreError;
  if (isForPeople) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  const needsOperator = error instanceof ConfigError || (error instanceof GatewayError && !error.isPassing);
  process.exitCode = needsOperator ? badConfiguration : 1;
});
