import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { connectSandbox } from '../../src/sandbox/control/control-http.ts';
import { startProcess } from '../support/child-process.ts';

const infoSchema = z.object({ url: z.string(), token: z.string(), people: z.record(z.string(), z.string()) });
const program = ['--import', 'tsx', new URL('../../src/sandbox/standalone.ts', import.meta.url).pathname];

describe('the sandbox on its own', () => {
  it('prints one line that says where it is, serves, and ends at SIGTERM', async () => {
    const words = [...program, '--port', '0', '--token', 'mine', '--rate-limits'];
    const child = startProcess(process.execPath, words);
    const exited = once(child, 'exit');
    const [line] = await once(createInterface(child.stdout), 'line');
    const info = infoSchema.parse(JSON.parse(String(line)));
    expect(info.token).toBe('mine');
    expect(info.people).toEqual({
      alice: '140000000000000001',
      bob: '140000000000000002',
      carol: '140000000000000003',
    });
    const said = await connectSandbox(info.url).say({ as: 'alice', in: '#general', text: 'hello' });
    expect(said.author.id).toBe(info.people['alice']);
    const posted = await fetch(`${info.url}/api/v10/channels/${said.channelId}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bot mine', 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'hello' }),
    });
    expect(posted.headers.get('x-ratelimit-remaining')).toBe('4');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  it('names a bad port and exits with 1', async () => {
    const child = startProcess(process.execPath, [...program, '--port', 'lots']);
    const exited = once(child, 'exit');
    const [message] = await once(createInterface(child.stderr), 'line');
    expect(message).toContain('--port is a number from 0 (any) to 65535, not lots');
    expect((await exited)[0]).toBe(1);
  });
});
