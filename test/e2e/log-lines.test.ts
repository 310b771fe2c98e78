import { expect, it } from 'vitest';

import type { MessagesBody } from '../support/model-server.ts';
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
