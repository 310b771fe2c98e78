import { describe, expect, it, vi } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import type { MemoryNotice } from '../../src/core/tool.ts';
import type { PersonSettings } from '../../src/memory/settings/person-settings.ts';
import { createChannelJournal } from '../../src/turn/journal.ts';
import { createLateNotices, createMemoryNotices } from '../../src/turn/notices.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { aliceId, incoming, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { silent } from '../support/sessions.ts';

const stored: MemoryNotice = {
  line: '💾 Remembered: "Likes tea"',
  bareLine: '💾 Remembered: 1 item',
  buttons: [{ label: 'Undo', line: 'memory undo 1a' }],
  isQuiet: true,
};
const forgotten: MemoryNotice = {
  line: '🗑️ Forgotten: 2 items',
  bareLine: '🗑️ Forgotten: 2 items',
  buttons: [{ label: 'Undo', line: 'memory undo 2b' }],
};
const noted: MemoryNotice = { line: '📝 Noted in `a.md`', bareLine: '', buttons: [], isQuiet: true };

interface Scene {
  readonly settings?: Partial<PersonSettings>;
  readonly commandsEnabled?: boolean;
  readonly hadNoTools?: boolean;
  readonly mayName?: boolean;
  readonly isBot?: true;
}

function noticesFor({ settings, commandsEnabled = true }: Scene) {
  const told = createMemoryNotices({
    people: { latest: () => Promise.resolve({ version: 1, ...settings }) },
    commandsEnabled,
  });
  return (notices: readonly MemoryNotice[], { hadNoTools, mayName = true, isBot }: Scene) =>
    told.under(
      {
        speaker: { id: aliceId, name: 'Alice', isOwner: false, isBot },
        place: publicPlace,
        messages: [incoming({ text: 'hello' })],
        now: new Date(0),
        hasThirdPartyText: false,
      },
      notices,
      { hadNoTools, mayName: () => Promise.resolve(mayName) },
    );
}

function under(notices: readonly MemoryNotice[], scene: Scene = {}) {
  return noticesFor(scene)(notices, scene);
}

const labels = (told: Awaited<ReturnType<typeof under>>) => told.buttons.map(({ label }) => label);

describe('what is told under an answer [K6]', () => {
  it('is what was done, one line a change, numbered with its buttons where there are several', async () => {
    expect(await under([stored])).toEqual({ lines: [stored.line], buttons: stored.buttons });
    const several = await under([stored, noted, noted, forgotten]);
    expect(several.lines).toEqual([`1. ${stored.line}`, `2. ${noted.line}`, `3. ${forgotten.line}`]);
    expect(labels(several)).toEqual(['Undo 1', 'Undo 3']);
  });

  it('leaves out with notices off what was stored, and nothing that was changed or removed', async () => {
    const told = await under([stored, noted, forgotten], { settings: { notices: 'off' } });
    expect(told).toEqual({ lines: [forgotten.line], buttons: forgotten.buttons });
  });

  it('says once a conversation that a model without tools stores nothing, and always has the panel’s button [M9]', async () => {
    const told = noticesFor({});
    const warning =
      'The model that I use has no tools: saying it in plain words stores and changes nothing · `!memory remember <text>` stores it';
    expect(await told([], { hadNoTools: true })).toMatchObject({
      lines: [warning],
      buttons: [{ label: 'Memory', line: 'memory panel' }],
    });
    const again = await told([], { hadNoTools: true });
    expect(again.lines).toEqual([]);
    expect(labels(again)).toEqual(['Memory']);
    expect(await told([], {})).toEqual({ lines: [], buttons: [] });
    expect(await under([], { hadNoTools: true, commandsEnabled: false })).toEqual({
      lines: ['The model that I use has no tools: saying it in plain words stores and changes nothing'],
      buttons: [],
    });
  });

  it('names nothing once others read along', async () => {
    expect((await under([stored], { mayName: false })).lines).toEqual([stored.bareLine]);
  });

  it('tells eight changes one by one, and how many more there were', async () => {
    const many = Array.from({ length: 11 }, (_, index) => ({ ...stored, line: `stored ${index}` }));
    const { lines, buttons } = await under(many);
    expect(lines).toHaveLength(9);
    expect(lines.at(-1)).toContain('3 more changes');
    expect(buttons).toHaveLength(8);
  });

  it('has no buttons where there are no commands, and nothing for another bot', async () => {
    expect(await under([stored], { commandsEnabled: false })).toEqual({ lines: [stored.line], buttons: [] });
    expect(await under([stored], { isBot: true })).toEqual({ lines: [], buttons: [] });
  });
});

function late() {
  const steps: string[] = [];
  let now = 0;
  const notices = createLateNotices({
    memoryNotices: {
      under: () => Promise.resolve({ lines: ['stored'], buttons: [] }),
      why: () => Promise.resolve([]),
    },
    journal: createChannelJournal({ store: new MemoryStore(), changes: new RecentChanges() }),
    isNamed: () => Promise.resolve(true),
    replies: fakeReplies({ note: (step) => steps.push(step) }),
    presentPlace: (place) => Promise.resolve(place),
    clock: () => new Date(now),
    logger: silent,
  });
  return {
    steps,
    answered: (id: string, minutes: number): void => {
      now = minutes * 60_000;
      const messages = [incoming({ id })];
      const speaker = { id: aliceId, name: 'Alice', isOwner: false };
      notices.answered({
        speaker,
        place: publicPlace,
        messages,
        now: new Date(now),
        hasThirdPartyText: false,
      });
    },
    tell: (messageId: string, minutes: number, userId = aliceId): Promise<unknown> => {
      now = minutes * 60_000;
      return notices.tell([
        { userId, messageId, notice: stored, about: { kind: 'item', id: 'aaaaaaaa', text: 'Likes tea' } },
      ]);
    },
  };
}

describe('what was stored after a turn [K6]', () => {
  it('is told under the newest answer, however late, and under another one for two minutes', async () => {
    const { steps, answered, tell } = late();
    answered('400000000000000011', 0);
    answered('400000000000000012', 1);
    await tell('400000000000000011', 1.5);
    await tell('400000000000000011', 3);
    await tell('400000000000000012', 60);
    expect(steps).toEqual(['send -# stored as l1', 'send -# stored as l1']);
  });

  it('is told once its message is answered, where it was noticed before', async () => {
    const { steps, answered, tell } = late();
    await tell('400000000000000011', 0);
    await tell('400000000000000012', 0, '100000000000000099');
    expect(steps).toEqual([]);
    answered('400000000000000011', 1);
    answered('400000000000000012', 1);
    await vi.waitFor(() => expect(steps).toEqual(['send -# stored as l1']));
  });

  it('is told in a message of its own, not in place of what was told before [G3]', async () => {
    const { steps, answered, tell } = late();
    answered('400000000000000011', 0);
    await tell('400000000000000011', 0);
    await tell('400000000000000011', 0);
    expect(steps).toEqual(['send -# stored as l1', 'send -# stored as l2']);
  });

  it('names neither unanswered messages nor somebody else', async () => {
    const { steps, answered, tell } = late();
    answered('400000000000000011', 0);
    await tell('400000000000000099', 0);
    await tell('400000000000000011', 0, '100000000000000099');
    expect(steps).toEqual([]);
  });
});
