import { describe, expect, it, vi } from 'vitest';

import { plainWrites } from '../../support/plain-writes.ts';
import { createPersonSettings } from '../../../src/memory/settings/person-settings.ts';
import { createSetAsideLines } from '../../../src/memory/settings/set-aside.ts';
import { aliceId, bobId, generalId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { beginningNow } from '../../../src/core/writes.ts';

const at = '2026-01-15T10:00:00.000Z';
const copyFrom = '2026-01-15T09:00:00.000Z';

const clock = () => new Date(at);

function open(store = new MemoryStore()) {
  const logger = recordingLogger();
  const people = createPersonSettings({ store, writes: plainWrites(), clock, logger });
  return createSetAsideLines({ people, logger });
}

describe('a file that was set aside [S5]', () => {
  it('is reported to its person once, across a restart', async () => {
    const store = new MemoryStore();
    const before = open(store);
    before.note({ key: `users/${aliceId}/durable.json`, at, copyFrom });
    await before.idle();
    const lines = open(store);
    expect(await lines.under(bobId, undefined)).toBeUndefined();
    const told = await lines.under(aliceId, undefined);
    expect(told?.line).toBe(
      '-# ⚠️ A file of yours, `durable.json`, could not be read and was set aside <t:1768471200:f>. I use the copy from <t:1768467600:f>; the owner of this bot finds the file in `quarantine`.',
    );
    // While it is being told, and where it could not be sent.
    expect(await lines.under(aliceId, undefined)).toBeUndefined();
    told?.release();
    const again = await lines.under(aliceId, undefined);
    await again?.sent();
    again?.release();
    expect(await lines.under(aliceId, undefined)).toBeUndefined();
    expect(await open(store).under(aliceId, undefined)).toBeUndefined();
  });

  it('is reported by its name, even without a copy, after the first words', async () => {
    const lines = open();
    lines.note({ key: `sessions/${generalId}/${aliceId}/state.json`, at });
    const firstWords = {
      line: '-# I am an AI.',
      sent: vi.fn<() => Promise<void>>(() => Promise.resolve()),
      release: vi.fn<() => void>(),
    };
    const told = await lines.under(aliceId, firstWords);
    expect(told?.line).toMatch(/^-# I am an AI\.\n-# ⚠️ .*`state\.json`.*There is no good copy/u);
    await told?.sent();
    told?.release();
    expect(firstWords.sent).toHaveBeenCalledOnce();
    expect(firstWords.release).toHaveBeenCalledOnce();
  });

  it('leaves nothing of somebody who has everything erased meanwhile [K11]', async () => {
    const store = new MemoryStore();
    const writes = plainWrites((userId) => people.erasedAt(userId));
    const logger = recordingLogger();
    const people = createPersonSettings({ store, writes, clock, logger });
    const lines = createSetAsideLines({ people, logger });
    const file = { key: `users/${aliceId}/durable.json`, at };
    const erase = () =>
      writes.run(beginningNow(aliceId), async () => {
        // It could not be read by the erasing itself.
        lines.note(file);
        await people.layer.erase({ userId: aliceId, sessions: [], isWhole: true });
        await people.noteErased(aliceId, at);
      });
    await erase();
    await lines.idle();
    expect(await lines.under(aliceId, undefined)).toBeUndefined();
    expect(await people.get(aliceId)).toEqual({ version: 1, erasedAt: at });
    expect(await store.list(`users/${aliceId}`)).toEqual([]);

    // What they are told after it is noted nowhere either.
    await people.toldSetAside(aliceId, [file]);
    expect(await store.list(`users/${aliceId}`)).toEqual([]);
    expect(logger.lines).toEqual([]);
  });

  it('that belongs to nobody is reported to nobody', async () => {
    const lines = open();
    lines.note({ key: 'usage.json', at });
    lines.note({ key: `guilds/${generalId}/settings.json`, at });
    await lines.idle();
    expect(await lines.under(aliceId, undefined)).toBeUndefined();
  });
});
