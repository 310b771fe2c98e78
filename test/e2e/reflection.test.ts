import { describe, expect, it } from 'vitest';

import { openStage } from './stage.ts';

const atOnce = { DISCOCLAW_REFLECTION_IDLE_MINUTES: '0' };

describe('a look back on a conversation [A3]', () => {
  it('keeps in a person’s notebook what they told of themselves in a DM, and uses it there', async () => {
    await using stage = await openStage({ environment: atOnce });
    for (const text of ['my name is Bob', 'I live in Lisbon', 'tell me a joke'])
      await stage.ask('bob', '@bob', text);
    const facts = `data/users/${stage.info.people['bob'] ?? ''}/notebook/facts/user.md`;
    await expect
      .poll(() => stage.readFile(facts).catch(() => ''))
      .toMatch(/^# User\n> Summary: .*\n\n- My name is Bob\n- Lives in Lisbon\n$/u);
  });

  it('keeps nothing of a channel in a notebook', async () => {
    await using stage = await openStage({ environment: atOnce });
    for (const text of ['my name is Bob', 'I live in Lisbon', 'tell me a joke'])
      await stage.ask('bob', '#general', text);
    await stage.stopBot();
    await expect(
      stage.readFile(`data/users/${stage.info.people['bob'] ?? ''}/notebook/facts/user.md`),
    ).rejects.toThrow('ENOENT');
  });
});
