import { expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { deferred } from '../support/deferred.ts';
import type { ModelServerRequest } from '../support/model-server.ts';
import { answeringBy, blocksIn, callsOf, systemIn, toldIn } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const quiet = {
  DISCOCLAW_SUMMARY_ENABLED: 'false',
  DISCOCLAW_REFLECTION_ENABLED: 'false',
  DISCOCLAW_DISCORD_ACTIONS_ENABLED: 'false',
};

function lengthOf(call: ModelServerRequest): number {
  return systemIn(call).length + toldIn(call).length;
}

async function reactionsOn(stage: Stage, { id, channelId }: MessageView): Promise<readonly string[]> {
  const all = await stage.sandbox.messages({ in: channelId });
  return Object.keys(all.find((message) => message.id === id)?.reactions ?? {});
}

it('answers everybody else while one person waits for answers in 60 channels [L1]', async () => {
  const thought = deferred<void>();
  await using stage = await openStage({
    environment: quiet,
    model: ({ messages = [] }) => {
      const text = (messages.at(-1)?.content ?? []).map((block) => block.text ?? '').join('');
      return {
        text: 'Understood.',
        ...(text.includes('<message from="alice"') ? { held: thought.promise } : {}),
      };
    },
  });
  for (let channel = 0; channel < 60; channel += 1) {
    const { id } = await stage.sandbox.addChannel({ name: `room${channel}` });
    await stage.sandbox.say({ as: 'alice', in: id, text: 'hello', mentionBot: true });
  }
  await expect.poll(() => stage.model.requests.length).toBeGreaterThanOrEqual(2);

  const answer = await stage.ask('bob', '#dev', 'hello');

  expect(answer.text).toBe('Understood.');
  expect(stage.model.requests.filter(({ raw }) => raw.includes('from=\\"alice\\"'))).toHaveLength(2);
  thought.resolve();
});

it('takes 8,000 characters of 100 messages that one person sends in a burst, marks the others, and never comes back to them [L1]', async () => {
  const thought = deferred<void>();
  await using stage = await openStage({
    environment: quiet,
    model: (_, index) => ({ text: 'Understood.', ...(index === 0 ? { held: thought.promise } : {}) }),
  });
  const say = (text: string) => stage.sandbox.say({ as: 'alice', in: '#general', text });
  await say('begin');
  await expect.poll(() => stage.model.requests.length).toBe(1);
  const burst: MessageView[] = [];
  for (let number = 1; number <= 100; number += 1)
    burst.push(await say(`burst${number} `.padEnd(1_900, 'x')));
  // Only then is no more on its way to the waiting that the answer opens.
  await expect
    .poll(() => stage.bot().output().split('a message was refused: too much is waiting').length - 1)
    .toBe(96);
  const [, , , , fifth] = burst;
  await expect.poll(() => fifth && reactionsOn(stage, fifth)).toContain('🚫');
  thought.resolve();
  await expect.poll(() => callsOf(stage, 'chat').length).toBe(2);
  const last = burst.at(-1);
  await stage.sandbox.waitForReply({ in: '#general', after: last?.id ?? '' });

  const [, call] = callsOf(stage, 'chat');
  expect(call && lengthOf(call)).toBeLessThanOrEqual(40_000);
  expect(call && toldIn(call).match(/burst\d+ /gu)).toEqual(['burst1 ', 'burst2 ', 'burst3 ', 'burst4 ']);
  const alice = stage.info.people['alice'];
  const log = await stage.readFile(`data/sessions/${last?.channelId}/${alice}/messages.jsonl`);
  expect(log.match(/burst\d+ /gu)).toHaveLength(4);

  await stage.stopBot();
  await stage.startBot();
  await stage.ask('alice', '#general', 'and now?');
  const [, , third, ...more] = callsOf(stage, 'chat');
  expect(more).toEqual([]);
  expect(third && toldIn(third)).not.toContain('burst5 ');
});

it('sends attached documents so often as their budget allows, and only the beginning of a long text, and says so [L1]', async () => {
  await using stage = await openStage({
    environment: quiet,
    model: answeringBy({
      chat: (_, index) =>
        index < 8 ? { toolUse: [{ name: 'recall_memory', input: { query: 'tea' } }] } : { text: 'Done.' },
    }),
  });
  const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(2_400_000)]).toString('base64');
  const said = await stage.sandbox.say({
    as: 'alice',
    in: 'dm',
    text: 'look',
    attachments: [
      { name: 'a.pdf', base64: pdf },
      { name: 'b.pdf', base64: pdf },
      { name: 'c.pdf', base64: pdf },
      { name: 'long.txt', text: 'A line of text.\n'.repeat(6_000) },
    ],
  });
  const answer = await stage.sandbox.waitForReply({
    in: said.channelId,
    after: said.id,
    containing: 'Done.',
  });

  const calls = callsOf(stage, 'chat');
  expect(calls).toHaveLength(9);
  const sent = calls.reduce((sum, { raw }) => sum + raw.length, 0);
  expect(sent).toBeLessThan(22_000_000);
  const [first, ...later] = calls;
  expect(first && blocksIn(first).some(({ text }) => text.includes('over 5 MB together'))).toBe(true);
  expect(first && lengthOf(first)).toBeLessThanOrEqual(40_000);
  expect(first && toldIn(first)).toContain('(cut: this is the beginning, ');
  expect(later.filter(({ raw }) => raw.includes('left out of this request')).length).toBeGreaterThan(4);
  expect(answer.text).toContain('c.pdf (not opened: over 5 MB together), long.txt (only its beginning)');
  expect(answer.text).toContain('too large to be looked at again');
});
