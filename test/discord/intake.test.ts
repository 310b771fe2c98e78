import { describe, expect, it } from 'vitest';

import type { AnswerMode } from '../../src/core/chat.ts';
import type { IntakeOptions } from '../../src/discord/intake.ts';
import { deferred } from '../support/deferred.ts';
import { runGateway, textsOf } from './support/gateway-harness.ts';

const mentionsOnly: IntakeOptions['answerModes'] = {
  answerMode: async () => 'mentions',
  recentAnswerMode: () => 'mentions',
  mayHaveChannelMemory: () => false,
};

describe('a message that is not for the bot', () => {
  it('waits for nothing: neither for a file, nor for what a kill left undone in its channel', async () => {
    const never = deferred<undefined>();
    const { server, handlers, gateway, history, settled, ids } = await runGateway({
      answerModes: { ...mentionsOnly, answerMode: () => never.promise },
      recover: (channelId) => (channelId === ids['dev'] ? Promise.resolve() : never.promise),
      settles: false,
    });
    await server.say({ as: 'bob', in: '#general', text: 'Good morning.' });
    await server.say({ as: 'bob', in: '#general', text: 'Is anybody there?' });
    await settled();
    expect(handlers.texts).toEqual([]);
    expect(history.keeps(ids['general'] ?? '')).toBe(false);
    never.resolve(undefined);
    await gateway.stopIntake();
  });

  it('is judged by the settings at its arrival, even if they were just edited by hand [S5]', async () => {
    let mode: AnswerMode = 'mentions';
    const { server, handlers, settled } = await runGateway({
      answerModes: {
        answerMode: async () => mode,
        recentAnswerMode: () => 'unknown',
        mayHaveChannelMemory: () => false,
      },
    });
    const say = async (text: string) => {
      await server.say({ as: 'bob', in: '#general', text });
      await settled();
    };
    await say('one');
    mode = 'everything';
    await say('two');
    await say('three');
    mode = 'mentions';
    await say('four');
    expect(handlers.texts).toEqual(['two', 'three']);
  });

  it('reads settings once in a burst of messages, not once a message', async () => {
    let reads = 0;
    const { server, handlers, settled } = await runGateway({
      answerModes: {
        ...mentionsOnly,
        async answerMode() {
          reads += 1;
          return 'mentions';
        },
        recentAnswerMode: () => (reads === 0 ? 'unknown' : 'mentions'),
      },
    });
    const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    await Promise.all(texts.map((text) => server.say({ as: 'bob', in: '#general', text })));
    await settled();
    expect(handlers.texts).toEqual([]);
    expect(reads).toBe(1);
  });

  it('is in history if the bot was addressed', async () => {
    const { server, history, settled, ids } = await runGateway({ answerModes: mentionsOnly });
    const general = ids['general'] ?? '';
    await server.say({ as: 'bob', in: '#general', text: 'Hello.', mentionBot: true });
    await settled();
    await history.recent(general, 10);
    await server.say({ as: 'carol', in: '#general', text: 'Good morning.' });
    await settled();
    expect(textsOf(await history.recent(general, 10)).at(-1)).toBe('Good morning.');
    expect(await server.requests({ method: 'GET', path: `/channels/${general}/messages` })).toHaveLength(1);
  });

  it('is reported as talk where channel memory may be on, if a person with access wrote it and it is not a command [B1]', async () => {
    let isOn = true;
    const { server, handlers, settled } = await runGateway({
      answerModes: { ...mentionsOnly, mayHaveChannelMemory: () => isOn },
      access: {
        access: 'allowlist',
        allowedUserIds: ['140000000000000002'],
        channelIds: ['120000000000000001'],
      },
    });
    const { id } = await server.say({ as: 'bob', in: '#general', text: 'We ship on Friday.' });
    const asked = await server.say({ as: 'bob', in: '#general', text: 'Do you hear?', mentionBot: true });
    await server.say({ as: 'carol', in: '#general', text: 'And I?' });
    await server.say({ as: 'bob', in: '#dev', text: 'And here?' });
    await server.say({ as: 'bob', in: '#general', text: '!memory show' });
    await server.say({ as: 'bob', in: '@bob', text: 'Only you.' });
    await settled();
    isOn = false;
    await server.say({ as: 'bob', in: '#general', text: 'We ship on Monday.' });
    await settled();
    expect(handlers.talk).toEqual([id, asked.id]);
  });
});
