import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { z } from 'zod';

import { hasTerminals, startChild, startInTerminal } from './child.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'discoclaw-terminal-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the built program without any token, as a new user would, and gives what it printed. */
async function chat(
  lines: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = startChild({ folder, input: lines.map((line) => `${line}\n`).join('') });
  return { code: await child.exited, output: child.output() };
}

/** Runs the built program at a terminal of 60 columns. */
function sitDown(environment: Readonly<Record<string, string>> = {}) {
  const { said, type, exited } = startInTerminal({ folder, environment, columns: 60 });
  return {
    written: said,
    shows: async (text: string) =>
      await expect.poll(() => plainly(said()).replaceAll(/\s+/gu, ' '), { timeout: 60_000 }).toContain(text),
    type: (line: string) => type(`${line}\r`),
    exited,
  };
}

/** Without what moves the cursor and colours the text. */
function plainly(written: string): string {
  // oxlint-disable-next-line no-control-regex -- that is what a terminal obeys
  return written.replaceAll(/\u001B\[[\d;]*[A-Za-z]/gu, '');
}

/** The README was written on some day, at some hour. */
function withoutDate(line: string): string {
  return line.replaceAll(/\d{4}-\d{2}-\d{2}/gu, 'DATE').replaceAll(/\(in \d+ \w+\)/gu, '(in a while)');
}

describe('the bot in the terminal, with no token set [Z5]', () => {
  it('uses in #general what was said in #dev, shows it, and forgets it in the end', async () => {
    const first = await chat([
      '/go #dev',
      '!memory remember I prefer Rust for parsers',
      '/go #general',
      'which language do I prefer for parsers?',
      'remember that my team is called Blue',
      '!memory show',
      '/go @dm',
      'remember that my cat is called Mia',
    ]);
    expect(first.code).toBe(0);
    for (const named of ['offline stand-in', join(folder, 'data')]) expect(first.output).toContain(named);
    expect(first.output).toMatch(/ {2}your page +http:\/\/127\.0\.0\.1:\d+\/sign-in\/\d+\.[\w-]{43} /u);
    expect(first.output).toContain('You prefer Rust for parsers');
    expect(first.output).toMatch(
      /- \[fact\] I prefer Rust for parsers \(src: manual, #dev, updated \d{4}-\d\d-\d\d\) · id [0-9a-f]{8}/u,
    );

    // The messages that these came from are in the sandbox no more; nobody deleted them.
    const second = await chat([
      '/go @dm',
      '!memory show',
      '/go #general',
      'which language do I prefer for parsers?',
      '!memory forget Rust',
      'and which language now?',
    ]);
    for (const kept of ['team is called Blue', 'cat is called Mia']) expect(second.output).toContain(kept);
    expect(second.code).toBe(0);
    const [before = '', after = ''] = second.output.split('Deprecated 1 item matching "Rust"');
    expect(before).toContain('You prefer Rust for parsers');
    expect(after.split('which language now?')[1]).not.toContain('Rust');
  });

  it('plays the demonstration where there is neither terminal nor input, and leaves nothing behind, though the layers have folders of their own and all is kept in a database', async () => {
    const before = await readdir(folder, { recursive: true });
    const ownFolders = {
      // Nobody listens there: a client would not get far.
      DISCOCLAW_STORE: 'postgres://127.0.0.1:9/nobody',
      DISCOCLAW_DURABLE_DATA_DIR: join(folder, 'durable'),
      DISCOCLAW_SUMMARY_DATA_DIR: join(folder, 'summary'),
      DISCOCLAW_SHORTTERM_DATA_DIR: join(folder, 'short-term'),
    };
    const child = startChild({ folder, environment: { ...ownFolders, TMPDIR: folder } });
    expect(await child.exited).toBe(0);
    const output = child.output();
    expect(output).toMatch(/npm start.*\n$/u);
    const [, inGeneral = ''] = output.split('#general  alice: which language should I use');
    expect(inGeneral.split('\n\n')[0]).toContain('You prefer Rust over Go');
    const parties = output.split('when is the party?');
    expect(parties[1]).not.toContain('tomorrow');
    expect(parties[2]).toMatch(/Your surprise party is tomorrow \(\d{4}-\d\d-\d\d\) — you told me on /u);
    expect(output).toContain('Durable memory (2 items):');
    expect(output).toMatch(
      /alice chose “Remember this” for “I always drink green tea.*\n.*Remembered: .*\n.*every server.*\n +\[Undo\]\n +\(only you see this\)\n/u,
    );
    expect(output).toContain('Deprecated 1 item matching "Rust"');
    expect(output).not.toMatch(/^! /mu);
    expect(await readdir(folder, { recursive: true })).toEqual(before);

    // What the README shows is from here.
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const shown =
      /<!-- transcript:begin -->\n\n```\n(?<lines>[\s\S]+?)\n```/u.exec(readme)?.groups?.['lines'] ?? '';
    const played = new Set(output.split('\n').map(withoutDate));
    expect(shown.split('\n').filter((line) => !played.has(withoutDate(line)))).toEqual([]);
    expect(shown).toContain('Remembered: ');
  });

  it.skipIf(!hasTerminals)(
    'leads a newcomer at a terminal through three things that work as typed, plays the demonstration there, and does so once',
    async () => {
      await rm(join(folder, 'data'), { recursive: true, force: true });
      const first = sitDown();
      await first.shows('You are alice in #general: what you type is said there, and Discoclaw answers.');
      await first.shows('→ Tell it something: remember that I am allergic to peanuts');
      first.type('remember that I am allergic to peanuts');
      await first.shows('→ Ask in other words: what food should I avoid?');
      first.type('what food should I avoid?');
      await first.shows('→ See all that it knows: !memory show');
      expect(plainly(first.written()).split('what food should I avoid?').at(-1)).toContain(
        'You are allergic to peanuts',
      );
      first.type('!memory show');
      await first.shows('That was all: /demo plays more, /help lists the rest.');
      first.type('/demo');
      await first.shows('Nothing of this is kept. You are alice in #general.');
      await first.shows('Your surprise party is tomorrow');
      first.type('what is my surprise?');
      await first.shows('I don’t know that yet.');
      first.type('/quit');
      expect(await first.exited).toBe(0);
      // Those of the demonstration are another bot's.
      const usage: unknown = JSON.parse(await readFile(join(folder, 'data/usage.json'), 'utf8'));
      const turns = z.object({ turns: z.object({ answered: z.number().max(3) }) });
      const counted = z.object({ days: z.record(z.string(), turns) }).safeParse(usage);
      expect(counted.error).toBeUndefined();
      const rows = plainly(first.written()).split(/\r?\n/u);
      expect(rows.filter((row) => row.startsWith('   ') && row.length >= 60)).toEqual([]);

      const second = sitDown({ NO_COLOR: '1' });
      await second.shows('alice in #general> ');
      second.type('what food should I avoid?');
      await second.shows('You are allergic to peanuts');
      second.type('/quit');
      expect(await second.exited).toBe(0);
      expect(plainly(second.written())).not.toContain('→');
      // oxlint-disable-next-line no-control-regex -- colours
      expect(second.written()).not.toMatch(/\u001B\[\d+m/u);
    },
  );
});
