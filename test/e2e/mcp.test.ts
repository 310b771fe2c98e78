import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { connectMcp, type McpTool } from '../support/mcp-client.ts';
import { startChild } from './child.ts';
import { command, idIn } from './memory-talk.ts';
import { answeringBy } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
let url: string;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  stage = await openStage({
    environment: {
      DISCOCLAW_PAGE_PORT: String(port),
      DISCOCLAW_PAGE_URL: url,
      DISCOCLAW_PAGE_MCP: 'true',
      DISCOCLAW_OWNER_IDS: '140000000000000099',
    },
    model: answeringBy({
      chat: (body) => ({
        text: `Understood. ${/pelican-\w+/u.exec(JSON.stringify(body.messages))?.[0] ?? ''}`,
      }),
    }),
  });
});

afterAll(() => stage[Symbol.asyncDispose]());

/** Somebody's page, from the link that the bot gives. */
async function pageOf(as: string) {
  const { answer } = await stage.sandbox.slash({ as, in: 'dm', name: 'memory', subcommand: 'page' });
  const link = answer?.components.rows[0]?.buttons[0]?.url ?? '';
  const opened = await fetch(link, { method: 'POST', headers: { origin: url }, redirect: 'manual' });
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
  const ask = async (path: string) => (await fetch(url + path, { headers: { cookie } })).text();
  return {
    ask,
    async give(line: string, text = '') {
      const [, csrf = ''] = /name="_csrf" value="([^"]+)"/u.exec(await ask('/')) ?? [];
      const body = new URLSearchParams({
        _csrf: csrf,
        line,
        back: '/elsewhere',
        ...(text !== '' && { text }),
      });
      return (await fetch(`${url}/do`, { method: 'POST', headers: { cookie, origin: url }, body })).text();
    },
  };
}

async function tokenOf(as: string, name: string): Promise<string> {
  const page = await pageOf(as);
  return /<code>(\d+\.[\w-]{43})<\/code>/u.exec(await page.give('token make', name))?.[1] ?? 'no token';
}

/** A word of somebody's for each kind of place. */
const canaries = (name: string) =>
  ['dm', '#secret', '#general'].map((place) => `canary ${place.replace('#', '')} ${name}`);

type Call = readonly [name: McpTool, input: Readonly<Record<string, unknown>>];

/** What an assistant is answered over HTTP by what the official client asks for it. */
async function assistant(token: string, ...calls: readonly Call[]): Promise<readonly string[]> {
  const client = await connectMcp(url, token);
  const answers: string[] = [];
  for (const call of calls) answers.push(await client.call(...call));
  await client.close();
  return answers;
}

interface Printed {
  readonly tools: readonly string[];
  readonly answers: readonly string[];
}

/** The same by a process of its own, as people's assistants are, with the tools that it is offered. */
async function assistantProcess(token: string, ...calls: readonly Call[]): Promise<Printed> {
  const child = startChild({
    script: fileURLToPath(new URL('mcp-client.mjs', import.meta.url)),
    folder: stage.folder,
    input: JSON.stringify({ url: `${url}/mcp`, token, calls }),
  });
  await child.exited;
  const printed: Printed = JSON.parse(child.output());
  return printed;
}

const search = (query: string): Call => ['search_memory', { query }];
const list: Call = ['list_items', {}];
const propose = (text: string): Call => ['propose_item', { text }];

