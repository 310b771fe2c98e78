import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { runProcess, type Outcome } from '../support/processes.ts';
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

/** The script beside the running bot, over the same folders. */
function printPrompt(...words: readonly string[]): Promise<Outcome> {
  return run(process.execPath, ['--import', 'tsx', 'scripts/prompt.ts', ...words]);
}

function run(command: string, words: readonly string[]): Promise<Outcome> {
  return runProcess(command, words, {
    cwd: new URL('../..', import.meta.url).pathname,
    env: {
      PATH: process.env['PATH'],
      HOME: stage.folder,
      DISCOCLAW_DATA_DIR: join(stage.folder, 'data'),
      DISCOCLAW_WORKSPACE_DIR: join(stage.folder, 'workspace'),
      DISCOCLAW_TIMEZONE: 'UTC',
    },
  });
}

/** Every file of the data folder with its text, but for the tokens of today, which the bot writes down when it comes to it. */
async function dataFiles(): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(join(stage.folder, 'data'), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name !== 'usage.json')
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')] as const)));
}

/** In how many channels a reply is known to be sent: that is seen in Discord a little earlier. */
async function repliesWrittenDown(): Promise<number> {
  const files = [...(await dataFiles())];
  return files.filter(([path, text]) => path.endsWith('journal.jsonl') && text.includes('"handled"')).length;
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
  const before = await dataFiles();
  const words = ['--user', 'alice', '--channel', 'dm', '--message', 'And now?'];
  const { code, output, errors } = await run('npm', ['run', '--silent', 'prompt', '--', ...words, '--owner']);
  expect(errors).toBe('');
  expect(code).toBe(0);
  expect(await dataFiles()).toEqual(before);
  expect((await stage.ask('bob', '#dev', 'still there?')).text).toBe('Understood.');

  // After a start the bot begins with a prompt made anew, as the script does.
  await stage.killBot();
  await stage.startBot();
  const call = await chatCall(stage, 'alice', 'dm', 'And now?');
  const sent = [
    ...(call.body.system ?? []).map(({ text = '' }) => text),
    ...blocksIn(call).map(({ text }) => text),
  ];
  expect(sent.join('')).toMatch(/Pincers[\s\S]*rent is due[\s\S]*🦀[\s\S]*Which language[\s\S]*And now\?/u);
  let printed = withoutTime(output);
  for (const text of sent) {
    const wanted = withoutTime(text.trimEnd());
    expect(printed).toContain(wanted);
    printed = printed.slice(printed.indexOf(wanted) + wanted.length);
  }

  const rows = rowsOf(output);
  const total = rows.at(-1);
  const parts = rows.slice(0, -1);
  expect(total?.label).toBe('total');
  expect(parts.map(({ label }) => label)).toEqual([
    'system · soul',
    'system · rules',
    'slow · notes',
    'slow · durable_items',
    'history · history',
    'last · message',
  ]);
  for (const what of ['characters', 'tokens', 'cells'] as const)
    expect(parts.reduce((sum, row) => sum + row[what], 0)).toBe(total?.[what]);
  expect(total?.characters).toBe(sent.join('').length);
  const [longest] = parts.toSorted((a, b) => b.characters - a.characters);
  expect(Math.max(...parts.map(({ cells }) => cells))).toBe(longest?.cells);
});

it('takes ids and names with a #, and keeps the owner’s notes from who is not said to be the owner', async () => {
  const { code, output } = await printPrompt('--user', stage.info.people['bob'] ?? '', '--channel', '#dev');
  expect(code).toBe(0);
  expect(output).toContain('<message from="bob" where="#dev, public"');
  const alices = await printPrompt('--user', 'alice', '--channel', 'dm');
  expect(alices.output).toContain('🦀');
  expect(alices.output).not.toContain('rent is due');
});

it.each([
  [
    'nobody of that name',
    ['--user', 'zoe', '--channel', 'dm'],
    /^No such conversation\. There are:\n {2}--user \d+ \(\w+\) --channel \d+ \([\w]+\)/u,
  ],
  [
    'a channel without a conversation',
    ['--user', 'bob', '--channel', '#general'],
    /^No such conversation\. There are:\n/u,
  ],
  [
    'no channel',
    ['--user', 'bob'],
    /^Prints the prompt .*\n\nnpm run prompt -- --user <id or name> --channel /u,
  ],
] as const)('says what is wrong with %s', async (_, words, message) => {
  const { code, output, errors } = await printPrompt(...words);
  expect(code).toBe(1);
  expect(output).toBe('');
  expect(errors).toMatch(message);
  expect(errors).not.toMatch(/\n {4}at /u);
});
