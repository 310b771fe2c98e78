import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import type { MessagesBody } from '../support/model-server.ts';
import { hasTerminals, startInTerminal } from './child.ts';
import { openStage } from './stage.ts';

const key = 'sk-ant-a-key-that-nobody-may-see';

/** Every call of the fast model fails in a way that quotes what it was asked, and so does an answer now and then. */
function failingModel(body: MessagesBody) {
  const asked = JSON.stringify(body.messages ?? []);
  if (body.model?.includes('haiku') === true) return { text: `I make no list of marmalade: ${asked}` };
  return asked.includes('break down') ? { status: 400 } : { text: 'Marmalade it is.' };
}

it('log lines at every level carry ids, but no words of people, no token and no key [E4]', async () => {
  await using stage = await openStage({
    isBuilt: true,
    model: failingModel,
    environment: {
      ANTHROPIC_API_KEY: key,
      DISCOCLAW_LOG_LEVEL: 'debug',
      DISCORD_AUTO_REPLY_CHANNEL_IDS: '',
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
    },
  });
  const { sandbox, info } = stage;
  await sandbox.say({ as: 'alice', in: '#general', text: 'Marmalade, said to nobody' });
  await stage.ask('alice', 'dm', 'I like marmalade');
  await stage.ask('alice', 'dm', '!memory remember I like marmalade');
  await stage.ask('alice', 'dm', '!memory forget marmalade');
  const said = await sandbox.say({ as: 'alice', in: 'dm', text: 'Marmalade again' });
  await stage.answerTo(said);
  const failed = await stage.ask('alice', 'dm', 'Please break down over marmalade');
  expect(failed.text).toContain('⚠️');
  await sandbox.edit({ message: said.id, text: 'No marmalade' });
  await sandbox.delete({ message: said.id });
  expect(await stage.stopBot()).toBe(0);

  const output = stage.bot().output();
  expect(output).toContain(said.channelId);
  expect(output).toContain('"level":"debug"');
  expect(output).toContain('a turn failed');
  expect(output).not.toMatch(/marmalade/iu);
  expect(output).not.toContain(info.token);
  expect(output).not.toContain(key);
});

it.skipIf(!hasTerminals)(
  'on a terminal they are lines that a person reads, without a stack [O5]',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-terminal-'));
    const { said, type, exited } = startInTerminal({
      folder,
      environment: { DISCORD_TOKEN: 'some-token', DISCORD_API_URL: 'http://127.0.0.1:9/api' },
    });
    await expect
      .poll(said)
      .toMatch(/\d\d:\d\d:\d\d\S* .*warn .*Discord cannot be reached: check the network/u);
    type('\u0003');
    await exited;
    expect(said()).not.toMatch(/\{"level"|\n\s+at /u);
    await rm(folder, { recursive: true, force: true });
  },
);