describe('one’s own memory in another assistant [EW3]', () => {
  it('is searched, listed and proposed to; a yes on Discord makes an item that says where it comes from, a no on the page takes it away', async () => {
    const { name } = await stage.newcomer();
    await command(stage, '/memory', name, '#general', 'remember I keep bees');
    const token = await tokenOf(name, 'Claude Code');
    const { tools, answers } = await assistantProcess(
      token,
      search('bees'),
      list,
      propose('Grows apples'),
      propose('Fears geese'),
      propose('Grows apples'),
    );
    expect(tools).toEqual(['search_memory', 'list_items', 'propose_item']);
    expect(answers[0]).toContain('I keep bees');
    expect(answers[1]).toContain('I keep bees');
    const waits = 'Proposed: it waits for their yes.';
    expect(answers.slice(2)).toEqual([waits, waits, waits]);
    const proposals = await command(stage, '!memory', name, 'dm', 'proposals');
    expect(proposals).toMatch(
      /2 proposals[\s\S]*Grows apples \(src: elsewhere,.* · proposed by "Claude Code"/u,
    );
    expect(await command(stage, '!memory', name, 'dm', 'show')).not.toContain('apples');
    const [apples = '', geese = ''] = [...proposals.matchAll(/\bid ([0-9a-f]{8})\b/gu)].map(([, id]) => id);

    const listed = await stage.ask(name, 'dm', '!memory proposals');
    await stage.press(name, listed.id, '✅ 1');
    expect(await command(stage, '!memory', name, 'dm', 'show')).toMatch(
      /Grows apples \(src: elsewhere,.*\) · id \w+ · dm/u,
    );
    expect(await command(stage, '!memory', name, 'dm', `why ${apples}`)).toContain(
      'How: another assistant proposed it, and you said yes · proposed by "Claude Code"',
    );
    const page = await pageOf(name);
    expect(await page.ask('/review')).toContain('Fears geese');
    await page.give(`memory decline ${geese}`);
    expect(await page.ask('/review')).not.toContain('Fears geese');
    const again = await assistant(token, propose('Fears geese'), propose('Grows apples'), list);
    expect(again[0]).toContain('could not be saved');
    expect(again[1]).toBe('It is remembered already.');
    expect(again[2]).toMatch(/Grows apples[\s\S]*"source": "elsewhere"/u);
    expect(again[2]).not.toContain('geese');
  });

  it('proposes nothing in a pause and in `mode off`, nothing long or secret, and pushes out nothing that waits', async () => {
    const { name } = await stage.newcomer();
    const token = await tokenOf(name, 'Cursor');
    const [long, secret] = await assistant(
      token,
      propose('x'.repeat(501)),
      propose('my password is Tr0ub4dor&3'),
    );
    expect(long).toContain('501 characters, 500 at most');
    expect(secret).toContain('looks like a secret');
    await command(stage, '!memory', name, 'dm', 'pause');
    expect(await assistant(token, propose('Keeps owls'))).toEqual([expect.stringContaining('paused')]);
    await command(stage, '!memory', name, 'dm', 'resume');
    await command(stage, '!memory', name, 'dm', 'mode off');
    expect(await assistant(token, propose('Keeps owls'))).toEqual([
      expect.stringContaining('Nothing was proposed'),
    ]);
    expect(await command(stage, '!memory', name, 'dm', 'proposals')).toContain('No proposals');
    await command(stage, '!memory', name, 'dm', 'mode auto');
    const many = Array.from({ length: 21 }, (_, index) => propose(`Owns boat number ${index}`));
    expect((await assistant(token, ...many)).at(-1)).toContain('20 proposals wait');
    expect(await command(stage, '!memory', name, 'dm', 'proposals')).toContain('Owns boat number 0 ');
  });

  it('tells what the DM may be told, and of nobody else a word, nor of others by way of an answer', async () => {
    const [alice, bob] = [(await stage.newcomer()).name, (await stage.newcomer()).name];
    await stage.sandbox.setChannelPrivacy({ channel: '#secret', private: true, members: [alice, bob] });
    for (const name of [alice, bob])
      for (const [index, place] of ['dm', '#secret', '#general'].entries()) {
        await command(stage, '!memory', name, place, `remember item ${canaries(name)[index]}`);
        await stage.ask(name, place, `I say ${canaries(name)[index]}`);
      }
    const answers = await assistant(
      await tokenOf(alice, 'Cursor'),
      list,
      search('canary'),
      ...canaries(bob).map(search),
    );
    for (const canary of canaries(alice)) expect(answers[0]).toContain(`item ${canary}`);
    for (const canary of canaries(alice)) expect(answers.join('\n')).toContain(`I say ${canary}`);
    for (const canary of canaries(bob)) expect(answers.join('\n')).not.toContain(canary);

    await stage.sandbox.say({ as: bob, in: '#general', text: 'The gate opens with pelican-seven' });
    const answer = await stage.ask(alice, '#general', 'What did he say?');
    expect(answer.text).toContain('pelican-seven');
    await stage.keeps(answer.text);
    expect(await command(stage, '/memory', alice, '#general', 'search pelican-seven')).toContain(
      'pelican-seven',
    );
    const repeated = await assistant(
      await tokenOf(alice, 'VS Code'),
      search('pelican-seven'),
      search('gate'),
    );
    expect(repeated.join('\n')).not.toContain('pelican');
  });

  it('leaves out at once what is forgotten, and brings it back with undo', async () => {
    const { name } = await stage.newcomer();
    const id = idIn(await command(stage, '!memory', name, 'dm', 'remember I collect astrolabes'));
    const token = await tokenOf(name, 'Cursor');
    expect((await assistant(token, search('astrolabes'), list)).join('')).toContain('astrolabes');
    await command(stage, '!memory', name, 'dm', `forget ${id}`);
    expect(await assistant(token, search('astrolabes'), list)).toEqual(['[]', '[]']);
    await command(stage, '!memory', name, 'dm', 'undo');
    expect((await assistant(token, search('astrolabes'), list)).join('')).toContain('astrolabes');
  });

  it('ends for a token that is revoked, guessed, expired by an erasing, or of a person without access', async () => {
    const { name, id } = await stage.newcomer();
    const tokens = [await tokenOf(name, 'Cursor'), await tokenOf(name, 'VS Code')] as const;
    await (await pageOf(name)).give('token revoke Cursor');
    const guessed = `${id}.${'A'.repeat(43)}`;
    for (const token of [tokens[0], guessed])
      await expect(assistant(token, list)).rejects.toThrow('Unauthorized');
    expect(await assistant(tokens[1], list)).toEqual(['[]']);
    await stage.restart();
    expect(await assistant(tokens[1], list)).toEqual(['[]']);

    await stage.restart({ DISCOCLAW_ACCESS: 'allowlist' });
    await expect(assistant(tokens[1], list)).rejects.toThrow('Unauthorized');
    await stage.restart();
    const { answer } = await stage.sandbox.slash({ as: name, in: 'dm', name: 'memory', subcommand: 'erase' });
    await stage.press(name, answer?.id ?? '', 'Erase everything');
    await eventually(() => expect(assistant(tokens[1], list)).rejects.toThrow('Unauthorized'));
    expect(await stage.pathsWith('VS Code', id)).not.toContain(`users/${id}/page.json`);
  });
});

describe('a bot whose page serves no MCP', () => {
  /** What asks for the SDK ends the process. */
  const without = {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(`
      import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent(
        'export const resolve = (name, context, next) => { if (name.startsWith("@modelcontextprotocol/")) throw new Error("It was loaded: " + name); return next(name, context); };'
      ));
    `)}`,
  };

  /** The bot as it is built for people, whose packages are not in it. */
  const start = (environment: Readonly<Record<string, string>>) =>
    startChild({
      script: 'main.js',
      folder: stage.folder,
      environment: { ...stage.environment, ...without, ...environment },
    });

  it('has nothing of it loaded and no address for it; with it, the same bot has both', async () => {
    const { name } = await stage.newcomer();
    await stage.stopBot();
    const bot = start({ DISCOCLAW_PAGE_MCP: 'false' });
    await Promise.all([bot.waitFor('"the bot is ready"'), bot.waitFor('"commands were registered"')]);
    const page = await pageOf(name);
    expect(await page.ask('/')).toContain('Your memory');
    expect(await page.ask('/elsewhere')).toContain('Not found');
    expect((await fetch(`${url}/mcp`, { method: 'POST', headers: { origin: url } })).status).toBe(404);
    expect(await bot.end('SIGTERM')).toBe(0);
    const other = start({});
    expect(await other.waitFor('It was loaded: @modelcontextprotocol/server')).not.toContain('is ready');
    await other.exited;
  });
});
