import { once } from 'node:events';
import { request } from 'node:http';

import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { openSandbox } from '../support/bot-client.ts';

/** `fetch` does not let a caller choose these headers, as a browser does not. */
async function post(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const asked = request(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  asked.end('{}');
  const [response] = await once(asked, 'response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, text };
}

/** `open`, or the status with which the upgrade was refused. */
async function upgrade(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/gateway?v=10`, { headers });
  const outcome = await once(socket, 'open').then(() => 'open', String);
  socket.terminate();
  return outcome;
}

describe('requests of pages in a browser', () => {
  it('are refused with a plain error where host or origin are foreign, on every path', async () => {
    const { url } = await openSandbox();
    const { port } = new URL(url);
    const foreign: readonly Readonly<Record<string, string>>[] = [
      { host: `evil.example:${port}` },
      { host: 'evil.example' },
      { host: '127.0.0.1' },
      { host: '127.0.0.1:1' },
      { host: `127.0.0.1.evil.example:${port}` },
      { origin: 'https://evil.example' },
      { origin: `https://127.0.0.1:${port}` },
      { origin: 'http://127.0.0.1:1' },
      { origin: 'null' },
    ];
    for (const headers of foreign) {
      for (const path of ['/sandbox/info', '/api/v10/channels/1/messages', '/attachments/1/2/cat.png', '/']) {
        const { status, text } = await post(url, path, headers);
        expect({ headers, path, status }).toEqual({ headers, path, status: 403 });
        expect(JSON.parse(text)).toEqual({ error: expect.stringContaining('127.0.0.1') });
      }
      expect({ headers, outcome: await upgrade(url, headers) }).toEqual({
        headers,
        outcome: expect.stringContaining('403'),
      });
    }
  });

  it('are answered under the names of this machine, with the port', async () => {
    const { url } = await openSandbox();
    const { port } = new URL(url);
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      expect((await post(url, '/sandbox/info', { host: `${name}:${port}` })).status).toBe(200);
      expect(await upgrade(url, { host: `${name}:${port}` })).toBe('open');
    }
    const origin = `http://localhost:${port}`;
    expect((await post(url, '/sandbox/info', { origin })).status).toBe(200);
    expect(await upgrade(url, { origin })).toBe('open');
  });
});
