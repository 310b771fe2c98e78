import { PassThrough } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { runTerminalChat } from '../../../src/sandbox/terminal/run-terminal-chat.ts';
import { readLines } from '../../../src/sandbox/terminal/terminal-mode.ts';
import { chatOf, demonstration, facts, inFreshWorld, textOf } from '../support/chat-of.ts';
import { runEchoBot, type EchoBot } from '../support/echo-bot.ts';
import { RecordingOutput } from '../support/recording-output.ts';

const { signal: forever } = new AbortController();

describe('piped lines', () => {
  it('are messages, each followed by all that the bot wrote, as it looks in the end', async () => {
    expect(await chatOf(['hello', '', '  twice  ', 'slowly'])).toBe(
      [
        '#general  alice: hello',
        '#general  Discoclaw: echo: hello',
        '#general  alice: twice',
        '#general  Discoclaw: echo: twice',
        '#general  Discoclaw: again,',
        '          for @alice',
        '#general  alice: slowly',
        '#general  Discoclaw: so it is: slowly',
        '',
      ].join('\n'),
    );
  });

  it('speak as others and elsewhere, and everybody has a DM of their own', async () => {
    const bot = await runEchoBot();
    expect(await chatOf(['/go @dm', 'one', '/as Bob', 'two', '/go #secret', 'three'], bot)).toBe(
      [
        'You are alice in @dm.',
        '@dm  alice: one',
        '@dm  Discoclaw: echo: one',
        'You are bob in @dm.',
        '@dm  bob: two',
        '@dm  Discoclaw: echo: two',
        'You are bob in #secret.',
        '#secret  bob: three',
        '#secret  Discoclaw: echo: three',
        '',
      ].join('\n'),
    );
    expect((await bot.server.messages({ in: '@bob', from: 'people' })).map(({ text }) => text)).toEqual([
      'two',
    ]);
  });

  it('never say in another place what somebody may not say in theirs', async () => {
    const bot = await runEchoBot();
    const text = await chatOf(['/go #secret', '/as carol', 'what is here?', '/go #dev', 'hi'], bot);
    expect(text).toContain('! carol cannot see #secret; /go somewhere else\n! carol cannot see #secret\n');
    expect(text).toContain('#dev  carol: hi\n');
    const { channels } = await bot.server.info();
    const said = await Promise.all(
      Object.values(channels).map((id) => bot.server.messages({ in: id, from: 'people' })),
    );
    expect(said.flat().map((message) => message.text)).toEqual(['hi']);
  });

  it('tell what there is when a command, person or place is unknown, and go on', async () => {
    const text = await chatOf(['/dance', '/as dave', '/as', '/go #attic', '/go', ' /dance', '@discoclaw hi']);
    expect(text).toBe(
      [
        '! There is no /dance; there are /as, /go, /demo, /reply, /edit, /delete, /upload, /slash, /menu, /click, /help, /quit, /echo. To say this line, put a space before it.',
        '! There is nobody "dave" to speak as; there are alice, bob, carol',
        '! As whom? /as NAME; there are alice, bob, carol',
        '! There is no channel "#attic"; there are #general, #dev, #secret, dm',
        '! Where to? /go #channel, /go @dm, or /go and the name of a thread',
        '#general  alice: /dance',
        '#general  Discoclaw: echo: /dance',
        '#general  alice: @discoclaw hi',
        '#general  Discoclaw: echo: @Discoclaw hi',
        '',
      ].join('\n'),
    );
  });

  it('play the demonstration at /demo in another world, and go on where they were', async () => {
    const bot = await runEchoBot();
    const text = await chatOf(['/go #dev', 'mine', '/demo', 'still mine'], bot);
    expect(text).toContain('\nAlice says something in #dev …\n#dev  alice: I prefer Rust');
    expect(text).not.toContain('That was it.');
    expect(text).toMatch(
      /Nothing of this is kept\. You are alice in #dev\.\n#dev {2}alice: still mine\n#dev {2}Discoclaw: echo: still mine\n$/u,
    );
    const { channels } = await bot.server.info();
    const said = await Promise.all(
      Object.values(channels).map((id) => bot.server.messages({ in: id, from: 'people' })),
    );
    expect(said.flat().map((message) => message.text)).toEqual(['mine', 'still mine']);
  });

  it('go on when the bot has lost its connection, and say so', async () => {
    const bot = await runEchoBot();
    await bot.client.destroy();
    await bot.server.dropConnection({ resumable: false });
    const text = await chatOf(['one', '/help'], bot);
    expect(text).toContain('#general  alice: one\n! ');
    expect(text).toContain('(Discoclaw did not answer)\nWhat you write is said by alice');
  });
});

