/**
 * What a container runs: the bot. Where that ends with code 78 (the configuration is wrong, starting again does not help), it stays until it is told to stop,
 * so that `restart: unless-stopped` does not try for ever, `--check` finds it unhealthy, and a rebooted host starts it again [O2]. With words such as
 * `doctor` it does only that. With `--check`, it asks the bot whether it is well.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const badConfiguration = 78;
const anyAddress = new Set(['0.0.0.0', '::', '']);

async function check() {
  const { DISCOCLAW_HTTP_HOST: host = '', DISCOCLAW_HTTP_PORT: port } = process.env;
  const at = anyAddress.has(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const answer = await fetch(`http://${at}:${port}/healthz`).catch(() => undefined);
  return answer?.ok === true ? 0 : 1;
}

async function run(words) {
  const told = new AbortController();
  const bot = spawn(
    process.execPath,
    ['--max-semi-space-size=4', join(import.meta.dirname, '../dist/main.js'), ...words],
    { stdio: 'inherit' },
  );
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      told.abort();
      bot.kill(signal);
    });
  const [code] = await once(bot, 'exit');
  if (code !== badConfiguration || words.length > 0) return code ?? 1;
  if (!told.signal.aborted) {
    console.error(
      'The bot is not started again before that is mended: then `docker compose up -d --force-recreate`',
    );
    // A signal alone would not keep the process.
    const staying = setInterval(() => undefined, 60_000);
    await once(told.signal, 'abort');
    clearInterval(staying);
  }
  return code;
}

const words = process.argv.slice(2);
process.exitCode = await (words.includes('--check') ? check() : run(words));
