import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { laterBy } from './later.ts';
import { callsOf, newestOf } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const dayMs = 24 * 60 * 60_000;
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ isBuilt: true });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const fromBot = async (place: string, as?: string) =>
  (await stage.sandbox.messages({ in: place, from: 'bot', ...(as !== undefined && { as }) })).map(
    ({ text }) => text,
  );

describe('a reminder [RM1]', () => {
  it('is refused with an example where nobody can tell when that is', async () => {
    expect((await stage.ask('alice', '#general', '!remind sometime: call mum')).text).toContain(
      '`tomorrow at 9:00`',
    );
    expect((await stage.ask('alice', '@alice', '!reminders')).text).toContain('No reminders');
  });

  it('comes after a start where it fell due meanwhile, to its person, once, and can be put off [RM3][RM4][RM5]', async () => {
    const set = await stage.ask('alice', '#general', '!remind in 23 hours: call mum');
    expect(set.text).toMatch(/^⏰ I will remind you <t:\d+:F> \(<t:\d+:R>\): "call mum"/u);
    await stage.restart(laterBy(dayMs));
    await expect
      .poll(() => fromBot('#general'))
      .toContainEqual(expect.stringContaining('call mum\n-# It was due'));
    const [came] = (await stage.sandbox.messages({ in: '#general', from: 'bot' })).slice(-1);
    expect(came?.text).toMatch(/^<@\d+> ⏰ call mum/u);
    expect((await stage.press('alice', came?.id ?? '', 'Tomorrow')).text).toContain('It comes <t:');
    await stage.restart(laterBy(dayMs));
    expect((await stage.ask('alice', '@alice', '!reminders')).text).toContain('1 reminder:');
    expect((await fromBot('#general')).filter((text) => text.includes('⏰ call mum'))).toHaveLength(1);
  });
});

describe('what a model sees of reminders', () => {
  it('stands behind the last cache mark, is nothing where there are none, and no model is called when one comes [RM4] [RM5]', async () => {
    await using own = await openStage({ isBuilt: true, model: () => ({ text: 'Understood.' }) });
    const mark = /,"cache_control":\{[^}]*\}/gu;
    const asked = async (as: string): Promise<string> => {
      await own.ask(as, `@${as}`, 'What is new?');
      return newestOf(own, 'chat').raw;
    };
    const before = await asked('bob');
    const cached = before.slice(0, before.lastIndexOf('"cache_control"')).replaceAll(mark, '');
    await own.sandbox.slash({
      as: 'bob',
      in: '@bob',
      name: 'remind',
      options: { when: 'in 23 hours', what: 'call mum' },
    });
    const after = (await asked('bob')).replaceAll(mark, '');
    expect(after.slice(0, cached.length - 1)).toBe(cached.slice(0, -1));
    expect(after.slice(cached.length)).toContain('call mum');
    expect(await asked('carol')).not.toContain('asked to be reminded of');
    const calls = callsOf(own, 'chat').length;
    await own.restart(laterBy(dayMs));
    await expect
      .poll(async () => (await own.sandbox.messages({ in: '@bob', as: 'bob', from: 'bot' })).at(-1)?.text)
      .toContain('⏰ call mum');
    expect(callsOf(own, 'chat')).toHaveLength(calls);
  });
});
