import { describe, expect, it } from 'vitest';

import { openStage } from './stage.ts';

describe('an owner chooses the model in chat [M10]', () => {
  it('from a list of the server, by its name, without a restart and beyond one; the fallback and the status follow', async () => {
    const isDown = new Set<string | undefined>();
    await using stage = await openStage({
      model: ({ model }) => (isDown.has(model) ? { status: 404 } : { text: `It is ${model}.` }),
      models: () => ({ data: [{ id: 'main-model' }, { id: 'new-model' }, { id: 'other-model' }] }),
      environment: {
        DISCOCLAW_MODEL: 'main-model',
        DISCOCLAW_FALLBACK_MODEL: 'other-model',
        DISCOCLAW_SUMMARY_ENABLED: 'false',
      },
    });
    const owner = stage.info.owner.name;
    const give = async (line: string, as = owner) => (await stage.ask(as, 'dm', line)).text;
    expect(await give('!settings model')).toBe(
      "I answer with main-model (as configured).\nMy model's server has: main-model, new-model, other-model\nChoose one with `!settings model <name>`; `default` goes back to the configured one.",
    );
    expect(await give('!settings model new-modle')).toContain(
      'has no new-modle, so nothing was changed. Did you mean new-model, ',
    );
    expect(await give('!settings model new-model', 'bob')).toContain('Only my owner');
    expect(await give('Who?')).toBe('It is main-model.');

    const { answer } = await stage.sandbox.slash({
      as: owner,
      in: '#general',
      name: 'settings',
      subcommand: 'model',
      options: { name: 'new-model' },
    });
    expect(answer?.text).toContain('Done: from the next message on I answer with new-model, everywhere.');
    expect((await stage.ask('bob', '#dev', 'Who?')).text).toBe('It is new-model.');
    expect(await give('!status')).toContain('new-model (fast: haiku)');
    const privacy = { as: 'bob', in: 'dm', name: 'memory', subcommand: 'privacy', followUps: 1 };
    const { answer: facts, followUps } = await stage.sandbox.slash(privacy);
    expect([facts, ...followUps].map((each) => each?.text).join('')).toContain(
      '(new-model, other-model, haiku)',
    );
    await stage.stopBot();
    await stage.startBot();
    expect(await give('Who?')).toBe('It is new-model.');
    isDown.add('new-model');
    expect(await give('Who?')).toBe(
      'It is other-model.\n-# 🔁 Answered by other-model: new-model is unknown to its server',
    );
    expect(await give('!settings model default')).toContain('I answer with main-model again');
    expect(await give('Who?')).toBe('It is main-model.');
  });
});
