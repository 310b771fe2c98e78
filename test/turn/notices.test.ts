import { describe, expect, it, vi } from 'vitest';

import { createEvents } from '../../src/bot/bot-ports.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { noUsage } from '../../src/core/model.ts';
import type { ReplyPort } from '../../src/core/reply.ts';
import type { LateNotice, MemoryNotice } from '../../src/core/tool.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import { unconditional } from '../../src/core/writes.ts';
import type { PersonSettings, CaptureMode } from '../../src/memory/settings/person-settings.ts';
import { createLateNotices, createMemoryNotices } from '../../src/turn/notices.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { aliceId, incoming, publicPlace, generalId } from '../support/incoming.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { silent, messageId as idOf, session } from '../support/sessions.ts';

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

const undo = (id: string) => ({ label: 'Undo', line: `memory undo ${id}` });
const onlyInDm = { label: 'Only in DM', line: 'memory hide aaaaaaaa' };

const asked = (id: string): MemoryNotice => ({
  line: `💭 May I remember: "${id}"?`,
  bareLine: '',
  buttons: ['accept', 'proposals', 'decline'].map((verb) => ({
    label: verb,
    line: `memory ${verb} ${id}`,
  })),
});

const long = (id: string): MemoryNotice => ({
  ...forgotten,
  line: `💾 Changed: ${'x'.repeat(400)}${id}`,
  bareLine: `💾 Changed: ${id}`,
});

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
        work: { userId: aliceId },
      },
      notices,
      { hadNoTools, mayName: () => Promise.resolve(mayName) },
    );
}

function under(notices: readonly MemoryNotice[], scene: Scene = {}) {
  return noticesFor(scene)(notices, scene);
}

const labels = (told: Awaited<ReturnType<typeof under>>) => told.buttons.map(({ label }) => label);

