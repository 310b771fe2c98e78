import { describe, expect, it, onTestFinished } from 'vitest';

import { NewerVersionError, StoreError } from '../../../src/core/errors.ts';
import type { Store } from '../../../src/core/store.ts';
import { plainWrites } from '../../support/plain-writes.ts';
import type { TurnContext } from '../../../src/core/turn-context.ts';
import { createPersonSettings } from '../../../src/memory/settings/person-settings.ts';
import { limits } from '../../../src/core/limits.ts';
import { aliceId, generalId, incoming, publicPlace } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { createTemporaryStores } from '../../storage/files/temporary-store.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { unconditional } from '../../../src/core/writes.ts';

const key = `users/${aliceId}/settings.json`;
const here = { channelId: generalId, userId: aliceId };
const elsewhere = { channelId: '200000000000000002', userId: aliceId };

/** So many minutes after ten o'clock. */
function at(minutes: number): string {
  return new Date(Date.parse('2026-01-15T10:00:00.000Z') + minutes * 60_000).toISOString();
}

function open(store: Store = new MemoryStore()) {
  const logger = recordingLogger();
  let now = at(0);
  const people = createPersonSettings({ store, writes: plainWrites(), clock: () => new Date(now), logger });
  return {
    people,
    store,
    logger,
    /** What may be kept of a message of Alice. */
    consent: (minutes: number, session = here, earlier: readonly number[] = []) => {
      now = at(minutes);
      const message = incoming({ at: now });
      const turn: TurnContext = {
        speaker: { id: aliceId, name: 'Alice', isOwner: false },
        place: { ...publicPlace, channelId: session.channelId },
        messages: [message],
        now: new Date(now),
        hasThirdPartyText: false,
        work: { userId: aliceId },
      };
      return people.consent(turn, () => Promise.resolve(earlier.map(at)));
    },
  };
}

describe('what a person lets the bot keep [K9]', () => {
  it('is nothing in a pause, in every place, until it is resumed; after a start too', async () => {
    const first = open();
    await first.people.pause(here, 'everywhere', at(0));
    for (const { people, consent } of [first, open(first.store)]) {
      expect(await consent(1, elsewhere)).toMatchObject({
        isStored: false,
        pause: { scope: 'everywhere', since: at(0) },
      });
      expect(await people.mayStore(elsewhere)).toBe(false);
    }
    expect(await first.people.resume(elsewhere, at(2))).toMatchObject({ scope: 'everywhere' });
    expect(await first.consent(3)).toMatchObject({ isStored: true });
    expect(await first.people.mayStore(here)).toBe(true);
  });

  it('is nothing of one conversation off the record, as long as there is no half hour of quiet', async () => {
    const { people, consent, store } = open();
    await people.pause(here, 'here', at(0));
    expect(await consent(1, elsewhere)).toMatchObject({ isStored: true });
    expect(await consent(29)).toMatchObject({ isStored: false, pause: { scope: 'here' } });
    // After a start, too, the message from then counts.
    const { consent: later, people: restarted } = open(store);
    expect(await later(58)).toMatchObject({ isStored: false, pause: { scope: 'here' } });
    expect(await later(88)).toMatchObject({ isStored: true });
    expect(await restarted.mayStore(here)).toBe(true);
    expect(await restarted.mayStore(here, new Date(at(30)))).toBe(false);
  });

  it('stays off the record over messages that the bot was not there for', async () => {
    const { people, consent } = open();
    await people.pause(here, 'here', at(0));
    expect(await consent(60, here, [20, 40])).toMatchObject({ isStored: false });
    expect(await consent(150, here, [130])).toMatchObject({ isStored: true });
  });

  it('leaves what was said in a pause unstored when it is handled after it, and out of history', async () => {
    const { people, consent } = open();
    await people.pause(here, 'here', at(0));
    await people.resume(here, at(10));
    const { wasPaused } = await consent(11);
    expect([-1, 0, 9, 10].map((minutes) => wasPaused?.(at(minutes)))).toEqual([false, true, true, false]);
    expect(await consent(5)).toMatchObject({ isStored: false });
    expect((await consent(5, elsewhere)).isStored).toBe(true);
  });

  it('remembers so many pauses, and of more leaves out what lies between the oldest', async () => {
    const { people, consent } = open();
    for (let pause = 0; pause <= limits.pastPauses; pause += 1) {
      await people.pause(here, 'here', at(pause * 10));
      await people.resume(here, at(pause * 10 + 1));
    }
    expect((await people.get(aliceId))?.pastPauses).toHaveLength(limits.pastPauses);
    const { wasPaused } = await consent(1000);
    expect(wasPaused?.(at(0))).toBe(true);
    expect(wasPaused?.(at(5))).toBe(true);
    expect(wasPaused?.(at(25))).toBe(false);
    expect(wasPaused?.(at(limits.pastPauses * 10))).toBe(true);
  });

  it('pauses once: what is paused already stays so from its beginning', async () => {
    const { people } = open();
    await people.pause(here, 'everywhere', at(0));
    expect(await people.pause(here, 'here', at(1))).toEqual({ scope: 'everywhere', since: at(0) });
    expect((await people.get(aliceId))?.pausedHere).toBeUndefined();
    expect(await people.resume(here, at(2))).toMatchObject({ scope: 'everywhere' });
    expect(await people.resume(here, at(3))).toBeUndefined();
  });

  it.each([new StoreError('no disk', key), new NewerVersionError(key, 2, 1)])(
    'is nothing where the settings cannot be read, and the log says so: %s',
    async (error) => {
      const { people, store, consent, logger } = open();
      store.read = async () => {
        throw error;
      };
      // Nobody has paused, and nobody is told so.
      const { wasPaused, ...rest } = await consent(0);
      expect(rest).toEqual({ isStored: false, mode: 'off', isUnreadable: true });
      // Any word of theirs may have been said in a pause.
      expect(wasPaused?.(at(0))).toBe(true);
      expect(await people.mayStore(here)).toBe(false);
      // What is taken in is not lost, and what is shown to others is not what may have been erased [K11].
      expect((await people.erasedBy(aliceId))(at(0))).toBe(false);
      expect((await people.erasedBy(aliceId, true))(at(0))).toBe(true);
      expect(logger.lines.some(({ data }) => data?.['userId'] === aliceId && data['error'] === error)).toBe(
        true,
      );
    },
  );

  it('is never again more than they last said, even where the file is damaged since [S4]', async () => {
    const stores = await createTemporaryStores();
    onTestFinished(() => stores.dispose());
    const { people, consent } = open(await stores.open());
    await people.set(unconditional(aliceId), { mode: 'auto' });
    await people.pause(here, 'everywhere', at(0));
    await stores.damage(key, '{ "version": 1, "pausedAt"');
    expect(await consent(1)).toMatchObject({ isStored: false });
  });

  it('is exported with the person, and erased with the whole person only [F5]', async () => {
    const { people, consent } = open();
    await people.set(unconditional(aliceId), { mode: 'off' });
    const exported = async () => {
      const texts: string[] = [];
      for await (const { path, text } of people.layer.export(aliceId)) texts.push(path, text);
      return texts.join('\n');
    };
    expect(await exported()).toMatch(/^settings\.json\n[\s\S]*"mode": "off"/u);
    await people.layer.delete({ kind: 'conversations', userId: aliceId, sessions: [here] });
    expect((await consent(0)).mode).toBe('off');
    await people.layer.delete({ kind: 'person', userId: aliceId, sessions: [here] });
    expect(await exported()).toBe('');
    expect(await people.mode(aliceId)).toBe('auto');
  });
});
