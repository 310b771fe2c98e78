import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';

import { startChild } from './child.ts';

/** What a newcomer types, and what makes the answer helpful. */
type Script = readonly (readonly [line: string, helps: RegExp])[];

const scripts: Readonly<Record<string, Script>> = {
  'somebody who tells about themselves, and asks back': [
    [
      "hi! I'm Mara, I live in Porto and I work as a nurse",
      /I will remember: you are Mara, you live in Porto and you work as a nurse\./u,
    ],
    ['my dog is called Biscuit', /I will remember: your dog is called Biscuit\./u],
    ["what's my dog's name?", /\] *\n *Your dog is called Biscuit — you told me in #general/u],
    ['remember that I prefer tea over coffee', /I will remember: you prefer tea over coffee\./u],
    ['what do I like to drink?', /You prefer tea over coffee/u],
    ['what do you know about me?', /- You are Mara, you live in Porto/u],
    ['forget Biscuit', /I forgot “Biscuit”/u],
    ['what are you?', /a bot with a memory.*not a language model/u],
    ['how do I connect a real model?', /`ANTHROPIC_API_KEY`/u],
    ['asdfghjkl', /did not understand that/u],
    ['delete everything about me', /`!memory erase` everything/u],
  ],
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'discoclaw-newcomers-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the offline stand-in helps at every line [M2]', () => {
  it.concurrent.for(Object.entries(scripts))('%s', async ([name, script], { expect, onTestFailed }) => {
    const input = script.map(([line]) => `${line}\n`).join('');
    const environment = { DISCOCLAW_DATA_DIR: join(folder, name.replaceAll(/\W+/gu, '-')) };
    const child = startChild({ folder, environment, input });
    // Where it ended, or hangs.
    onTestFailed(() => void process.stderr.write(child.output()));
    expect(await child.exited).toBe(0);
    let rest = child.output();
    const answers = script.map(([line]) => {
      const echo = `#general  alice: ${line}\n`;
      const at = rest.indexOf(echo);
      // What the chat itself answers has no echo, and stands behind the answer before.
      if (at !== -1) rest = rest.slice(at + echo.length);
      const [answer = ''] = rest.split(/^#general {2}alice: /mu);
      return { line, answer };
    });
    const unhelpful = answers.filter(({ answer }, at) => script[at]?.[1].test(answer) !== true);
    expect(unhelpful).toEqual([]);
    // Nobody is shown the stand-in's own words as memory.
    expect(child.output()).not.toMatch(/(?:said|before:)[^\n]*\n[^\n]*\[offline model\] /u);
  });
});
