import { request } from 'node:http';
import { once } from 'node:events';

import { afterEach, describe, expect, it } from 'vitest';

import { connectMcp, postMcp } from '../support/mcp-client.ts';
import { alice, bob, openPage } from './page-harness.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(() => Promise.all(open.splice(0).map((client) => client.close())));

/** Somebody makes a token on their page; resolves with it. */
async function tokenOf(browser: Browser, name: string): Promise<string> {
  const answer = await make(browser, name);
  return /<code>(\d+\.[\w-]{43})<\/code>/u.exec(answer)?.[1] ?? `no token in: ${answer}`;
}

type Place = Awaited<ReturnType<typeof openPage>>;
type Browser = Awaited<ReturnType<Place['browserOf']>>;

function make(browser: Browser, name: string): Promise<string> {
  return deed(browser, { line: 'token make', text: name });
}

/** Sends a form of *Use my memory elsewhere*, and resolves with the page behind it. */
async function deed(browser: Browser, fields: Readonly<Record<string, string>>): Promise<string> {
  const back = '/elsewhere';
  const answer = await browser.post('/do', { _csrf: await browser.csrf(), back, ...fields });
  return browser.text(answer.headers.get('location') ?? '');
}

async function clientOf(place: Place, token: string, mode: 'legacy' | 'auto' = 'legacy') {
  const client = await connectMcp(place.url, token, mode);
  open.push(client);
  return client;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a token for another assistant [EW3]', () => {
  it('is shown once, kept as a hash, listed by its name with its last use, and revoked there', async () => {
    await using place = await openPage({ hasMcp: true });
    const browser = await place.browserOf(alice);
    await browser.give('remember I keep bees');
    const answer = await browser.post('/do', {
      _csrf: await browser.csrf(),
      back: '/elsewhere',
      line: 'token make',
      text: 'Claude Code',
    });
    const shown = answer.headers.get('location') ?? '';
    const [, token = ''] = /<code>(\d+\.[\w-]{43})<\/code>/u.exec(await browser.text(shown)) ?? [];
    expect(token.startsWith(`${alice.id}.`)).toBe(true);
    for (const path of [shown, '/elsewhere', '/']) expect(await browser.text(path)).not.toContain(token);
    expect(JSON.stringify(await place.signIn.tokensOf(alice.id))).not.toContain(token.slice(20));
    expect(await browser.text('/elsewhere')).toMatch(/Claude Code[\s\S]*never used/u);
    const client = await clientOf(place, token);
    expect(await client.call('list_items')).toContain('I keep bees');
    expect(await browser.text('/elsewhere')).toMatch(/Claude Code[\s\S]*last used <time/u);
    expect(await deed(browser, { line: 'token revoke Claude Code' })).toContain('reads nothing any more');
    expect((await postMcp(place.url, bearer(token))).status).toBe(401);
    await expect(client.call('list_items')).rejects.toThrow('Unauthorized');
  });

  it('has a name of its own; there are five at most; a double click makes one', async () => {
    await using place = await openPage({ hasMcp: true });
    const browser = await place.browserOf(alice);
    for (const name of ['', ' ', 'x'.repeat(41)]) expect(await make(browser, name)).toContain('no new token');
    const double = { _csrf: await browser.csrf(), line: 'token make', text: 'one', back: '/elsewhere' };
    await Promise.all([browser.post('/do', double), browser.post('/do', double)]);
    expect((await place.signIn.tokensOf(alice.id)).tokens.map(({ name }) => name)).toEqual(['one']);
    const other = await place.browserOf(alice);
    expect(await make(other, 'one')).toContain('no new token');
    for (const name of ['two', 'three', 'four', 'five']) await tokenOf(browser, name);
    expect(await make(browser, 'six')).toContain('you can have 5');
    expect((await place.signIn.tokensOf(alice.id)).tokens).toHaveLength(5);
  });

  it('outlives links and sessions, and goes with everything else that is erased; the export names it', async () => {
    await using place = await openPage({ hasMcp: true });
    const browser = await place.browserOf(alice);
    const token = await tokenOf(browser, 'Cursor');
    place.pass(13 * 60 * 60_000);
    await (await place.browserOf(alice)).post('/sign-out');
    expect((await postMcp(place.url, bearer(token))).status).toBe(200);
    const files: unknown[] = [];
    for await (const file of place.signIn.layer.export(alice.id)) files.push(file);
    expect(files).toMatchObject([{ path: 'elsewhere.json', text: expect.stringContaining('Cursor') }]);
    await place.signIn.layer.delete({ kind: 'person', userId: alice.id });
    expect((await postMcp(place.url, bearer(token))).status).toBe(401);
    expect((await place.browserOf(alice)).cookie()).not.toBe('');
    expect((await postMcp(place.url, bearer(token))).status).toBe(401);
  });

  it('learns nothing where it is wrong: every refusal is the same', async () => {
    let hasAccess = true;
    await using place = await openPage({ hasMcp: true, hasAccess: () => Promise.resolve(hasAccess) });
    const browser = await place.browserOf(alice);
    const token = await tokenOf(browser, 'Cursor');
    const [id = '', secret = ''] = token.split('.');
    const wrong: readonly Readonly<Record<string, string>>[] = [
      {},
      bearer(''),
      bearer(`${id}.${'A'.repeat(43)}`),
      bearer(`${bob.id}.${secret}`),
      bearer(`../../${id}.${secret}`),
      bearer(`${token}x`),
      { authorization: token },
      { authorization: `Basic ${token}` },
      { cookie: browser.cookie() },
    ];
    const refusals = await Promise.all([
      ...wrong.map((headers) => postMcp(place.url, headers)),
      // Never from the address, where logs of servers in front would keep it.
      postMcp(`${place.url}/mcp?token=${token}&access_token=${token}`, {}),
    ]);
    hasAccess = false;
    refusals.push(await postMcp(place.url, bearer(token)));
    hasAccess = true;
    const told = await Promise.all(
      refusals.map(async (refusal) => [
        refusal.status,
        refusal.headers.get('www-authenticate'),
        await refusal.text(),
      ]),
    );
    expect(new Set(told.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify([401, 'Bearer', '{"error":"Unauthorized"}'])]),
    );
    expect((await postMcp(place.url, bearer(token))).status).toBe(200);
    expect((await postMcp(place.url, { ...bearer(token), origin: 'https://evil.example' })).status).toBe(403);
  });

  it('is guessed by nobody: of 1,000 tries in a minute all but the first are not even looked at', async () => {
    await using place = await openPage({ hasMcp: true });
    const statuses = new Map<number, number>();
    for (let tries = 0; tries < 1000; tries += 1) {
      const { status } = await postMcp(place.url, bearer(`${alice.id}.${tries}`));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([
      [401, 120],
      [429, 880],
    ]);
  });
});

