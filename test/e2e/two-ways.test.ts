import { afterAll, describe, expect, it } from 'vitest';

import { subcommandsOf } from '../../src/sandbox/people/slash-command.ts';
import { command, ways } from './memory-talk.ts';
import { openStage } from './stage.ts';

const stage = await openStage();

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('the two ways to every memory command [K0]', () => {
  it('are the same commands, by name', async () => {
    const help = await command(stage, '!memory', 'alice', 'dm', 'help');
    const named = new Set([...help.matchAll(/^`(\w+)/gmu)].map(([, name = '']) => name));
    const memory = (await stage.sandbox.commands()).find(({ name }) => name === 'memory');
    const bySlash = new Set(memory === undefined ? [] : subcommandsOf(memory).map(({ name }) => name));
    bySlash.delete('help');
    expect(bySlash).toEqual(named);
  });

  it.each(['show', 'search bees', 'search submarines', 'notebook ..', 'mode', 'privacy', 'share ffffffff'])(
    'give the same data: %s',
    async (words) => {
      await command(stage, '/memory', 'alice', 'dm', 'remember I keep bees');
      const [written, slash] = [
        await command(stage, ways[0], 'alice', 'dm', words),
        await command(stage, ways[1], 'alice', 'dm', words),
      ];
      expect(slash).toBe(written);
    },
  );

  it.each(['share', 'hide', 'pin', 'why', 'history', 'forget', 'undo'])(
    '%s treats somebody else’s id like an unknown one',
    async (name) => {
      const remembered = await command(stage, '/memory', 'bob', 'dm', `remember I own drum ${name}`);
      const id = /\bid ([0-9a-f]{8})\b/u.exec(remembered)?.[1] ?? 'no id';
      const answers = [id, 'ffffffff'].map((each) =>
        command(stage, '/memory', 'alice', 'dm', `${name} ${each}`),
      );
      const [theirs = '', unknown] = await Promise.all(answers);
      expect(theirs.replaceAll(id, 'ffffffff')).toBe(unknown);
    },
  );
});
