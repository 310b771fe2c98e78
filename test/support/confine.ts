import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

/** What tests may use besides files: servers and clients in the process, or processes of their own too. */
export type Reach = 'sockets' | 'processes';

/** Holds the tests of this process to it: one that reaches further fails there and then. */
export function confine(reach: Reach): void {
  if (reach === 'processes') return;
  Object.assign(ChildProcess.prototype, { spawn: startNothing });
  Object.assign(childProcess, {
    spawnSync: startNothing,
    execSync: startNothing,
    execFileSync: startNothing,
  });
  syncBuiltinESMExports();
}

function startNothing(): never {
  throw new Error('A test of this project starts a process: name its file *.e2e.test.ts');
}
