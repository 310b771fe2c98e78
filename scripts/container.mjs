/**
 * What a container runs: the bot. Where that ends with code 78 (the configuration is wrong, starting again does not help), or there is no token, it stays until
 * it is told to stop, so that `restart: unless-stopped` does not try for ever, `--check` finds it unhealthy, and a rebooted host starts it again [O2]. With
 * words such as `doctor` it does only that; `sandbox` plays the sandbox. With `--check`, it asks the bot whether it is well [EW4].
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const badConfiguration = 78;
const noToken =
  'DISCORD_TOKEN is not set: set it in .env, then `docker compose up -d --force-recreate`; to try the bot without an account, `docker compose run --rm discoclaw sandbox`';
const notStarted =
  'The bot is not started again before that is mended: then `docker compose up -d --force-recreate`';
const anyAddress = new Set(['0.0.0.0', '::', '']);

async function check() {
  const { DISCOCLAW_HTTP_HOST: host = '', DISCOCLAW_HTTP_PORT: port } = process.env;
  const at = anyAddress.has(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const answer = await fetch(`http://${at}:${port}/healthz`).catch(() => undefined);
  return answer?.ok === true ? 0 : 1;
}

async function run(words) {
  const { DISCORD_TOKEN: token = '', DISCOCLAW_STORE: _, ...others } = process.env;
  // Its people are nobody's: what the bot keeps is left alone.
  const ofSandbox = { ...others, DISCOCLAW_DATA_DIR: join(tmpdir(), 'discoclaw-sandbox') };
  const isSandbox = words.join(' ') === 'sandbox';
  // Alone it would play the demonstration again and again.
  if (words.length === 0 && token === '' && !existsSync('.env')) return stay(noToken);
  const told = new AbortController();
  const bot = spawn(
    process.execPath,
    ['--max-semi-space-size=4', join(import.meta.dirname, '../dist/main.js'), ...(isSandbox ? [] : words)],
    { stdio: 'inherit', env: isSandbox ? ofSandbox : process.env },
  );
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      told.abort();
      bot.kill(signal);
    });
  const [code] = await once(bot, 'exit');
  if (code !== badConfiguration || words.length > 0) return code ?? 1;
  return told.signal.aborted ? code : stay(notStarted);
}

/** Until it is told to stop. */
async function stay(line) {
  console.error(line);
  // A signal alone would not keep the process.
  const staying = setInterval(() => undefined, 60_000);
  await Promise.race(['SIGTERM', 'SIGINT'].map((signal) => once(process, signal)));
  clearInterval(staying);
  return badConfiguration;
}

const words = process.argv.slice(2);
process.exitCode = await (words.includes('--check') ? check() : run(words));
