import { describe, expect, it } from 'vitest';

import type { ShownItem } from '../../src/core/commands.ts';
import { noUsage, type PeriodUsage } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { unconditional } from '../../src/core/writes.ts';
import { narrowed } from '../../src/page/items.ts';
import { statusPage } from '../../src/page/status.ts';
import { dmPlace } from '../commands/harness.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { messageId } from '../support/sessions.ts';
import { usage } from '../support/status-facts.ts';
import { alice, openPage, bob } from './page-harness.ts';

function item(id: string, changes: Partial<ShownItem> = {}): ShownItem {
  return {
    id,
    kind: 'fact',
    text: `Thing ${id}`,
    visibility: 'dm',
    source: 'manual',
    isOver: false,
    isPinned: false,
    ...changes,
  };
}

const items = [
  item('a', { isPinned: true, updatedAt: '2026-01-01T00:00:00Z', text: 'Likes Crème brûlée' }),
  item('b', { kind: 'preference', updatedAt: '2026-01-03T00:00:00Z', visibility: 'everywhere' }),
  item('c', { source: 'summary', updatedAt: '2026-01-02T00:00:00Z', isOver: true }),
  item('d', { text: 'Porto', question: 'Where do you live?' }),
];
const idsBy = (query: string) => narrowed(items, new URLSearchParams(query)).map(({ id }) => id);

describe('the list of items [Y2]', () => {
  it.each([
    ['q=creme', 'a'],
    ['q=LIVE porto', 'd'],
    ['q=creme porto', ''],
    ['kind=preference', 'b'],
    ['where=everywhere', 'b'],
    ['source=summary', 'c'],
    ['day=over', 'c'],
    ['pinned=yes', 'a'],
    ['pinned=no&kind=fact', 'cd'],
  ])('is narrowed by %s', (query, ids) => {
    expect(idsBy(query).join('')).toBe(ids);
  });
});

const toReview = { back: '/review' };

async function openReview() {
  const place = await openPage();
  const browser = await place.browserOf(alice);
  const { harness } = place;
  return {
    browser,
    harness,
    list: async () => (await harness.durable.list(aliceId)).map(({ text }) => text),
    /** Something that waits for a yes; resolves with its id. */
    notice: async (text: string): Promise<string> => {
      await harness.people.set(unconditional(aliceId), { mode: 'ask' });
      const found = { text, place: publicPlace, messageId: '400000000000000000', type: 'summary' } as const;
      const outcome = await harness.proposals.remember(unconditional(aliceId), found);
      if (outcome.outcome !== 'proposed') throw new Error(`Not proposed: ${outcome.outcome}`);
      return outcome.proposed.id;
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

describe('the page of what waits [Y2]', () => {
  it('shows all cards of the review at once, and an answer leaves the others [K16]', async () => {
    await using opened = await openReview();
    const { browser, harness, list } = opened;
    for (const text of ['I live in Porto', 'I live in Lisbon', 'My exam is on 2025-12-01'])
      await harness.say(`remember ${text}`, dmPlace);
    const first = await browser.text('/review');
    expect(first.match(/<article/gu)).toHaveLength(2);
    const lines = [...first.matchAll(/name="line"\s+value="([^"]+)"/gu)].map(([, line = '']) => line);
    const answerTo = (answer: string) =>
      lines.find((line) => line.startsWith(`memory review ${answer}`))?.slice('memory '.length) ?? '';
    const asking = await browser.give(answerTo('changed'), toReview);
    expect(asking).toContain('My exam is on 2025-12-01</textarea>');
    const changed = await browser.give(answerTo('changed'), { text: 'I passed my exam', ...toReview });
    expect(changed).toContain('I passed my exam');
    expect(changed).toContain('>Undo</button>');
    expect(changed.match(/<article/gu)).toHaveLength(1);
    await browser.give(answerTo('keep'), toReview);
    expect(await list()).toEqual(expect.arrayContaining(['I live in Lisbon', 'I passed my exam']));
    expect(await list()).toHaveLength(2);
    expect(await browser.text('/review')).toContain('>Nothing to review.</p>');
  });

  it('shows proposals, which are accepted, put into other words or declined; nothing is stored before [K9]', async () => {
    await using opened = await openReview();
    const { browser, list, notice } = opened;
    const [bees, tea, hens] = [
      await notice('Keeps bees'),
      await notice('Likes green tea'),
      await notice('Has three hens'),
    ];
    const page = await browser.text('/review');
    expect(page.match(/May I remember this\?/gu)).toHaveLength(3);
    expect(await list()).toEqual([]);
    expect(await browser.give(`accept ${bees}`, toReview)).toContain('Keeps bees');
    await browser.give(`accept ${tea}`, { text: 'Likes white tea', ...toReview });
    const last = await browser.give(`decline ${hens}`, toReview);
    expect(last).toContain('Not remembered.');
    expect(last).toContain('>Nothing to review.</p>');
    expect((await list()).toSorted()).toEqual(['Keeps bees', 'Likes white tea']);
    expect(await browser.give(`accept ${hens}`, toReview)).toContain('There is no proposal');
  });
});

it('every conversation is listed, shown with its notes, and its summary cleared [Y2]', async () => {
  await using place = await openPage();
  const { states, rolling, store } = place.harness;
  const session = { channelId: publicPlace.channelId, userId: aliceId };
  const path = `/conversations/${session.channelId}`;
  await states.update({ ...session, ...unconditional(aliceId) }, (state) => ({
    ...state,
    place: publicPlace,
  }));
  rolling.put(session, { text: 'They planned\na trip.', visibility: 'server', homeId: publicPlace.homeId });
  await store.writeText(`sessions/${session.channelId}/${aliceId}/overview.md`, 'Tents to buy\n');
  const browser = await place.browserOf(alice);
  const list = await browser.text('/conversations');
  expect(list).toContain(
    `<a href="${path}" data-key="open ${session.channelId}">#${publicPlace.channelName}`,
  );
  expect(list).toContain('They planned a trip.');
  const shown = await browser.text(path);
  expect(shown).toContain('They planned\na trip.');
  expect(shown).toContain('Tents to buy');
  expect(shown).toContain(`https://discord.com/channels/${publicPlace.guildId}/${session.channelId}`);
  const cleared = await browser.give(`reset rolling ${session.channelId}`, { back: path });
  expect(cleared).toContain('Rolling summary of that conversation cleared.');
  expect(cleared).not.toContain('They planned');
  const other = await place.browserOf(bob);
  expect((await other.ask(path)).status).toBe(404);
  expect(await other.text('/conversations')).toContain('We have had no conversation yet.');
});

const key = `users/${aliceId}/notebook/USER.md`;
const back = '/notebook?file=USER.md';

/** What the form of the page's file gives: its command, and what stands in its field. */
function formIn(page: string) {
  const { line = '', value = '' } =
    /name="line" value="memory (?<line>notebook-write [^"]+)"[\s\S]*?<textarea[^>]*>\n?(?<value>[^<]*)<\/textarea>/u.exec(
      page,
    )?.groups ?? {};
  return { line, value };
}

