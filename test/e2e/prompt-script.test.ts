import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { runPrompt } from '../../scripts/prompt.ts';
import { runProcess } from '../support/processes.ts';
import { answeringBy, blocksIn, chatCall } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  // What is allowed on Discord is known to the bot that is connected to it, not to the script.
  stage = await openStage({
    environment: { DISCOCLAW_DISCORD_ACTIONS_ENABLED: 'false' },
    model: answeringBy({}),
  });
  await stage.writeFile('workspace/SOUL.md', 'You are Pincers, a crab of few words.\n');
  await stage.writeFile('workspace/MEMORY.md', 'The rent is due on the first.\n');
  await stage.ask('alice', 'dm', '!memory remember I prefer Rust, 日本語 and 🦀');
  await stage.ask('alice', 'dm', 'Which language do I like?');
  await stage.ask('bob', '#dev', 'hello');
});
afterAll(() => stage[Symbol.asyncDispose]());

const environment = () => ({
  DISCOCLAW_DATA_DIR: join(stage.folder, 'data'),
  DISCOCLAW_WORKSPACE_DIR: join(stage.folder, 'workspace'),
  DISCOCLAW_TIMEZONE: 'UTC',
  ...stage.storeEnvironment,
});

/** What it prints, without a process of its own. */
function printed(...words: readonly string[]): Promise<string> {
  return runPrompt(words, environment());
}

/** All that the bot keeps, but for the tokens of today, which it writes down when it comes to it. */
async function keptTexts(): Promise<ReadonlyMap<string, string>> {
  const kept = (await stage.kept()).filter(({ path }) => !path.startsWith('usage.json'));
  return new Map(kept.map(({ path, text }) => [path, text]));
}

/** In how many channels a reply is known to be sent: that is seen in Discord a little earlier. */
async function repliesWrittenDown(): Promise<number> {
  const files = [...(await keptTexts())];
  return files.filter(([path, text]) => path.endsWith('outbox.json') && /"handledIds":\s*\[\s*"/u.test(text))
    .length;
}

/** The rows of the chart: what it names, characters, tokens, cells of the bar. */
function rowsOf(output: string) {
  const [, chart = ''] = output.split('═══ sizes ═══\n');
  return chart.split('\n').flatMap((line) => {
    const match = /^(?<label>\S.*?) +(?<characters>\d+) +(?<tokens>\d+)(?: {2}(?<bar>█*))?$/u.exec(line);
    if (match?.groups === undefined) return [];
    const { label = '', characters, tokens, bar = '' } = match.groups;
    return [{ label, characters: Number(characters), tokens: Number(tokens), cells: bar.length }];
  });
}

const withoutTime = (text: string): string => text.replace(/time="[^"]*"/u, 'time=""');

it('prints the prompt as the bot sends it, beside the running bot and without a trace [P5]', async () => {
  await expect.poll(repliesWrittenDown).toBe(2);
  let before = await keptTexts();
  // The files follow what was acknowledged.
  const listed = () => [...before.keys()].filter((path) => path.endsWith('/sessions.json')).length;
  const isQuiet = async () => isDeepStrictEqual(before, (before = await keptTexts())) && listed() === 2;
  await expect.poll(isQuiet, { interval: 100 }).toBe(true);
  const words = ['--user', 'alice', '--channel', 'dm', '--message', 'And now?', '--owner'];
  const output = await printed(...words);
  expect(await keptTexts()).toEqual(before);
  expect((await stage.ask('bob', '#dev', 'still there?')).text).toBe('Understood.');

  // After a start the bot builds its prompt from nothing, as the script does.
  await stage.restart();
  const call = await chatCall(stage, 'alice', 'dm', 'And now?');
  const sent = [
    ...(call.body.system ?? []).map(({ text = '' }) => text),
    ...blocksIn(call).map(({ text }) => text),
  ];
  expect(sent.join('')).toMatch(/Pincers[\s\S]*rent is due[\s\S]*🦀[\s\S]*Which language[\s\S]*And now\?/u);
  let rest = withoutTime(output);
  for (const text of sent) {
    const wanted = withoutTime(text.trimEnd());
    expect(rest).toContain(wanted);
    rest = rest.slice(rest.indexOf(wanted) + wanted.length);
  }

  const rows = rowsOf(output);
  const total = rows.at(-1);
  const parts = rows.slice(0, -1);
  expect(total?.label).toBe('total');
  expect(parts.map(({ label }) => label)).toEqual([
    'system · soul',
    'system · rules',
    'slow · notes',
    'items · durable_items',
    'history · history',
    'last · message',
  ]);
  for (const what of ['characters', 'tokens', 'cells'] as const)
    expect(parts.reduce((sum, row) => sum + row[what], 0)).toBe(total?.[what]);
  expect(total?.characters).toBe(sent.join('').length);
  const [longest] = parts.toSorted((a, b) => b.characters - a.characters);
  expect(Math.max(...parts.map(({ cells }) => cells))).toBe(longest?.cells);
});

it('accepts ids and names with a #, and hides the owner’s notes unless the person is the owner', async () => {
  const bobs = await printed('--user', stage.info.people['bob'] ?? '', '--channel', '#dev');
  expect(bobs).toContain('<message from="bob" where="#dev, public"');
  const alices = await printed('--user', 'alice', '--channel', 'dm');
  expect(alices).toContain('🦀');
  expect(alices).not.toContain('rent is due');
});

it('says what is wrong, without a stack, and exits with 1', async () => {
  await expect(printed('--user', 'bob')).rejects.toThrow(
    /\n\nnpm run prompt -- --user <id or name> --channel /u,
  );
  const missing = /^No such conversation\. There are:\n {2}--user \d+ \(\w+\) --channel \d+ \([\w]+\)/u;
  await expect(printed('--user', 'bob', '--channel', '#general')).rejects.toThrow(missing);
  const { code, output, errors } = await runProcess(
    'npm',
    ['run', '--silent', 'prompt', '--', '--user', 'zoe', '--channel', 'dm'],
    {
      cwd: new URL('../..', import.meta.url).pathname,
      env: { PATH: process.env['PATH'], HOME: stage.folder, ...environment() },
    },
  );
  expect({ code, output }).toEqual({ code: 1, output: '' });
  expect(errors).toMatch(missing);
  expect(errors).not.toMatch(/\n {4}at /u);
});
