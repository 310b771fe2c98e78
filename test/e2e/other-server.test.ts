import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { connectSandbox } from '../../src/sandbox/control/control-http.ts';
import type { SandboxControl, SandboxInfo } from '../../src/sandbox/control/local-control.ts';
import { startChild, type Child } from './child.ts';

/** Lets a program run from its sources. */
const typesStripped = createRequire(import.meta.url).resolve('ts-blank-space/register');

describe('another process’s Discord-compatible server', () => {
  let folder: string;
  let server: Child;
  let bot: Child;
  let sandbox: SandboxControl;
  let info: SandboxInfo;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'discoclaw-other-'));
    server = startChild({
      script: fileURLToPath(new URL('../../src/sandbox/standalone.ts', import.meta.url)),
      arguments: ['--json'],
      environment: { NODE_OPTIONS: `--import ${pathToFileURL(typesStripped).href}` },
      folder,
    });
    const [line = ''] = (await server.waitFor('\n')).split('\n');
    sandbox = connectSandbox(z.object({ url: z.string() }).parse(JSON.parse(line)).url);
    info = await sandbox.info();
    bot = startChild({
      folder,
      environment: { DISCORD_TOKEN: info.token, DISCORD_API_URL: info.apiUrl },
    });
    await bot.waitFor('"the bot is ready"');
  });
  afterAll(async () => {
    await bot.end('SIGTERM');
    await server.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });

  it('is used for everything by its address alone: messages, commands and files [Z6]', async () => {
    const said = await sandbox.say({
      as: 'alice',
      in: 'dm',
      text: 'What is in here?',
      attachments: [{ name: 'notes.txt', text: 'The meeting is on Monday.' }],
    });
    const reply = await sandbox.waitForReply({ in: said.channelId, after: said.id });
    expect(reply.text).toContain('notes.txt');
    const downloads = await sandbox.downloads();
    expect(downloads).toMatchObject([{ status: 200, sentToken: false }]);
    const shown = await sandbox.slash({ as: 'alice', in: 'dm', name: 'memory', subcommand: 'show' });
    expect(shown.answer?.text).toContain('Durable memory (0 items):');
  });

  it('gives nobody access but its application’s owner', async () => {
    const shown = await sandbox.slash({ as: 'bob', in: 'dm', name: 'memory', subcommand: 'show' });
    expect(shown.answer?.text).toContain('I only answer people whom my owner has given access.');
  });
});