describe('the memory that another assistant reads [EW3]', () => {
  it.each(['legacy', 'auto'] as const)('is searched, listed and proposed to (%s)', async (mode) => {
    await using place = await openPage({ hasMcp: true });
    const browser = await place.browserOf(alice);
    await browser.give('remember I keep bees');
    const client = await clientOf(place, await tokenOf(browser, 'Claude Code'), mode);
    expect(await client.tools()).toEqual(['search_memory', 'list_items', 'propose_item']);
    expect(await client.call('search_memory', { query: 'bees' })).toContain('I keep bees');
    expect(await client.call('search_memory', { query: 'zeppelins' })).toBe('[]');
    expect(JSON.parse(await client.call('list_items'))).toMatchObject([{ text: 'I keep bees' }]);
    expect(await client.call('propose_item', { text: 'Grows apples' })).toBe(
      'Proposed: it waits for their yes.',
    );
    expect(await browser.text('/review')).toMatch(
      /May I remember this\? · proposed by &quot;Claude Code&quot;[\s\S]*Grows apples/u,
    );
    expect(await client.call('search_memory', { query: 'apples' })).toBe('[]');
    expect(await client.call('list_items')).not.toContain('apples');
    const calls = (await place.signIn.tokensOf(alice.id)).calls.map(({ name, tool, hits }) => [
      name,
      tool,
      hits,
    ]);
    expect(calls).toEqual([
      ['Claude Code', 'search_memory', 1],
      ['Claude Code', 'search_memory', 0],
      ['Claude Code', 'list_items', 1],
      ['Claude Code', 'propose_item', 0],
      ['Claude Code', 'search_memory', 0],
      ['Claude Code', 'list_items', 1],
    ]);
    const page = await browser.text('/elsewhere');
    expect(page).toContain('<code>search_memory</code>');
    expect(page).not.toContain('zeppelins');
  });

  it('keeps the last fifty calls', async () => {
    await using place = await openPage({ hasMcp: true });
    const client = await clientOf(place, await tokenOf(await place.browserOf(alice), 'Cursor'));
    for (let call = 0; call < 51; call += 1)
      await client.call(call === 0 ? 'list_items' : 'search_memory', { query: 'bees' });
    const { calls } = await place.signIn.tokensOf(alice.id);
    expect(calls.map(({ tool }) => tool)).toEqual(Array.from({ length: 50 }, () => 'search_memory'));
  });

  it('is one’s own, also where two ask at once', async () => {
    await using place = await openPage({ hasMcp: true });
    const clients = await Promise.all(
      [alice, bob].map(async (person) => {
        const browser = await place.browserOf(person);
        await browser.give(`remember the canary of ${person.name}`);
        return clientOf(place, await tokenOf(browser, 'Cursor'));
      }),
    );
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        clients.map((client) => [
          client.call('search_memory', { query: 'canary' }),
          client.call('list_items'),
        ]),
      )
        .flat()
        .map((calls) => Promise.all(calls)),
    );
    for (const [index, told] of answers.entries()) {
      const [own, other] = index % 2 === 0 ? [alice, bob] : [bob, alice];
      for (const text of told) {
        expect(text).toContain(`the canary of ${own.name}`);
        expect(text).not.toContain(other.name);
      }
    }
  });

  it('is told to nobody where it cannot be kept that somebody looked', async () => {
    await using place = await openPage({ hasMcp: true });
    const browser = await place.browserOf(alice);
    await browser.give('remember I keep bees');
    const client = await clientOf(place, await tokenOf(browser, 'Cursor'));
    place.fillDisk();
    expect(await client.call('list_items')).toBe('error: Nothing can be told now: try again later.');
  });

  it('is not told by a call whose token is revoked while it is answered', async () => {
    let revoke: (() => Promise<void>) | undefined;
    await using place = await openPage({ hasMcp: true, beforeAnswer: async () => revoke?.() });
    const browser = await place.browserOf(alice);
    await browser.give('remember I keep bees');
    const client = await clientOf(place, await tokenOf(browser, 'Cursor'));
    revoke = () => place.signIn.revokeToken(alice.id, 'Cursor');
    expect(await client.call('list_items')).not.toContain('bees');
    expect((await place.signIn.tokensOf(alice.id)).calls).toEqual([]);
  });
});

