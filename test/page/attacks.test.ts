import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { memoryDefinition } from '../../src/commands/memory-command.ts';
import { dmPlace } from '../commands/harness.ts';
import { aliceId } from '../support/incoming.ts';
import { alice, bob, openPage } from './page-harness.ts';

const secret = 'xylophones';
/** All addresses with something in them that tells what is shown, as the code has them. */
const addresses = [
  ...readFileSync('src/page/own-routes.ts', 'utf8').matchAll(/'(?<address>\/[a-z/]*:[a-z/:]+)'/gu),
].map(({ groups }) => groups?.['address'] ?? '');

it('somebody else’s ids get nothing and change nothing, in any address and any command, whatever one’s rights [Y2]', async () => {
  await using place = await openPage();
  const { harness } = place;
  const alices = await place.browserOf(alice);
  await harness.give(`remember I like ${secret}`, dmPlace);
  const itemId = await harness.idOf(`I like ${secret}`);
  const tokenIn = async (line: string, text?: string): Promise<string> => {
    const page = await alices.give(line, text === undefined ? {} : { text });
    return /value="memory [a-z-]+ (?<token>[0-9a-f]{6,})"/u.exec(page)?.groups?.['token'] ?? '';
  };
  const ids = {
    item: itemId,
    person: aliceId,
    conversation: dmPlace.channelId,
    change: await tokenIn(`pin ${itemId}`),
    erasing: await tokenIn('erase'),
    purging: await tokenIn(`purge ${secret}`),
    import: await tokenIn('import', `I own two ${secret}`),
    words: secret,
    all: `all ${secret}`,
    answer: `https://discord.com/channels/@me/${dmPlace.channelId}/400000000000000001`,
  };
  expect(Object.entries(ids).filter(([, id]) => id === '')).toEqual([]);
  await alices.give('export');
  const before = await harness.say('show', dmPlace, { ephemeral: true });
  /** What is asked for may be said again; nothing else of it. */
  const isTold = (text: string): boolean =>
    text.replaceAll(/["“&]\w*;?(?:all )?xylophones/gu, '').includes(`I like ${secret}`);

  expect(isTold(await alices.text('/'))).toBe(true);
  const bobs = await place.browserOf(bob);
  const csrf = await bobs.csrf();
  let tries = 0;
  for (const address of addresses)
    for (const id of Object.values(ids))
      for (const query of ['', `?said=${id}`, `?file=${encodeURIComponent(id)}`]) {
        const path = address.replaceAll(/:\w+/gu, encodeURIComponent(id));
        expect({ path, is: isTold(await (await bobs.ask(path + query)).text()) }).toEqual({
          path,
          is: false,
        });
        tries += 1;
      }
  for (const subcommand of Object.keys(memoryDefinition.subcommands))
    for (const id of Object.values(ids)) {
      const line = `memory ${subcommand} ${id}`;
      const answer = await bobs.post('/do', { _csrf: csrf, line, text: 'I like nothing' });
      expect({ line, is: answer.status }).toEqual({ line, is: 303 });
      const page = await bobs.text(answer.headers.get('location') ?? '/');
      expect({ line, is: isTold(page) }).toEqual({ line, is: false });
      tries += 1;
    }
  expect(tries).toBeGreaterThanOrEqual(300);
  expect(await harness.say('show', dmPlace, { ephemeral: true })).toBe(before);
  expect(await alices.give(`confirm ${ids.import}`)).toContain('Imported 1 item');
});

describe('files', () => {
  it('that were taken along are saved as they are, by their session alone [K10]', async () => {
    await using place = await openPage();
    await place.harness.give('remember I like xylophones', dmPlace);
    const browser = await place.browserOf(alice);
    const [, address = ''] = /href="(\/files\/[^"]+)"/u.exec(await browser.give('export')) ?? [];
    const saved = await browser.ask(address);
    expect(saved.status).toBe(200);
    expect(saved.headers.get('content-disposition')).toMatch(
      /^attachment; filename="discoclaw-memory-.*\.zip"$/u,
    );
    expect(saved.headers.get('content-type')).toBe('application/zip');
    const size = (await saved.arrayBuffer()).byteLength;
    expect(saved.headers.get('x-content-type-options')).toBe('nosniff');
    for (const person of [alice, bob])
      expect((await (await place.browserOf(person)).ask(address)).status).toBe(404);
    expect((await place.openBrowser().ask(address)).status).toBe(401);
    // Other clicks leave it, as the whole of that moment.
    await place.harness.give('remember I like zithers', dmPlace);
    await browser.give('resume');
    const later = await browser.ask(address);
    expect(later.status).toBe(200);
    expect((await later.arrayBuffer()).byteLength).toBeGreaterThan(size);
    await browser.post('/sign-out');
    expect((await browser.ask(address)).status).toBe(401);
  });

  it.each([
    ['without a token', '', 10, 403],
    ['with a guessed token', 'guessed', 10, 403],
    ['that are too large', undefined, 11 * 1024 * 1024, 413],
  ])('%s are not taken', async (_, token, size, status) => {
    await using place = await openPage();
    const browser = await place.browserOf(alice);
    const form = new FormData();
    form.set('_csrf', token ?? (await browser.csrf()));
    form.set('line', 'memory import');
    form.set('file', new Blob(['x'.repeat(size)]), 'list.txt');
    const init = { method: 'POST', body: form, headers: { origin: place.url } };
    expect((await browser.ask('/do', init)).status).toBe(status);
    expect((await place.openBrowser().ask('/do', init)).status).toBe(401);
  });
});
