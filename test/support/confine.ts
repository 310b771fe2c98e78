import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server, Socket } from 'node:net';

/** What tests may use besides files: nothing, servers and clients in the process, or processes of their own too. */
export type Reach = 'nothing' | 'sockets' | 'processes';

/** Holds the tests of this process to it: one that reaches further fails there and then. */
export function confine(reach: Reach): void {
  if (reach === 'processes') return;
  const startNothing = refusing('starts a process: name its file *.e2e.test.ts');
  Object.assign(ChildProcess.prototype, { spawn: startNothing });
  Object.assign(childProcess, {
    spawnSync: startNothing,
    execSync: startNothing,
    execFileSync: startNothing,
  });
  syncBuiltinESMExports();
  if (reach === 'sockets') return;
  const openNothing = refusing('opens a socket: name its file *.gateway.test.ts');
  Object.assign(Socket.prototype, { connect: openNothing });
  Object.assign(Server.prototype, { listen: openNothing });
}

function refusing(what: string): () => never {
  return () => {
    throw new Error(`A test of this project ${what}`);
  };
}
