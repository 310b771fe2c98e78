import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createLivePages } from '../../src/page/own-routes.ts';
import { dmPlace } from '../commands/harness.ts';
import { alice, bob, openPage } from './page-harness.ts';

const minuteMs = 60_000;

describe('signing in [Y1]', () => {
  it('takes the button of the link; looking at it changes nothing, however often', async () => {
    await using place = await openPage();
    const path = await place.linkPath(alice);
    const browser = place.openBrowser();
    for (const method of ['GET', 'HEAD', 'GET']) {
      const looked = await browser.ask(path, { method });
      expect(looked.status).toBe(200);
      expect(looked.headers.get('set-cookie')).toBeNull();
    }
    expect((await browser.text(path)).match(/<button/gu)).toHaveLength(1);
    const opened = await browser.post(path);
    expect(opened.status).toBe(303);
    expect(opened.headers.get('location')).toBe('/');
    const cookie = opened.headers.get('set-cookie') ?? '';
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=43200'])
      expect(cookie).toContain(part);
    expect(cookie).not.toContain('Secure');
    expect(await browser.text('/')).toContain('Your memory');
  });

  it.each(['used', 'expired', 'guessed'])(
    'by a link that was %s is refused with what to do, and ends no session',
    async (how) => {
      await using place = await openPage();
      const browser = await place.browserOf(alice);
      const path = how === 'guessed' ? '/sign-in/guessed' : await place.linkPath(alice);
      if (how === 'used') await place.openBrowser().post(path);
      if (how === 'expired') place.pass(10 * minuteMs);
      const stranger = place.openBrowser();
      for (const each of [stranger, browser]) {
        for (const answer of [await each.ask(path), await each.post(path)]) {
          expect(answer.status).toBe(403);
          expect(answer.headers.get('set-cookie')).toBeNull();
          expect(await answer.text()).toContain('Write <code>/memory page</code> to me on Discord');
        }
      }
      expect((await stranger.ask('/')).status).toBe(401);
      expect((await browser.ask('/')).status).toBe(200);
    },
  );

  it('gives a fresh id whatever cookie the browser had, and ends what was open there', async () => {
    await using place = await openPage();
    const browser = place.openBrowser();
    // Not the name that other programs of this machine give theirs.
    const cookieName = `discoclaw-${new URL(place.url).port}`;
    browser.takeCookie(`${cookieName}=chosen-by-somebody`);
    await browser.signIn(alice);
    expect(browser.cookie()).not.toContain('chosen-by-somebody');
    expect(browser.cookie()).toMatch(new RegExp(`^${cookieName}=`, 'u'));
    const first = browser.cookie();
    await browser.signIn(bob);
    const old = place.openBrowser();
    old.takeCookie(first);
    expect((await old.ask('/')).status).toBe(401);
  });

  it('holds until an hour after its last page or deed, and says until when, twelve hours at most', async () => {
    await using place = await openPage();
    const browser = await place.browserOf(alice);
    const csrf = await browser.csrf();
    for (let times = 0; times < 6; times += 1) {
      place.pass(59 * minuteMs);
      expect((await browser.ask('/')).status).toBe(200);
      place.pass(59 * minuteMs);
      expect((await browser.post('/do', { _csrf: csrf, line: 'memory resume' })).status).toBe(303);
    }
    expect(await browser.text('/')).toMatch(/Signed in until <time[^>]*>2026-01-15 22:00 UTC<\/time>\s*</u);
    place.pass(12 * minuteMs);
    expect((await browser.ask('/')).status).toBe(401);
    const other = await place.browserOf(alice);
    expect(await other.text('/')).toMatch(/Signed in until .*2026-01-15 23:00 UTC.*, longer with each use/u);
    place.pass(61 * minuteMs);
    expect((await other.ask('/')).status).toBe(401);
  });

  it('is not made longer by a page that looks again by itself, nor by what cannot be written down', async () => {
    await using place = await openPage();
    const browser = await place.browserOf(alice);
    place.pass(30 * minuteMs);
    expect((await browser.ask('/', { headers: { 'x-live': '1' } })).status).toBe(200);
    const events = await browser.ask('/events', { headers: { accept: 'text/event-stream' } });
    await events.body?.cancel();
    place.fillDisk();
    expect((await browser.ask('/')).status).toBe(200);
    place.pass(30 * minuteMs);
    expect((await browser.ask('/')).status).toBe(401);
  });

  it('holds for an hour from the button on, until one signs out, is erased or loses access', async () => {
    let hasAccess = true;
    await using place = await openPage({ hasAccess: () => Promise.resolve(hasAccess) });
    const browser = await place.browserOf(alice);
    const other = await place.browserOf(alice);
    hasAccess = false;
    expect((await browser.ask('/')).status).toBe(403);
    hasAccess = true;
    await other.post('/sign-out');
    expect((await other.ask('/')).status).toBe(401);
    expect((await browser.ask('/')).status).toBe(200);
    place.pass(60 * minuteMs);
    expect((await browser.ask('/')).status).toBe(401);
    const last = await place.browserOf(alice);
    await place.signIn.endAllOf(alice.id);
    expect((await last.ask('/')).status).toBe(401);
  });

  it('marks its cookie for https alone where people reach it by https', async () => {
    await using place = await openPage({ url: 'https://memory.example.org' });
    const origin = 'https://memory.example.org';
    const { headers } = await place.openBrowser().post(await place.linkPath(alice), {}, { origin });
    expect(headers.get('set-cookie')).toMatch(/^__Host-session=[^;]+;.*; Secure/u);
  });

  it('is limited in tries', async () => {
    await using place = await openPage();
    const browser = place.openBrowser();
    const statuses = [];
    for (let tries = 0; tries < 31; tries += 1) statuses.push((await browser.ask('/sign-in/guessed')).status);
    expect(statuses.filter((status) => status === 403)).toHaveLength(30);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('a text that came with a request stands in the answer [Y1]', () => {
  const text = '- likes <tea>\n\n- keeps bees';
  const shown = '\n- likes &lt;tea&gt;\n\n- keeps bees</textarea>';
  const line = 'memory remember';

  it.each([
    ['an hour later', 401],
    ['without access', 403],
    ['after signing in again', 403],
    ['where I fail', 500],
  ])('where it comes %s', async (how, status) => {
    let hasAccess = true;
    let fails = false;
    await using place = await openPage({
      hasAccess: () => (fails ? Promise.reject(new Error('for once')) : Promise.resolve(hasAccess)),
    });
    const browser = await place.browserOf(alice);
    const form = { _csrf: await browser.csrf(), line, text: text.replaceAll('\n', '\r\n') };
    if (how === 'an hour later') place.pass(60 * minuteMs);
    if (how === 'without access') hasAccess = false;
    if (how === 'after signing in again') await browser.signIn(alice);
    if (how === 'where I fail') fails = true;
    const answer = await browser.post('/do', form);
    expect(answer.status).toBe(status);
    const page = await answer.text();
    expect(page).toContain(shown);
    expect(await place.harness.say('show', dmPlace)).toContain('(0 items)');
    [hasAccess, fails] = [true, false];
    // By who is signed in again, it is sent again.
    if (status === 401) await browser.signIn(alice);
    const again = await (await browser.post('/do', form)).text();
    const csrf = /name="_csrf" value="([^"]+)"/u.exec(status === 401 ? again : page)?.[1] ?? '';
    await browser.post('/do', { ...form, _csrf: csrf });
    expect(await place.harness.say('show', dmPlace)).toContain('keeps bees');
  });

  it('where it was refused, and in no answer that took it', async () => {
    await using place = await openPage();
    const browser = await place.browserOf(alice);
    const long = `${text}\n${'x'.repeat(500)}`;
    expect(await browser.give('remember', { text: long })).toMatch(
      /That is too long: 528 characters, 500 at most[\s\S]*What you wrote<[\s\S]*<textarea[^>]*>\n- likes &lt;tea&gt;\n\n- keeps bees\nx{500}<\/textarea>/u,
    );
    expect(await browser.give('remember', { text })).not.toContain('What you wrote');
    const id = await place.harness.idOf(text);
    for (const given of [`edit ${id}`, 'edit gone', 'purge', 'remember'])
      expect({ given, page: await browser.give(given, { text: long.slice(0, 501) }) }).toEqual({
        given,
        page: expect.stringContaining('What you wrote') as unknown,
      });
    expect(await browser.give('mode', { choice: 'ask' })).not.toContain('What you wrote');
  });
});

describe('somebody else’s page', () => {
  let place: Awaited<ReturnType<typeof openPage>>;
  let id = '';

  beforeAll(async () => {
    place = await openPage();
    await place.harness.give('remember I like xylophones', dmPlace);
    id = await place.harness.idOf('I like xylophones');
  });

  afterAll(() => place[Symbol.asyncDispose]());

  it.each([
    ['a guessed one', () => 'guessed'],
    ['somebody else’s', async () => (await place.browserOf(bob)).csrf()],
    ['one of an earlier session', async () => (await place.browserOf(alice)).csrf()],
  ])('a form with %s does nothing [Y5]', async (_, token) => {
    const browser = await place.browserOf(alice);
    const before = await place.harness.say('show', dmPlace);
    const answer = await browser.post('/do', { line: `memory forget ${id}`, _csrf: await token() });
    expect(answer.status).toBe(403);
    expect(await place.harness.say('show', dmPlace)).toBe(before);
  });

  it.each<Readonly<Record<string, string>>>([
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
  ])('a form from elsewhere does nothing: %j [Y5]', async (headers) => {
    const browser = await place.browserOf(alice);
    const before = await place.harness.say('show', dmPlace);
    const fields = { line: `memory forget ${id}`, _csrf: await browser.csrf() };
    expect((await browser.post('/do', fields, headers)).status).toBe(403);
    expect((await browser.post('/sign-out', fields, headers)).status).toBe(403);
    expect((await browser.post(await place.linkPath(bob), fields, headers)).status).toBe(403);
    expect((await browser.ask('/')).status).toBe(200);
    expect(await place.harness.say('show', dmPlace)).toBe(before);
  });

  it('does nothing by looking at it, and nothing for words that give no command [Y3]', async () => {
    const browser = await place.browserOf(alice);
    const csrf = await browser.csrf();
    for (const path of [`/do?line=memory%20forget%20${id}`, '/sign-out'])
      expect((await browser.ask(path)).status).toBe(404);
    for (const line of ['', 'forget', `memroy forget ${id}`, '__proto__', `memory constructor ${id}`])
      expect((await browser.post('/do', { _csrf: csrf, line })).status).toBe(303);
    expect(await place.harness.say('show', dmPlace)).toContain('xylophones');
  });

  it('is left out of the addresses to which a form leads back', async () => {
    const browser = await place.browserOf(alice);
    for (const back of [
      'https://evil.example/',
      '//evil.example/x',
      '/.//evil.example/x',
      'javascript:alert(1)',
    ]) {
      const { headers } = await browser.post('/do', {
        line: 'memory resume',
        _csrf: await browser.csrf(),
        back,
      });
      expect(new URL(headers.get('location') ?? '', place.url).origin).toBe(place.url);
      expect(headers.get('location')).not.toMatch(/^\/[/\\]/u);
    }
  });

  it('is told apart by strict headers on every page [Y5]', async () => {
    const browser = await place.browserOf(alice);
    for (const path of ['/', '/sign-in/x', '/nothing', `/items/${id}`, '/page.js']) {
      const { headers } = await browser.ask(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none';style-src 'self';script-src 'self';img-src 'self';connect-src 'self';form-action 'self';base-uri 'none';frame-ancestors 'none'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});

describe('the items [Y2]', () => {
  it('are remembered, edited, pinned, shared, hidden, forgotten and brought back by forms [Y3]', async () => {
    await using place = await openPage();
    const browser = await place.browserOf(alice);
    expect(await browser.text('/')).toContain('Nothing yet.');
    expect(await browser.give('remember', { text: 'I like tea' })).toContain(
      'Remembered: &quot;I like tea&quot;',
    );
    const item = await place.harness.idOf('I like tea');
    expect(await browser.give(`pin ${item}`, { item })).toMatch(/Pinned: [\s\S]*<strong>pinned<\/strong>/u);
    expect(await browser.give(`unpin ${item}`, { item })).not.toContain('<strong>pinned</strong>');
    expect(await browser.give(`share ${item}`, { item })).toContain('used everywhere');
    expect(await browser.give(`hide ${item}`, { item })).toContain('used in our DM only');
    expect(await browser.give(`edit ${item}`, { item, text: 'I like mate', back: `/items/${item}` })).toMatch(
      /Edited: [\s\S]*I like mate[\s\S]*before [\s\S]*I like tea/u,
    );
    const forgotten = await browser.give(`forget ${item}`, { item });
    expect(forgotten).toContain('Deprecated 1 item');
    const [, undo = ''] = /value="memory (undo [^"]+)"/u.exec(forgotten) ?? [];
    expect(await browser.give(undo)).toMatch(/Undone: [\s\S]*<ul class="items">[\s\S]*I like mate/u);
    expect(await browser.give('mode', { text: 'off' })).toContain('<option value="off" selected>');
    expect(await browser.give('pause')).toContain('Paused: I store nothing that you say.');
    expect(await browser.give('remember', { text: 'I like rain' })).toContain('nothing was saved');
    expect(await browser.give('resume')).toContain('I store what you tell me.');
  });

  it('does once what is clicked twice, and again what is wished again', async () => {
    await using place = await openPage();
    const browser = await place.browserOf(alice);
    await browser.give('remember', { text: 'I like tea' });
    const id = await place.harness.idOf('I like tea');
    const csrf = await browser.csrf();
    const click = (line: string) => browser.post('/do', { _csrf: csrf, line: `memory ${line}` });
    const clicks = [
      ...(await Promise.all([click(`forget ${id}`), click(`forget ${id}`)])),
      await click(`forget ${id}`),
    ];
    const addresses = clicks.map(({ headers }) => headers.get('location') ?? '');
    expect(new Set(addresses).size).toBe(1);
    expect(await browser.text(addresses[0] ?? '')).toContain('Deprecated 1 item');
    for (const line of ['pause', 'resume', 'pause']) await click(line);
    expect(await browser.text('/')).toContain('Paused');
  });

  it('gives commands in the person’s direct messages, for their eyes, each with an id of its own', async () => {
    const requests: unknown[] = [];
    await using place = await openPage({
      command: (request) => {
        requests.push(request);
        return Promise.resolve({ text: '' });
      },
    });
    const browser = await place.browserOf(alice);
    await Promise.all(Array.from({ length: 20 }, () => browser.ask('/')));
    const ids = new Set(requests.map((request) => String(Object(request).id)));
    expect(ids.size).toBe(20);
    expect(requests[0]).toMatchObject({
      command: { name: 'memory', subcommand: 'show' },
      speaker: alice,
      place: dmPlace,
      ephemeral: true,
      at: '2026-01-15T10:00:00.000Z',
    });
  });
});

it('open pages are told when their person’s memory changes, and nobody else’s [Y3]', async () => {
  await using place = await openPage();
  const browser = await place.browserOf(alice);
  const events = await browser.ask('/events');
  expect(events.headers.get('content-type')).toBe('text/event-stream');
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe(': open\n\n');
  place.page.memoryChanged(bob.id);
  place.page.memoryChanged(alice.id);
  expect((await reader?.read())?.value).toBe('data: changed\n\n');
  expect((await place.openBrowser().ask('/events')).status).toBe(401);
  // Signing out tells the other pages of the browser, and ends what they hear.
  await browser.post('/sign-out');
  expect((await reader?.read())?.value).toBe('data: changed\n\n');
  expect((await reader?.read())?.done).toBe(true);
});

it('ten pages of a person are told of changes at most, the newest ones [L3]', () => {
  const live = createLivePages();
  const told: number[] = [];
  const closed: number[] = [];
  const leave = Array.from({ length: 12 }, (_, index) =>
    live.add('alice', { write: () => void told.push(index), close: () => void closed.push(index) }),
  );
  expect(closed).toEqual([0, 1]);
  leave[11]?.();
  live.tell('alice');
  expect(told).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
  live.tell('bob');
  expect(told).toHaveLength(9);
});