describe('the end', () => {
  it('comes when nobody reads the output any more', async () => {
    const bot = await runEchoBot();
    const output = new RecordingOutput();
    const running = runTerminalChat({
      mode: { kind: 'lines', lines: readLines(new PassThrough()) },
      sandbox: bot.server,
      output,
      settled: bot.settled,
      facts,
      demonstration,
      inFreshWorld,
      suggestions: [],
      signal: forever,
    });
    await output.toContain('/somewhere/data');
    output.destroy(new Error('EPIPE'));
    await expect(running).resolves.toBeUndefined();
  });
});

describe('the demonstration', () => {
  it('goes where its lines are said, shows what comes of them, and says when it is over', async () => {
    const bot = await runEchoBot();
    const text = await textOf({ kind: 'demonstration' }, bot);
    const spoken = text.split('\n').filter((line) => line.includes('  alice: '));
    expect(spoken).toEqual([
      '#dev  alice: I prefer Rust over Go for command line tools',
      '#general  alice: when is the party?',
      '@dm  alice: when is the party?',
      '#dev  alice: I always drink green tea while I debug',
      '#general  alice: /echo say tea',
    ]);
    expect(text).toContain('\n\nAlice says something in #dev …\n');
    expect(text.match(/Discoclaw: echo: /gu)).toHaveLength(spoken.length - 1);
    expect(text).toContain(
      [
        '#dev  alice chose “Echo this” for “I always drink green tea while I debug”',
        '#dev  Discoclaw: I always drink green tea while I debug (only you see this)',
      ].join('\n'),
    );
    expect(text).not.toContain('! ');
    expect(text).toMatch(/\n\nThat was it\.\n$/u);
  });
});

interface Terminal {
  readonly input: PassThrough;
  readonly output: RecordingOutput;
  readonly ended: Promise<void>;
}

function sitDown(bot: EchoBot): Terminal {
  const input = new PassThrough();
  const output = new RecordingOutput();
  const ended = runTerminalChat({
    mode: { kind: 'interactive', input },
    sandbox: bot.server,
    output,
    settled: bot.settled,
    facts,
    demonstration,
    inFreshWorld,
    suggestions: [],
    signal: forever,
  });
  return { input, output, ended };
}

describe('a person at a terminal', () => {
  it('sees that the bot types, and an answer once it is whole', async () => {
    const bot = await runEchoBot();
    const { input, output, ended } = sitDown(bot);
    await output.toContain('alice in #general> ');
    const channel = await bot.client.channels.fetch('120000000000000001');
    if (!channel?.isSendable()) throw new Error('No channel to send to');
    await channel.sendTyping();
    await output.toContain('(Discoclaw is typing…) alice in #general> ');
    input.write('slowly\r');
    await output.toContain('#general  Discoclaw: so it is: slowly\n');
    input.write('/quit\r');
    await expect(ended).resolves.toBeUndefined();
    expect(output.text.match(/Discoclaw: so/gu)).toHaveLength(1);
    expect(output.text).not.toContain('👀');
    expect(output.text).not.toContain('(edited)');
  });

  it('leaves by Ctrl-C and by Ctrl-D', async () => {
    const bot = await runEchoBot();
    for (const key of ['\u0003', '\u0004']) {
      const { input, output, ended } = sitDown(bot);
      await output.toContain('alice in #general> ');
      input.write(key);
      await expect(ended).resolves.toBeUndefined();
      expect(output.text.endsWith('\n')).toBe(true);
    }
  });
});