it('the notebook is listed, edited by hand and brought back; a text that comes too late is shown again [Y2] [N9]', async () => {
  await using place = await openPage();
  const { store } = place.harness;
  await store.writeText(key, '- likes <tea>\n');
  const browser = await place.browserOf(alice);
  expect(await browser.text('/notebook')).toContain('href="/notebook?file=USER.md"');
  const first = formIn(await browser.text(back));
  expect(first.value).toBe('- likes &lt;tea&gt;\n');
  const saved = await browser.give(first.line, { text: '- likes\r\n- bees', back });
  expect(saved).toContain('Saved <code>USER.md</code>: 15 bytes.');
  expect(await store.readText(key)).toBe('- likes\n- bees\n');
  expect(formIn(saved).value).toBe('- likes\n- bees\n');

  const late = await browser.give(first.line, { text: 'my own words', back });
  expect(late).toContain('USER.md was changed since you opened it, so nothing was written.');
  expect(formIn(late).value).toBe('my own words');
  // What the file says now stands below it.
  expect(late).toContain('- likes\n- bees\n</textarea>');
  expect(await store.readText(key)).toBe('- likes\n- bees\n');
  await browser.give(formIn(late).line, { text: 'my own words', back });
  expect(await store.readText(key)).toBe('my own words\n');
  await browser.give('undo', { back });
  expect(await store.readText(key)).toBe('- likes\n- bees\n');

  const other = await place.browserOf(bob);
  expect(formIn(await other.text(back)).value).toBe('');
});

it('a path that names no file of the notebook is refused with the reason', async () => {
  await using place = await openPage();
  const browser = await place.browserOf(alice);
  for (const path of ['../durable.json', 'SOUL.md', 'overview.md', 'two words'])
    expect(await browser.text(`/notebook?file=${encodeURIComponent(path)}`)).not.toContain('<textarea');
});

async function openAnswers() {
  const opened = await openPage();
  const { sessionLog, provenance } = opened.harness;
  return { ...opened, answered, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };

  /** An answer to Alice; resolves with the id of what she said. */
  async function answered(number: number, place: Place, text: string): Promise<string> {
    const at = new Date(Date.parse('2026-01-15T10:00:00Z') + number * 1000);
    const turn = {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: [{ id: messageId(number), text, at: at.toISOString(), attachments: [] }],
      now: at,
      hasThirdPartyText: false,
      work: { userId: aliceId },
    };
    await sessionLog.recordUser(turn);
    await provenance.record(turn, { prompt: [], tools: [] }, true, {
      parts: [
        { name: 'rules', characters: 300 },
        { name: 'history', characters: 100, budget: 400 },
        { name: 'message', characters: number },
      ],
      maxChars: 40_000,
      usage: { ...noUsage, inputTokens: 100 },
      cost: 0.01,
    });
    return messageId(number);
  }
}

