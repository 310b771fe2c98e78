/**
 * Cleans up after the process that started it, however that one ended: `kill -9` and Ctrl-C included. Reads lines from its standard
 * input: `start PID` and `end PID` of process groups, `folder PATH` of temporary folders. When the input ends, whatever is left of the
 * groups is killed, and the folders are removed. It runs in a session of its own, so that nothing which ends its parent ends it.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const groups = new Set();
const folders = new Set();

for await (const line of createInterface({ input: process.stdin })) {
  const [, what, value] = /^(start|end|folder) (.+)$/u.exec(line) ?? [];
  if (what === 'start') groups.add(Number(value));
  if (what === 'end') groups.delete(Number(value));
  if (what === 'folder') folders.add(value);
}

for (const group of groups) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
for (const folder of folders) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
