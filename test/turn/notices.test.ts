import { describe, expect, it, vi } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import type { MemoryNotice } from '../../src/core/tool.ts';
import type { PersonSettings } from '../../src/memory/settings/person-settings.ts';
import type { UndoableChange } from '../../src/memory/undo.ts';
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
const change: UndoableChange = { id: '1a', userId: aliceId, at: '', what: 'remember', part: {} };

interface Scene {
  readonly said?: string;
  readonly settings?: Partial<PersonSettings>;
  readonly canUndo?: boolean;
  readonly commandsEnabled?: boolean;
  readonly isWhole?: boolean;
  readonly hasOffers?: boolean;
  readonly hadNoTools?: boolean;
  readonly mayName?: boolean;
  readonly isBot?: true;
}

function under(notices: readonly MemoryNotice[], scene: Scene = {}) {
  const { said = 'hello', settings, canUndo = true, isBot } = scene;
  const told = createMemoryNotices({
    people: { latest: () => Promise.resolve({ version: 1, ...settings }) },
    undo: { find: () => Promise.resolve(canUndo ? change : undefined) },
    commandsEnabled: scene.commandsEnabled ?? true,
    logger: silent,
  });
  return told.under(
    {
      speaker: { id: aliceId, name: 'Alice', isOwner: false, ...(isBot && { isBot }) },
      place: publicPlace,
      messages: [incoming({ text: said })],
      now: new Date(0),
      hasThirdPartyText: false,
    },
    notices,
    {
      isWhole: scene.isWhole ?? true,
      hasOffers: scene.hasOffers ?? false,
      ...(scene.hadNoTools && { hadNoTools: true }),
      mayName: () => Promise.resolve(scene.mayName ?? true),
    },
  );
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

  it('says where the model had no tools that nothing was stored, if that was asked for [M9]', async () => {
    const asked = { said: 'Please remember that I like tea.', hadNoTools: true };
    expect((await under([], asked)).lines).toEqual([
      'Nothing was stored with this answer: the model that I use has no tools · `!memory remember <text>` stores it',
    ]);
    expect((await under([], { ...asked, commandsEnabled: false })).lines).toEqual([
      'Nothing was stored with this answer: the model that I use has no tools',
    ]);
    for (const scene of [
      { ...asked, said: 'I like tea' },
      { ...asked, hadNoTools: false },
      { ...asked, isWhole: false },
    ])
      expect((await under([], scene)).lines).toEqual([]);
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
    expect(await under([stored], { isBot: true, said: 'undo that' })).toEqual({ lines: [], buttons: [] });
  });
});

describe('a wish that nothing was done about [K13]', () => {
  it.each([
    ['stop remembering me', 'Nothing was paused', ['Pause', 'Off the record here', 'Undo last change']],
    ['forget that', 'Nothing was taken out of memory', ['Undo last change', 'Show all']],
    ['send me my data', 'Nothing was sent', ['Send me my data']],
    [
      'delete everything about me',
      'Your data was not erased',
      ['Erase everything …', 'Show all', 'Send me my data', 'Pause'],
    ],
  ])('%s: the line says so with the buttons that do it', async (said, line, buttons) => {
    const told = await under([], { said });
    expect(told.lines).toEqual([line]);
    expect(labels(told)).toEqual(buttons);
  });

  it('is told beside what was stored, which does not fulfil it', async () => {
    const { lines } = await under([stored], { said: 'forget that' });
    expect(lines).toEqual([stored.line, 'Nothing was taken out of memory']);
  });

  it('offers to undo only where there is something', async () => {
    expect(await under([], { said: 'undo that', canUndo: false })).toEqual({
      lines: ['Nothing was undone'],
      buttons: [],
    });
  });

  it('is not told where something was changed or is offered, but for what no tool does', async () => {
    expect((await under([forgotten], { said: 'forget that' })).lines).toEqual([forgotten.line]);
    expect((await under([], { said: 'forget that', hasOffers: true })).lines).toEqual([]);
    expect((await under([forgotten], { said: 'delete everything about me' })).lines).toEqual([
      forgotten.line,
      'Your data was not erased',
    ]);
  });

  it('is not told where there is no wish, or no answer', async () => {
    expect(await under([], { said: 'Forget it.' })).toEqual({ lines: [], buttons: [] });
    expect(await under([], { said: 'forget that', isWhole: false })).toEqual({ lines: [], buttons: [] });
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

  it('is told of no message that was not answered, nor of somebody else', async () => {
    const { steps, answered, tell } = late();
    answered('400000000000000011', 0);
    await tell('400000000000000099', 0);
    await tell('400000000000000011', 0, '100000000000000099');
    expect(steps).toEqual([]);
  });
});