it('shows each answer as a bar with its parts in words, the longest prompt at full width [Y2a]', async () => {
  await using opened = await openAnswers();
  const browser = await opened.browserOf(alice);
  expect(await browser.text('/answers')).toContain('I have not answered you');
  await opened.answered(600, dmPlace, 'Hello');
  await opened.answered(100, publicPlace, 'Hi');
  const page = await browser.text('/answers');
  const bars = [...page.matchAll(/aria-label="Characters: ([^"]+)"/gu)].map(([, text]) => text);
  expect(bars).toEqual([
    'Rules 300, History 100, Your message 100',
    'Rules 300, History 100, Your message 600',
  ]);
  const widths = [...page.matchAll(/<rect\s+x="[\d.]+%"\s+width="([\d.]+)%"/gu)].map(([, width]) =>
    Number(width),
  );
  expect(widths).toEqual([30, 10, 10, 30, 10, 60]);
  expect(page).toContain(
    '1,000 of 40,000 characters beside tools · 100 input tokens, 0% from the cache · 0 output tokens · $0.0100',
  );
  expect(page).not.toContain('style=');
});

it('shows of one answer each part against its budget and the own words, until they are gone [Y2a]', async () => {
  await using opened = await openAnswers();
  const browser = await opened.browserOf(alice);
  const id = await opened.answered(1, publicPlace, 'What do <b>I</b> grow?');
  const page = await browser.text(`/answers/${id}`);
  expect(page).toMatch(/<summary[^>]*>Your message<\/summary>[^]*What do &lt;b&gt;I&lt;\/b&gt; grow\?/u);
  expect(page).toMatch(/History[^]*25\.00%[^]*<td>100<\/td>\s*<td>400<\/td>/u);
  expect((await (await opened.browserOf(bob)).ask(`/answers/${id}`)).status).toBe(404);
  await opened.harness.provenance.delete({ kind: 'person', userId: aliceId, sessions: [] });
  expect((await browser.ask(`/answers/${id}`)).status).toBe(404);
});

describe("the owner's page [Y4]", () => {
  it('is opened by its link, and stands in the navigation', async () => {
    await using place = await openPage();
    const browser = place.openBrowser();
    const link = await place.linkPath(bob, '/status');
    const opened = await browser.post(link);
    expect(opened.headers.get('location')).toBe('/status');
    const page = await browser.text('/status');
    expect(page).toContain('<a href="/status" aria-current=page>Status</a>');
    expect(page).toContain('All is well.');
    expect(page).toContain('2 running, 3 waiting');
    expect(await browser.text('/')).toContain('<a href="/status" >Status</a>');
  });

  it('is not there for anybody else, whatever link they come by', async () => {
    await using place = await openPage();
    const browser = place.openBrowser();
    await browser.post(await place.linkPath(alice, '/status'));
    for (const address of ['/status', '/status?over=day']) {
      const answer = await browser.ask(address);
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toMatch(/gateway|sonnet/iu);
    }
    expect(await browser.text('/')).not.toContain('/status');
    expect((await place.openBrowser().ask('/status')).status).toBe(401);
  });
});

/** The page over these days and hours. */
async function pageOver(days: readonly PeriodUsage[], query = '') {
  const page = await statusPage({
    query: new URLSearchParams(query),
    context: { csrf: '', back: '' },
    userId: '1',
    isAlone: true,
    give: async () => ({
      text: 'x',
      data: {
        kind: 'status',
        facts: [{ title: 'Store', text: 'the last write failed', isBad: true }],
        usage: { ...usage, days, hours: days.slice(-1) },
      },
    }),
  });
  return String(page);
}

const day = (period: string, changes: Partial<PeriodUsage> = {}): PeriodUsage => ({
  ...usage.today,
  period,
  ...changes,
});

describe('its charts [Y4]', () => {
  const days = [
    day('2026-01-14', { waited: { turns: 3 } }),
    day('2026-01-15', { turns: { answered: 4 }, errors: {} }),
  ];

  it('show cost, tokens, the share of the cache, turns and errors, with the same as tables', async () => {
    const page = await pageOver(days);
    for (const title of [
      'Cost by model: $2.47',
      'Cost by purpose: $2.47',
      'Tokens by model: 21,000',
      'Tokens by purpose: 21,000',
      'Input from the cache: 80%',
      'Turns: 14',
      'Waited in a queue: 3',
      'Errors: 2',
    ])
      expect(page).toContain(`<h2>${title}</h2>`);
    expect(page).toContain('Worth a look: Store.');
    expect(page).toMatch(/<th scope="row">2026-01-14<\/th>\s*<td>\$0\.0340<\/td><td>\$1\.20<\/td>/u);
    expect(page.match(/<table>/gu)).toHaveLength(8);
  });
});
