/**
 * Runs scripts of package.json one after the other until one fails: `node scripts/run-scripts.mjs one,two three`.
 * Those joined by commas run two at a time, all of them, and print their output at the end. A signal reaches
 * everything that runs [O7].
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';

const atOnce = 2;
const running = new Set();
let endedBy;

for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
])
  process.on(signal, () => {
    endedBy = number;
    for (const { pid } of running) process.kill(-pid, signal);
  });

/** Resolves with whether it succeeded. */
async function run(script, isAlone) {
  if (endedBy !== undefined) return false;
  const stdio = isAlone ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn('npm', ['run', '--silent', script], { stdio, detached: true });
  running.add(child);
  const said = isAlone ? [] : [buffer(child.stdout), buffer(child.stderr)];
  const [code] = await once(child, 'close');
  running.delete(child);
  for (const text of await Promise.all(said)) process.stdout.write(text);
  return code === 0;
}

async function runBeside(scripts) {
  const left = [...scripts];
  let isFine = true;
  const next = async () => {
    for (let script = left.shift(); script !== undefined; script = left.shift())
      if (!(await run(script, scripts.length === 1))) isFine = false;
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return isFine;
}

for (const group of process.argv.slice(2)) {
  if (await runBeside(group.split(','))) continue;
  process.exitCode = endedBy === undefined ? 1 : 128 + endedBy;
  break;
}
