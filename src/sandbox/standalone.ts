import { parseArgs } from 'node:util';

import { defaultSandboxToken, startSandboxServer } from './sandbox-server.ts';

/** Serves a sandbox on its own until SIGTERM or SIGINT; prints one JSON line that says where it is and who is in it. */
async function serve(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      'rate-limits': { type: 'boolean', default: false },
      token: { type: 'string', default: defaultSandboxToken },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`--port is a number from 0 (any) to 65535, not ${values.port}`);
  }
  const server = await startSandboxServer({
    port,
    token: values.token,
    rateLimits: values['rate-limits'],
  });
  process.stdout.write(`${JSON.stringify(await server.info())}\n`);
  const stop = (): void => {
    void server.close();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

serve().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
