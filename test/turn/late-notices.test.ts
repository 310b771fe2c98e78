import { describe, expect, it, vi } from 'vitest';

import { createEvents } from '../../src/bot/bot-ports.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import type { ReplyPort } from '../../src/core/reply.ts';
import { noUsage } from '../../src/core/model.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import type { CaptureMode } from '../../src/memory/settings/person-settings.ts';
import { createLateNotices, createMemoryNotices } from '../../src/turn/notices.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { messageId, session, silent } from '../support/sessions.ts';
import { unconditional } from '../../src/core/writes.ts';

const [said, later, commandId, answerId] = [messageId(1), messageId(2), messageId(3), messageId(4)];

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

describe.each(['auto', 'ask'] as const)(
  'what was noticed while its message was being answered, in mode %s',
  (mode) => {
    it('is shown once there is an answer [K6]', async () => {
      const { answered } = await noticedEarly(mode);
      expect(await answered()).toContain('I like green tea');
    });

    type Scene = Awaited<ReturnType<typeof noticedEarly>>;
    const gone: Readonly<Record<string, (scene: Scene) => unknown>> = {
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
      const scene = await noticedEarly(mode);
      await gone[what]?.(scene);
      const told = await scene.answered();
      expect(told).toContain('Likes rum');
      expect(told).not.toContain('tea');
    });

    it.each(Object.keys(gone))('is removed again if %s while it was posted [G5]', async (what) => {
      const scene = await noticedEarly(mode);
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
  },
);

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
