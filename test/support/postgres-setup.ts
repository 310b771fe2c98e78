import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { TestProject } from 'vitest/node';

import { startPostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a database on a server where tests may make databases of their own; of projects with such a server only. */
    readonly databaseUrl?: string;
  }
}

/** Before the tests of the project: one server for all, or the one that `DATABASE_URL` names. */
// oxlint-disable-next-line import/no-default-export -- vitest runs the default export
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') {
    project.provide('databaseUrl', given);
    return async () => {};
  }
  const server = await startPostgresServer();
  // However this process ends, the server ends with it.
  const reaper = spawn(process.execPath, [fileURLToPath(new URL('reaper.mjs', import.meta.url))], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  reaper.unref();
  reaper.stdin.write(`folder ${server.folder}\nstart ${server.process()?.pid}\n`);
  project.provide('databaseUrl', server.url);
  return async () => {
    await server.dispose();
    reaper.stdin.end();
  };
}
