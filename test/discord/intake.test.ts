import { describe, expect, it } from 'vitest';

import type { AnswerMode } from '../../src/core/channels.ts';
import type { IntakeOptions } from '../../src/discord/intake.ts';
import { deferred } from '../support/deferred.ts';
import { runGateway } from './support/gateway-harness.ts';

const mentionsOnly: IntakeOptions['answerModes'] = {
  answerMode: async () => 'mentions',
  recentAnswerMode: () => 'mentions',
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
});
