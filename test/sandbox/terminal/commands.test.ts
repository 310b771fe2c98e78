import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import { chatOf } from '../support/chat-of.ts';
import { runEchoBot } from '../support/echo-bot.ts';

describe('messages', () => {
  it('are replied to: the bot’s newest, or the one that is counted to', async () => {
    expect(await chatOf(['quiet now', '/reply a', '/reply ^1 b', '/reply c', '/reply ^9 d', '/reply'])).toBe(
      [
        '#general  alice: quiet now',
        '(Discoclaw did not answer)',
        '! The bot has written nothing here to reply to; /reply ^1 TEXT answers the newest message of all',
        '#general  alice: b (in reply to “quiet now”)',
        '#general  Discoclaw: echo to quiet now: b',
        '#general  alice: c (in reply to “echo to quiet now: b”)',
        '#general  Discoclaw: echo to echo to quiet now: b: c',
        '! ^9 is not a message here; ^1 is the newest, ^5 the oldest',
        '! Reply what? /reply TEXT, or /reply ^2 TEXT',
        '',
      ].join('\n'),
    );
  });

  it('are edited and deleted by their authors, and deleted by moderators', async () => {
    const bot = await runEchoBot();
    const lines = ['one', '/edit two', '/edit ^1 mine', '/as bob', '/edit ^2 his', '/delete ^2', '/delete'];
    expect(await chatOf([...lines, '/as alice', '/delete', '/delete ^1', '/delete it'], bot)).toBe(
      [
        '#general  alice: one',
        '#general  Discoclaw: echo: one',
        '#general  alice: two (edited)',
        '! Only Discoclaw can edit “echo: one”',
        'You are bob in #general.',
        '! Only alice can edit “two”',
        '! bob lacks ManageMessages in #general',
        '! bob has written nothing here yet',
        'You are alice in #general.',
        '#general  “two” was deleted',
        '#general  “echo: one” was deleted',
        '! /delete takes at most a count, as in /delete ^2',
        '',
      ].join('\n'),
    );
    expect(await bot.server.messages({ in: '#general' })).toEqual([]);
  });

  it('that one person sees alone take nothing', async () => {
    const lines = ['/reply ^1 a', '/delete ^1', '/menu "Echo this" ^1'];
    const text = await chatOf(['/echo stop', ...lines]);
    const refusal = '! Only you see “and that is all”: it takes no reactions and no replies, and has no menu';
    expect(text.split('\n').filter((line) => line.startsWith('!'))).toEqual(lines.map(() => refusal));
  });

  it('bring files of this machine', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-chat-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'my tea.txt');
    await writeFile(path, 'green');
    expect(await chatOf([`/upload "${path}" what is this?`, `/upload ${path}`, '/upload', '/slash'])).toBe(
      [
        '#general  alice: what is this?',
        '          [file my tea.txt, 5 bytes]',
        '#general  Discoclaw: echo: what is this? my tea.txt of 5 bytes',
        `! There is no file ${join(folder, 'my')}`,
        '! Which file? /upload FILE, and a text if you like',
        '! Which command? The bot has the commands /echo',
        '',
      ].join('\n'),
    );
  });
});

describe('the bot', () => {
  it('has its buttons clicked, and shows what comes of it', async () => {
    expect(await chatOf(['/click ▶', 'pages', '/click ◀', '/click [▶]', '/click ▶', '/click'])).toBe(
      [
        '! Nothing here is labelled "▶"',
        '#general  alice: pages',
        '#general  Discoclaw: page 1',
        '          (◀) [▶]',
        '! [◀] is disabled',
        '#general  alice clicked [▶]',
        '#general  Discoclaw: page 2',
        '          [◀] (▶)',
        '          (edited)',
        '! [▶] is disabled',
        '! Click what? /click LABEL, with the label as it is shown',
        '',
      ].join('\n'),
    );
  });
});
