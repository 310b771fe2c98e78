import { describe, expect, it } from 'vitest';

import { unconditional } from '../../../src/core/writes.ts';
import { createOneTimeNotices } from '../../../src/memory/settings/one-time-notices.ts';
import { createErasures } from '../../../src/memory/settings/erasures.ts';
import { createPersonSettings } from '../../../src/memory/settings/person-settings.ts';
import { aliceId, bobId, generalId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { plainWrites } from '../../support/plain-writes.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

const at = '2026-01-15T10:00:00.000Z';
const copyFrom = '2026-01-15T09:00:00.000Z';
const clock = () => new Date(at);

function open({ store = new MemoryStore(), commandsEnabled = true } = {}) {
  const logger = recordingLogger();
  const writes = plainWrites(createErasures(store).at);
  const people = createPersonSettings({ store, writes, clock, logger });
  const notices = createOneTimeNotices({ people, commandsEnabled, clock, logger });
  const begin = (userId = aliceId) => notices.begin({ userId });
  const greet = async () => {
    const first = await begin();
    await first?.sent();
    first?.release();
  };
  return { ...notices, store, writes, people, logger, begin, greet };
}

describe('the first words [K12]', () => {
  it('come once ever, as soon as they were sent, also across restarts', async () => {
    const { store, begin } = open();
    const first = await begin();
    expect(first?.lines.join('\n')).toMatch(/^I am an AI, and I remember .*`!memory show`.*`!memory pause`/u);
    expect(await begin()).toBeUndefined();
    first?.release();
    const second = await begin();
    await second?.sent();
    second?.release();
    expect(await begin()).toBeUndefined();
    expect(await open({ store }).begin()).toBeUndefined();
  });

  it('name no command where there is none', async () => {
    expect((await open({ commandsEnabled: false }).begin())?.lines).toEqual([
      'I am an AI, and I remember what you tell me.',
    ]);
  });
});

describe('a file that was set aside [S5]', () => {
  it('is reported to its person once, across a restart', async () => {
    const before = open();
    await before.greet();
    before.note({ key: `users/${aliceId}/durable.json`, at, copyFrom });
    await before.idle();
    const { begin } = open({ store: before.store });
    expect((await begin(bobId))?.lines.join('\n')).not.toContain('durable.json');
    const told = await begin();
    expect(told?.lines).toEqual([
      '⚠️ A file of yours, `durable.json`, could not be read and was set aside <t:1768471200:f>. I use the copy from <t:1768467600:f>; the owner of this bot finds the file in `quarantine`.',
    ]);
    // While it is being told, and where it could not be sent.
    expect(await begin()).toBeUndefined();
    told?.release();
    const again = await begin();
    await again?.sent();
    again?.release();
    expect(await begin()).toBeUndefined();
    expect(await open({ store: before.store }).begin()).toBeUndefined();
  });

  it('is reported by its name, even without a copy, after the first words', async () => {
    const { note, begin, greet } = open();
    note({ key: `sessions/${generalId}/${aliceId}/state.json`, at });
    const told = await begin();
    expect(told?.lines.join('\n')).toMatch(/^I am an AI.*\n⚠️ .*`state\.json`.*There is no good copy/u);
    told?.release();
    await greet();
    expect(await begin()).toBeUndefined();
  });

  it('leaves nothing of somebody who has everything erased meanwhile [K11]', async () => {
    const { note, idle, store, writes, people, logger } = open();
    const file = { key: `users/${aliceId}/durable.json`, at };
    await writes.run(unconditional(aliceId), async () => {
      // It could not be read by the erasing itself.
      note(file);
      await people.layer.delete({ kind: 'person', userId: aliceId, sessions: [] });
      await createErasures(store).note(aliceId, at);
    });
    await idle();
    expect(await people.get(aliceId)).toEqual({ version: 1, erasedAt: at });
    expect(await store.list(`users/${aliceId}`)).toEqual([]);

    // What they are told after it is noted nowhere either.
    await people.dropSetAside(aliceId, [file]);
    expect(await store.list(`users/${aliceId}`)).toEqual([]);
    expect(logger.lines).toEqual([]);
  });
});
