import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { freePort } from '../support/free-port.ts';
import { command, idIn } from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
let url: string;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  stage = await openStage({
    environment: { DISCOCLAW_PAGE_PORT: String(port), DISCOCLAW_PAGE_URL: url },
    model: () => ({ text: 'Understood.' }),
  });
});

afterAll(() => stage[Symbol.asyncDispose]());

/** Presses the button of a link that the bot gave, and resolves with what asks as that browser does. */
async function signIn(link: string) {
  const opened = await fetch(link, { method: 'POST', headers: { origin: url }, redirect: 'manual' });
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
  const ask = async (path: string) => (await fetch(url + path, { headers: { cookie } })).text();
  return {
    status: opened.status,
    ask,
    async give(line: string) {
      const [, csrf = ''] = /name="_csrf" value="([^"]+)"/u.exec(await ask('/')) ?? [];
      const body = new URLSearchParams({ _csrf: csrf, line });
      const init = { method: 'POST', headers: { cookie, origin: url }, body };
      return (await fetch(`${url}/do`, init)).text();
    },
  };
}

async function linkBySlash(as: string, place: string): Promise<string> {
  const { answer, isEphemeral } = await stage.sandbox.slash({
    as,
    in: place,
    name: 'memory',
    subcommand: 'page',
  });
  expect(isEphemeral).toBe(true);
  return answer?.components.rows[0]?.buttons[0]?.url ?? '';
}

describe('a page of one’s own', () => {
  it('is opened by the link that the bot gives its person, from a channel too, and changes what Discord shows [Y1] [Y3]', async () => {
    const id = idIn(await command(stage, '/memory', 'alice', '#general', 'remember I like plums'));
    const link = await linkBySlash('alice', '#general');
    expect(link.startsWith(`${url}/sign-in/`)).toBe(true);
    expect(await (await fetch(link)).text()).toContain('Hello, alice');
    const page = await signIn(link);
    expect(await page.ask('/')).toContain('I like plums');
    expect((await signIn(link)).status).toBe(403);
    expect(await page.give(`memory forget ${id}`)).toContain('Deprecated 1 item');
    expect(await command(stage, '/memory', 'alice', 'dm', 'show')).not.toContain('plums');
    expect(await command(stage, '/memory', 'alice', 'dm', 'undo')).toContain('Undone: the `forget`');
    expect(await page.ask('/')).toContain('I like plums');
  });

  it('follows what is said on Discord, and ends with all else when its person has everything erased [Y3] [K11]', async () => {
    const page = await signIn(await linkBySlash('carol', 'dm'));
    await command(stage, '/memory', 'carol', 'dm', 'remember I sing');
    expect(await page.ask('/')).toContain('I sing');
    const { answer } = await stage.sandbox.slash({
      as: 'carol',
      in: 'dm',
      name: 'memory',
      subcommand: 'erase',
    });
    await stage.press('carol', answer?.id ?? '', 'Erase everything');
    expect(await page.ask('/')).toContain('You are not signed in');
  });

  it('that is off is not there, and /memory page says so in one line [Y1]', async () => {
    await stage.stopBot();
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    await stage.startBot({ DISCOCLAW_PAGE_URL: '' });
    expect(await command(stage, '/memory', 'alice', 'dm', 'page')).toBe(
      'This bot has no page to open in a browser; `/memory panel` shows your memory here.',
    );
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});
