/**
 * What a container runs: the bot, whose exit code 78 (the configuration is wrong, starting again does not help) becomes 0, so that `restart: on-failure`
 * leaves it stopped [O2]. With `--check`, asks the bot whether it is well.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const badConfiguration = 78;

async function check() {
  const answer = await fetch(`http://127.0.0.1:${process.env.DISCOCLAW_HTTP_PORT}/healthz`).catch(
    () => undefined,
  );
  return answer?.ok === true ? 0 : 1;
}

function run() {
  const bot = spawn(
    process.execPath,
    ['--max-semi-space-size=4', join(import.meta.dirname, '../dist/main.js'), ...process.argv.slice(2)],
    { stdio: 'inherit' },
  );
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => bot.kill(signal));
  return new Promise((resolve) => {
    bot.once('exit', (code) => resolve(code === badConfiguration ? 0 : (code ?? 1)));
  });
}

process.exitCode = await (process.argv.includes('--check') ? check() : run());
