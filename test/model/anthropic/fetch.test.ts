import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';

import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';

import { fetchForSdk } from '../../../src/model/anthropic/fetch.ts';

/** The address of a server on loopback that ends with the test. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens to a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function post(url: string, signal: AbortSignal | null = null): Promise<Response> {
  return fetchForSdk(url, {
    method: 'POST',
    headers: new Headers({ 'x-api-key': 'key' }),
    body: '{"max_tokens":1}',
    signal,
  });
}

/** What a request said, as an answer. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request;
  const body = await readText(request);
  response.end(JSON.stringify({ method, url, key: headers['x-api-key'], body }));
}

/** How undici names a connection that the server closed. */
const brokenOff = { code: 'UND_ERR_SOCKET' };

function namesIn({ headers }: Response): (string | null)[] {
  return [headers.get('x-twice'), headers.get('x-name')];
}

describe('an answer', () => {
  it.each([307, 308])('that is a redirect (%i) is followed, with the body', async (status) => {
    const url = await serve((request, response) => {
      if (request.url === '/new') void echo(request, response);
      else response.writeHead(status, { location: '/new' }).end('It has moved');
    });

    const answer = await post(`${url}/old`);

    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      method: 'POST',
      url: '/new',
      key: 'key',
      body: '{"max_tokens":1}',
    });
  });

  it.each([204, 205])('without any text (%i) is one', async (status) => {
    const url = await serve((_, response) => response.writeHead(status).end());

    expect(await post(url)).toMatchObject({ status, body: null });
  });

  it('has its headers, also those that come twice and those that are no ASCII', async () => {
    const headers = { 'x-twice': ['one', 'two'], 'x-name': Buffer.from('größer →').toString('latin1') };
    const url = await serve((_, response) => response.writeHead(429, headers).end('no'));

    const answers = [await post(url), await fetch(url, { method: 'POST' })];

    const [own, standard] = answers.map((answer) => [answer.status, ...namesIn(answer)]);
    expect(own).toEqual(standard);
    expect(own).toContain('one, two');
  });
});

describe('compression', () => {
  it('is not asked for', async () => {
    const url = await serve((request, response) => response.end(request.headers['accept-encoding']));

    expect(await (await post(url)).text()).toBe('identity');
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('is undone all the same: %s', async (coding, compress) => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(compress('Hello')),
    );

    expect(await (await post(url)).text()).toBe('Hello');
  });

  it('holds no piece of a stream up', async () => {
    const url = await serve((_, response) => {
      const zip = createGzip();
      zip.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }));
      zip.write('first');
      zip.flush();
    });

    const read = await (await post(url)).body?.getReader().read();

    expect(Buffer.from(read?.value ?? []).toString()).toBe('first');
  });

  it('that breaks off is an error for the reader', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(gzipSync('Hello'.repeat(1000)).subarray(0, 20), () => response.destroy());
    });

    await expect((await post(url)).text()).rejects.toMatchObject(brokenOff);
  });
});

/** A server that begins an answer and leaves it open. */
async function serveWithoutEnd(coding: string) {
  let isClosed = false;
  const url = await serve((_, response) => {
    response.once('close', () => (isClosed = true));
    response.writeHead(200, { 'content-encoding': coding }).write(coding === 'gzip' ? gzipSync('Hi') : 'Hi');
  });
  return { url, isClosed: () => isClosed };
}

describe('a connection', () => {
  it.each(['identity', 'gzip'])('is closed when the reader wants no more (%s)', async (coding) => {
    const { url, isClosed } = await serveWithoutEnd(coding);
    const reader = (await post(url)).body?.getReader();
    await reader?.read();

    await reader?.cancel();

    await expect.poll(isClosed).toBe(true);
  });

  it.each(['identity', 'gzip'])(
    'is closed by the signal, whose reason the reader gets (%s)',
    async (coding) => {
      const { url, isClosed } = await serveWithoutEnd(coding);
      const wish = new AbortController();
      const text = (await post(url, wish.signal)).text();
      const reason = new Error('Not wanted');

      wish.abort(reason);

      await expect(text).rejects.toBe(reason);
      await expect.poll(isClosed).toBe(true);
    },
  );

  it('that breaks before anybody reads is an error for who reads then, and for nobody else', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200).flushHeaders();
      response.destroy();
    });
    const answer = await post(url);
    for (let loops = 0; loops < 50; loops += 1) await nextLoop();

    await expect(answer.text()).rejects.toMatchObject(brokenOff);
  });

  it('is made as everybody says: by way of a proxy, where there is one', async () => {
    const before = getGlobalDispatcher();
    const proxy = new MockAgent();
    setGlobalDispatcher(proxy);
    onTestFinished(() => setGlobalDispatcher(before));
    proxy.get('http://model.example').intercept({ path: '/v1', method: 'POST' }).reply(200, 'by the proxy');

    expect(await (await post('http://model.example/v1')).text()).toBe('by the proxy');
  });
});

it('leaves to the standard what is no text that is posted', async () => {
  const url = await serve((request, response) => void echo(request, response));

  const asked = await Promise.all([
    fetchForSdk(url),
    fetchForSdk(new Request(url, { method: 'POST', body: 'a' })),
    fetchForSdk(url, { method: 'POST', body: new Uint8Array([97]), headers: new Headers() }),
  ]);

  expect(await Promise.all(asked.map((answer) => answer.json()))).toEqual([
    { method: 'GET', url: '/', body: '' },
    { method: 'POST', url: '/', body: 'a' },
    { method: 'POST', url: '/', body: 'a' },
  ]);
});