describe('the footer of an answer [K6]', () => {
  it('says what was done, one line per change, with its buttons', async () => {
    expect(await under([stored])).toEqual({ lines: [stored.line], buttons: stored.buttons });
  });

  it('counts what was stored where it is several things, with one button that lists all that can be undone', async () => {
    const second = { ...stored, line: '💾 Remembered: "Likes rum"', buttons: [undo('3c'), onlyInDm] };
    const told = await under([
      { ...stored, buttons: [undo('1a'), onlyInDm] },
      noted,
      second,
      noted,
      forgotten,
    ]);
    expect(told.lines).toEqual(['💾 Remembered 2 things', noted.line, forgotten.line]);
    expect(told.buttons).toEqual([{ label: 'Undo', line: 'memory undo 1a,3c,2b', takes: 'nothing' }]);
  });

  it('asks about several things in one line, with a button that lists them [K9]', async () => {
    expect(await under([asked('a'), asked('b'), asked('c')])).toEqual({
      lines: ['💭 May I remember 3 things?'],
      buttons: [{ label: 'Show', line: 'memory proposals', takes: 'nothing' }],
    });
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

  it('names nothing once others can read along', async () => {
    expect((await under([stored], { mayName: false })).lines).toEqual([stored.bareLine]);
  });

  it('leaves out the words where they would take too much room', async () => {
    expect((await under([long('1'), long('2')])).lines).toEqual(['💾 Changed: 1', '💾 Changed: 2']);
  });

  it('has no buttons where there are no commands, and nothing for another bot', async () => {
    expect(await under([stored], { commandsEnabled: false })).toEqual({ lines: [stored.line], buttons: [] });
    expect(await under([stored], { isBot: true })).toEqual({ lines: [], buttons: [] });
  });
});

const turnOf = (id: string): TurnContext => ({
  speaker: { id: aliceId, name: 'Alice', isOwner: false },
  place: publicPlace,
  messages: [incoming({ id })],
  now: new Date(0),
  hasThirdPartyText: false,
  work: { userId: aliceId },
});

function late() {
  const steps: string[] = [];
  let isFixed = false;
  const notices = createLateNotices({
    memoryNotices: createMemoryNotices({
      people: { latest: () => Promise.resolve({ version: 1 }) },
      commandsEnabled: true,
    }),
    isNamed: () => Promise.resolve(true),
    replies: fakeReplies({ note: (step) => steps.push(step), cannotAmend: () => isFixed }),
    presentPlace: (place) => Promise.resolve(place),
    logger: silent,
  });
  return {
    steps,
    fix: (): void => void (isFixed = true),
    waiting: (id: string) => notices.waiting(turnOf(id)),
    answered: (id: string, told: readonly LateNotice[] = []): void =>
      notices.answered(turnOf(id), [id.replace('4', '9')], [], told),
    tell: (messageId: string, text = 'Likes tea', userId = aliceId): Promise<unknown> => {
      const notice = { ...stored, line: `💾 Remembered: "${text}"` };
      const about = { kind: 'item' as const, id: 'aaaaaaaa', text };
      return notices.tell([{ userId, messageId, notice, about }]);
    },
  };
}

describe('what was stored after a turn [K6]', () => {
  const [first, second] = ['400000000000000011', '400000000000000012'];

  it('is shown by an edit of its answer, however many answers came since', async () => {
    const { steps, answered, tell } = late();
    answered(first);
    answered(second);
    await tell(first);
    await tell(first, 'Likes rum');
    await tell(second, 'Likes milk');
    expect(steps).toEqual([
      'footer 💾 Remembered: "Likes tea"',
      'footer 💾 Remembered: "Likes tea" | 💾 Remembered: "Likes rum"',
      'footer 💾 Remembered: "Likes milk"',
    ]);
  });

  it('is shown once its message is answered, if it was noticed before', async () => {
    const { steps, answered, tell } = late();
    await tell(first);
    await tell(second, 'Likes rum', '100000000000000099');
    expect(steps).toEqual([]);
    answered(first);
    answered(second);
    await vi.waitFor(() => expect(steps).toEqual(['footer 💾 Remembered: "Likes tea"']));
  });

  it('appears under the next answer, once, if its own can no longer be edited', async () => {
    const { steps, answered, fix, tell, waiting } = late();
    answered(first);
    fix();
    await tell(first);
    const next = await waiting(second);
    expect(next.map(({ notice }) => notice.line)).toEqual(['💾 Remembered: "Likes tea"']);
    answered(second, next);
    expect(await waiting(second)).toEqual([]);
    expect(steps).toEqual([]);
  });
});

const [said, later, commandId, answerId] = [idOf(1), idOf(2), idOf(3), idOf(4)];

const clock = () => new Date();

/** Alice has said that she likes tea, and more while she is answered; the work after an earlier turn has noticed the tea by now. */
async function noticedEarly(mode: CaptureMode) {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC', DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: '1' });
  const recent = new RecentChanges();
  const store = new MemoryStore();
  const sent: string[] = [];
  const found = { kind: 'preference', quote: 'I like green tea', messageId: said };
  const events = createEvents();
  const replies = fakeReplies({ note: (step) => sent.push(step) });
  /** What happens while the next edit is on its way to the channel. */
  let meanwhile: (() => unknown) | undefined;
  const amend: ReplyPort['amend'] = (channelId, id, change) =>
    replies.amend(channelId, id, async (standing) => {
      const footer = await change(standing);
      const happens = meanwhile;
      meanwhile = undefined;
      await happens?.();
      return footer;
    });
  const memory = layersAlone(config, {
    store,
    recent,
    model: {
      isOffline: true,
      complete: () =>
        Promise.resolve({
          content: [{ type: 'text', text: JSON.stringify({ items: [found] }) }],
          stop: 'end',
          usage: noUsage,
        }),
    },
    channels: { placeOf: () => Promise.resolve(publicPlace) },
    events,
    clock,
    logger: silent,
  });
  const notices = createLateNotices({
    memoryNotices: createMemoryNotices({
      people: memory.people,
      commandsEnabled: true,
    }),
    isNamed: memory.isNamed,
    replies: { amend },
    presentPlace: (place) => Promise.resolve(place),
    logger: silent,
  });
  events.stored.on(notices.tell);
  const at = clock().toISOString();
  const turn: TurnContext = {
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place: publicPlace,
    messages: [
      { id: said, text: 'I like green tea', at, attachments: [] },
      { id: later, text: 'and what do you like?', at, attachments: [] },
    ],
    now: clock(),
    hasThirdPartyText: false,
    work: { userId: aliceId },
  };
  await memory.sessionLog.recordUser(turn, mode);
  const { signal } = new AbortController();
  for (const layer of memory.afterTurn) await layer.fold?.(aliceId, [session], signal);
  expect(sent).toEqual([]);
  /** Answers the turn, of whose second message something is stored too; resolves with all that is told under it. */
  async function answered(): Promise<string> {
    const outcome = await memory.durable.remember(unconditional(aliceId), {
      text: 'Likes rum',
      place: publicPlace,
      messageId: later,
      type: 'manual',
    });
    if (outcome.outcome === 'refused') throw new Error(outcome.reason);
    const { id, text } = outcome.item;
    const notice = { line: `Remembered: ${text}`, bareLine: '', buttons: [] };
    const about = { kind: 'item' as const, id, text };
    await notices.tell([{ userId: aliceId, messageId: later, notice, about }]);
    notices.answered(turn, [answerId], [], []);
    await vi.waitFor(() => expect(sent).not.toEqual([]));
    return sent.join('\n');
  }

  return {
    memory,
    recent,
    notices,
    turn,
    answered,
    sent,
    whilePosting: (happens: () => unknown) => void (meanwhile = happens),
  };
}

describe('what was noticed while its message was being answered', () => {
  it('is shown once there is an answer [K6]', async () => {
    const { answered } = await noticedEarly('ask');
    expect(await answered()).toContain('I like green tea');
  });

  type EarlyScene = Awaited<ReturnType<typeof noticedEarly>>;
  const gone: Readonly<Record<string, (scene: EarlyScene) => unknown>> = {
    'its message was deleted': ({ memory }) =>
      memory.changes.record({ kind: 'deleted', channelId: generalId, messageIds: [said] }),
    'its message was edited to say something else': ({ memory }) =>
      memory.changes.record({ kind: 'edited', channelId: generalId, messageId: said, text: 'hello' }),
    'its message is just being deleted': ({ recent }) =>
      recent.note({ kind: 'deleted', channelId: generalId, messageIds: [said] }),
    'it was forgotten': ({ memory }) =>
      memory.durable.forget(unconditional(aliceId), 'green tea', publicPlace, commandId),
    'its matter was erased': ({ memory }) =>
      memory.changes.purge({ userId: aliceId, words: 'green tea', commandId }),
    'everything of the person was erased': ({ memory }) =>
      memory.changes.erase(aliceId, new Date().toISOString()),
  };
  it.each(Object.keys(gone))('is not shown if %s meanwhile [G5]', async (what) => {
    const scene = await noticedEarly('ask');
    await gone[what]?.(scene);
    const told = await scene.answered();
    expect(told).toContain('Likes rum');
    expect(told).not.toContain('tea');
  });

  it.each(Object.keys(gone))('is removed again if %s while it was posted [G5]', async (what) => {
    const scene = await noticedEarly('ask');
    scene.whilePosting(() => gone[what]?.(scene));
    await scene.answered();
    const left = what.startsWith('everything') ? 'nothing' : 'Likes rum';
    const [, taken, next = 'nothing'] = await vi.waitFor(() => {
      expect(scene.sent).toHaveLength(left === 'nothing' ? 2 : 3);
      return scene.sent;
    });
    expect(taken).toBe('footer ');
    expect(next).toContain(left);
    expect(scene.sent[0]).toContain('tea');
    expect(scene.sent.slice(1).join(' ')).not.toContain('tea');
  });
});

it('what was noticed is shown if its message was edited and still says it [K6]', async () => {
  const { memory, answered } = await noticedEarly('auto');
  const text = 'Hello! I like green tea.';
  await memory.changes.record({ kind: 'edited', channelId: generalId, messageId: said, text });
  expect(await answered()).toContain('I like green tea');
});

it('keeps no word of an erased person for their next answer [K11]', async () => {
  const { notices, turn } = await noticedEarly('auto');
  expect(await notices.waiting(turn)).not.toEqual([]);
  notices.evict(aliceId);
  expect(await notices.waiting(turn)).toEqual([]);
});