describe('a request that is none [EW3]', () => {
  it('is refused by its size before it is read, with a token and without one', async () => {
    await using place = await openPage({ hasMcp: true });
    const token = await tokenOf(await place.browserOf(alice), 'Cursor');
    const body = JSON.stringify({ text: 'x'.repeat(10 * 1024 * 1024) });
    const refused = async (headers: Readonly<Record<string, string>>) =>
      postMcp(place.url, headers, body).then(
        ({ status }) => status,
        // Closed while it was still being sent.
        () => 'closed',
      );
    expect([413, 'closed']).toContain(await refused(bearer(token)));
    expect([401, 'closed']).toContain(await refused({}));
    expect((await postMcp(place.url, bearer(token))).status).toBe(200);
  });

  it('or is slow holds nobody else up', async () => {
    await using place = await openPage({ hasMcp: true });
    const browser = await place.browserOf(alice);
    const token = await tokenOf(browser, 'Cursor');
    const slow = request(`${place.url}/mcp`, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json', 'content-length': '1000' },
    });
    slow.on('error', () => undefined);
    slow.write('{"jsonrpc":');
    await once(slow, 'socket');
    const client = await clientOf(place, token);
    expect(await client.call('list_items')).toBe('[]');
    expect(await browser.text('/elsewhere')).toContain('list_items');
    slow.destroy();
  });

  it.each([
    ['no JSON', '{"jsonrpc":', 400],
    ['no call', '[]', 400],
    ['another type', 'x', 415],
  ])('or says nothing is refused: %s', async (what, body, status) => {
    await using place = await openPage({ hasMcp: true });
    const token = await tokenOf(await place.browserOf(alice), 'Cursor');
    const type = what === 'another type' ? 'text/csv' : 'application/json';
    const refusal = await postMcp(place.url, { ...bearer(token), 'content-type': type }, body);
    expect(refusal.status).toBe(status);
    // No page: a program shows its person what it is told.
    expect(refusal.headers.get('content-type')).toContain('application/json');
    for (const method of ['GET', 'DELETE']) {
      const asked = (headers: Record<string, string>) => fetch(`${place.url}/mcp`, { method, headers });
      expect((await asked(bearer(token))).status).toBe(405);
      expect((await asked({})).status).toBe(401);
    }
  });
});

describe('where MCP is off [EW3]', () => {
  it('there is no address, no part of the page and no line of it', async () => {
    await using place = await openPage();
    const browser = await place.browserOf(alice);
    expect((await postMcp(place.url, bearer('x'))).status).toBe(403);
    expect((await browser.ask('/elsewhere')).status).toBe(404);
    expect(await browser.text('/')).not.toContain('elsewhere');
    const asked = { _csrf: await browser.csrf(), line: 'token make', text: 'Cursor' };
    const answer = await browser.post('/do', asked);
    expect(await browser.text(answer.headers.get('location') ?? '')).toContain('There is no such command.');
    expect((await place.signIn.tokensOf(alice.id)).tokens).toEqual([]);
  });
});
