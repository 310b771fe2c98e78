import { expect, it } from 'vitest';

import { openStage } from './stage.ts';
import { answersTo } from './answers-to.ts';

it('goes on without Message Content when Discord takes it away, and with what is still delivered [G3c]', async () => {
  await using stage = await openStage({ model: () => ({ text: 'Here you are.' }) });
  const status = async (): Promise<string> => {
    const { answer } = await stage.sandbox.slash({ as: 'alice', in: '@alice', name: 'status' });
    return answer?.text ?? '';
  };
  expect(await status()).not.toContain('Message Content');
  expect((await stage.ask('bob', '#general', 'Do you read this?')).text).toBe('Here you are.');

  await stage.sandbox.allowIntents({ messageContent: false });
  await stage.sandbox.dropConnection({ how: 'invalidate' });
  await stage.bot().waitFor('Discord refuses the Message Content intent');
  await expect.poll(async () => (await stage.sandbox.sessions()).some((one) => one.isConnected)).toBe(true);
  const unread = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'And this?' });
  const said = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'I mean you', mentionBot: true });
  const answer = await stage.answerTo(said);
  expect(answer.replyTo).toBe(said.id);
  expect((await stage.ask('carol', 'dm', 'And in private?')).text).toBe('Here you are.');
  const reply = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'Thanks', replyTo: answer.id });
  await stage.sandbox.waitForReply({ in: '#general', after: reply.id });
  expect(await status()).toContain('without Message Content');
  expect(await answersTo(stage.sandbox, unread)).toEqual([]);
  expect(stage.model.requests.map((request) => JSON.stringify(request)).join('\n')).not.toContain(
    'And this?',
  );
  expect(await stage.stopBot()).toBe(0);

  await stage.startBot();
  await stage.bot().waitFor('Discord refuses the Message Content intent');
  expect((await stage.ask('carol', 'dm', 'And after a start?')).text).toBe('Here you are.');
});
