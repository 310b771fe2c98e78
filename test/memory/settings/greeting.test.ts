import { describe, expect, it } from 'vitest';

import { plainWrites } from '../../support/plain-writes.ts';
import { createGreeting } from '../../../src/memory/settings/greeting.ts';
import { createPersonSettings } from '../../../src/memory/settings/person-settings.ts';
import { generalId, aliceId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { openSessions } from '../../support/sessions.ts';

const clock = () => new Date('2026-01-15T10:00:00Z');

function open(store = new MemoryStore(), commandsEnabled = true) {
  const sessions = openSessions(store);
  const logger = recordingLogger();
  const settings = createPersonSettings({ store, writes: plainWrites(), clock, logger });
  const greeting = createGreeting({ settings, store, log: sessions.log, commandsEnabled, clock, logger });
  const asked = { userId: aliceId, channelId: generalId, messageIds: [] as string[] };
  return {
    store,
    sessions,
    begin: (messageIds = asked.messageIds) =>
      greeting.begin({ ...asked, messageIds, startedAfter: undefined }),
  };
}

describe('the first words [K12]', () => {
  it('come once ever, as soon as they were sent, also across restarts', async () => {
    const { store, begin } = open();
    const first = await begin();
    expect(first?.line).toMatch(/^-# I am an AI, and I remember .*`!memory show`.*`!memory pause`/u);
    expect(await begin()).toBeUndefined();
    first?.release();
    const second = await begin();
    await second?.sent();
    second?.release();
    expect(await begin()).toBeUndefined();
    expect(await open(store).begin()).toBeUndefined();
  });

  it('name no command where there is none', async () => {
    expect((await open(new MemoryStore(), false).begin())?.line).toBe(
      '-# I am an AI, and I remember what you tell me.',
    );
  });

  it('are not for people of whom there is anything from before', async () => {
    const withItems = new MemoryStore();
    await withItems.writeText(`users/${aliceId}/notebook/USER.md`, 'Alice');
    expect(await open(withItems).begin()).toBeUndefined();

    const withLog = open();
    const turn = withLog.sessions.contextOf(['hello']);
    await withLog.sessions.log.recordUser(turn);
    expect(await withLog.begin()).toBeUndefined();
  });

  it('are for people of whom there is only the message that is answered, also when that failed', async () => {
    const { store, sessions, begin } = open();
    const turn = sessions.contextOf(['hello']);
    await sessions.log.recordUser(turn);
    const words = await begin(turn.messages.map(({ id }) => id));
    expect(words).toBeDefined();
    words?.release();
    expect(await open(store).begin(['400000000000000999'])).toBeDefined();
  });
});
