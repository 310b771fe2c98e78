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
    ["I'm allergic to peanuts", /I will remember: you are allergic to peanuts\./u],
    ['my dog is called Biscuit', /I will remember: your dog is called Biscuit\./u],
    ["what's my dog's name?", /\] *\n *Your dog is called Biscuit — you told me in #general/u],
    ['where is my home?', /You live in Porto/u],
    ['what food should I avoid?', /You are allergic to peanuts/u],
    ['remember that I prefer tea over coffee', /I will remember: you prefer tea over coffee\./u],
    ['what do I like to drink?', /You prefer tea over coffee/u],
    ['I moved to Lisbon last week', /Begin with “remember that” to make me keep it/u],
    ['what do you know about me?', /- You live in Porto[^]*- You work as a nurse/u],
  ],
  'somebody who asks what it is and how it works': [
    ['hello', /Hello, alice\. Say “remember that/u],
    ['what are you?', /a bot with a memory.*not a language model/u],
    ['are you chatgpt?', /not a language model.*ANTHROPIC_API_KEY/u],
    ['what can you do?', /remember that.*`!memory help`/u],
    ['how does your memory work?', /short items about you/u],
    ['how do I make you remember something?', /`!memory remember <text>`/u],
    ['how can I see what you remember?', /`!memory show`/u],
    ['how do I delete something?', /`!memory forget <words>`/u],
    ['write me a poem about the sea', /That takes a real model/u],
    ['thanks, bye', /You are welcome, alice\./u],
  ],
  'a sceptic of privacy': [
    ['what do you store about me?', /I know nothing about you yet/u],
    ['where is my data stored?', /files on the computer/u],
    ['who can read what I tell you?', /Nobody’s memory is used for anybody else/u],
    [
      'remember that my therapist is called Dr. Weber',
      /I will remember: your therapist is called Dr\. Weber/u,
    ],
    ['do you tell other people what I said?', /What you say in a DM I use only in our DM/u],
    ["I don't want you to remember that", /Undone: `remember`/u],
    ['stop remembering me', /Paused: nothing that you say is stored/u],
    ['can I get a copy of my data?', /`!memory export`[^]*\[Send me my data\]/u],
    ['delete everything about me', /Nothing is erased yet[^]*\[Erase everything …\]/u],
    ['is anything of this sent to openai or google?', /sends nothing to anybody/u],
  ],
  'the owner of a server': [
    ['how do I add you to my server?', /docs\/permissions\.md.*`DISCORD_TOKEN`/u],
    ['what permissions do you need?', /docs\/permissions\.md/u],
    ['how much does this cost?', /`!status` shows what today has cost/u],
    ['how do I connect a real model?', /`ANTHROPIC_API_KEY`/u],
    ['does it work with ollama?', /`ANTHROPIC_BASE_URL`.*`DISCOCLAW_MODEL`/u],
    ['can you answer only in one channel?', /`DISCORD_CHANNEL_IDS`/u],
    ['how do I turn memory off in a channel?', /`\/settings memory off`/u],
    ["can my members see each other's memories?", /Nobody’s memory is used for anybody else/u],
    ['/status', /Model: the offline stand-in/u],
    ['where are the docs?', /docs\/commands\.md/u],
  ],
  'somebody playful': [
    ['asdfghjkl', /did not understand that/u],
    ['/hlep', /Did you mean \/help\?/u],
    ['!memroy show', /Did you mean `!memory show`\?/u],
    ['do you love me?', /a handful of rules/u],
    ['whats 2+2', /more takes a real model/u],
    ['remember', /Say what: “remember that/u],
    ['remmeber that i hate mondays', /I will remember: you hate mondays\./u],
    ['which day do i hate?', /You hate mondays/u],
    ['forget everything!!!', /`!memory erase` first shows how much/u],
    ['🍕🍕🍕', /did not understand that/u],
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
