import { parseArgs } from 'node:util';

import type { ChannelView } from './control/control-views.ts';
import type { SandboxInfo } from './control/local-control.ts';
import { defaultSandboxToken, startSandboxServer } from './sandbox-server.ts';

const usage = `Serves a small Discord on 127.0.0.1 until Ctrl-C.

  --port NUMBER   0 to 65535; 0, which is what is taken if nothing is said, for any free port
  --token TOKEN   what a bot logs in with; ${defaultSandboxToken} if not said
  --rate-limits   refuse too many requests within a time, as Discord does
  --json          print one JSON line that says where it is and who is in it, for programs
  --help          this`;

/** The command line says something that the sandbox cannot do. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Serves a sandbox until SIGTERM or SIGINT, and says first where it is and what to do next. */
async function serve(): Promise<void> {
  const { port, token, rateLimits, json, help } = readArguments();
  if (help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const server = await startSandboxServer({ port, token, rateLimits }).catch((error: unknown) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw isTaken ? new Error(`Port ${port} is taken; --port 0 finds a free one`, { cause: error }) : error;
  });
  const info = await server.info();
  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    await server.close();
    if (!json) process.stdout.write('\nStopped.\n');
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
  process.stdout.write(json ? `${JSON.stringify(info)}\n` : firstScreen(info, await server.channels()));
}

/** @throws {UsageError} */
function readArguments() {
  const { values } = parsed();
  const port = Number(values.port);
  if (values.port.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`--port is a number from 0 (any) to 65535, not ${values.port}`);
  }
  if (!/^\S+$/.test(values.token)) throw new UsageError('--token is a word without spaces');
  return { ...values, port, rateLimits: values['rate-limits'] };
}

function parsed() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: '0' },
        token: { type: 'string', default: defaultSandboxToken },
        'rate-limits': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function firstScreen(info: SandboxInfo, channels: readonly ChannelView[]): string {
  const { url, apiUrl, gatewayUrl, token, bot, owner } = info;
  const people = Object.keys(info.people);
  const names = people.map((name) => (name === owner.name ? `${name} (owns the bot)` : name));
  const places = channels
    .filter(({ kind }) => kind !== 'dm')
    .map(({ name, seenBy }) => {
      const seers = people.filter((person) => seenBy.includes(person));
      return seers.length === people.length ? `#${name}` : `#${name} (only ${seers.join(' and ')})`;
    });
  const line = JSON.stringify({ as: owner.name, in: places[0], mentionBot: true, text: 'hello' });
  return `A small Discord on this machine: no account, and nothing leaves it.

  API       ${apiUrl}
  gateway   ${gatewayUrl}
  token     ${token}

  people    ${names.join(', ')}; the bot is ${bot.name}
  channels  ${places.join(', ')}, and everybody's DM with the bot

Start a bot against it in another terminal:

  DISCORD_TOKEN=${token} DISCORD_API_URL=${apiUrl} npm start

or connect any discord.js client: new Client({ …, rest: { api: '${apiUrl}' } }), then login('${token}').
Then speak to it:

  curl -H 'content-type: application/json' -d '${line}' ${url}/sandbox/say

src/sandbox/README.md tells what else people and tests can do. Ctrl-C stops the sandbox.
`;
}

serve().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${message}\n${isUsage ? `\n${usage}\n` : ''}`);
  process.exitCode = isUsage ? 2 : 1;
});
