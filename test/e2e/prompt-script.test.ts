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

const withoutTime = (text: string): string => text.replace(/time="[^"]*"/u, 'time=""');

it('prints the prompt as the bot sends it, beside the running bot and without a trace [P5]', async () => {
  // The files follow what was acknowledged.
  let before = await keptTexts();
  const listed = () => [...before.keys()].filter((path) => path.endsWith('/sessions.json')).length;
  const isQuiet = async () => isDeepStrictEqual(before, (before = await keptTexts())) && listed() === 2;
  await expect.poll(isQuiet, { interval: 200 }).toBe(true);
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

  const [, chart = ''] = output.split('═══ sizes ═══\n');
  const sizes = [...chart.matchAll(/^(\S.*?) +(\d+) +\d+(?: {2}█*)?$/gmu)].map(([, label, size]) => [
    label,
    Number(size),
  ]);
  expect(sizes.map(([label]) => label)).toEqual([
    'system · soul',
    'system · rules',
    'slow · notes',
    'items · durable_items',
    'history · history',
    'last · message',
    'total',
  ]);
  expect(sizes.at(-1)).toEqual(['total', sent.join('').length]);
});

it('accepts ids and names with a #, and hides the owner’s notes unless the person is the owner', async () => {
  const bobs = await printed('--user', stage.info.people['bob'] ?? '', '--channel', '#dev');
  expect(bobs).toContain('<message from="bob" where="#dev, public"');
  expect(await printed('--user', 'alice', '--channel', 'dm')).not.toContain('rent is due');
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
