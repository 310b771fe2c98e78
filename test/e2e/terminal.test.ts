import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startChild } from './child.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'discoclaw-terminal-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the built program without any token, as a new user would, and gives what it printed. */
async function chat(
  lines: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = startChild({ script: 'main.js', folder, input: lines.map((line) => `${line}\n`).join('') });
  return { code: await child.exited, output: child.output() };
}

describe('the bot in the terminal, with no token set', () => {
  it('uses in #general what was said in #dev, shows it, and forgets it in the end', async () => {
    const first = await chat([
      '/go #dev',
      '!memory remember I prefer Rust for parsers',
      '/go #general',
      'which language do I prefer for parsers?',
      '!memory show',
    ]);
    expect(first.code).toBe(0);
    expect(first.output).toContain('[offline model]');
    expect(first.output).toContain('You prefer Rust for parsers');
    expect(first.output).toMatch(
      /- \[fact\] I prefer Rust for parsers \(src: manual, #dev, updated \d{4}-\d\d-\d\d\) · id [0-9a-f]{8}/u,
    );

    const second = await chat([
      'which language do I prefer for parsers?',
      '!memory forget Rust',
      'and which language now?',
    ]);
    expect(second.code).toBe(0);
    const [before = '', after = ''] = second.output.split('Deprecated 1 item matching "Rust"');
    expect(before).toContain('You prefer Rust for parsers');
    expect(after.split('which language now?')[1]).not.toContain('Rust');
  });

  it('says what is wrong with a line and goes on', async () => {
    const { code, output } = await chat(['/go #nowhere', '/as nobody', '/dance', '!memory', 'still there?']);
    expect(code).toBe(0);
    expect(output.match(/^! .+/gmu)).toHaveLength(3);
    expect(output).toContain('`!memory show`');
    expect(output.split('still there?')[1]).toContain('Discoclaw:');
  });

  it('plays the demonstration where there is neither terminal nor input, and leaves nothing behind', async () => {
    const before = await readdir(folder, { recursive: true });
    const child = startChild({ script: 'main.js', folder });
    expect(await child.exited).toBe(0);
    const output = child.output();
    const [, inGeneral = ''] = output.split('#general  alice: which language should I use');
    expect(inGeneral.split('\n\n')[0]).toContain('You prefer Rust over Go');
    const parties = output.split('when is the party?');
    expect(parties[1]).not.toContain('Friday');
    expect(parties[2]).toContain('Friday');
    expect(output).toContain('Durable memory (2 items):');
    expect(output).toContain('Deprecated 1 item matching "Rust"');
    expect(await readdir(folder, { recursive: true })).toEqual(before);
  });
});
