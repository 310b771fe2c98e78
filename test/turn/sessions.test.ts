import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import { onMeasured } from '../../src/core/logger.ts';
import type { IncomingMessage } from '../../src/core/message.ts';
import { createSessionTurns, type TurnControl } from '../../src/turn/sessions.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { aliceId, bobId, generalId, incoming } from '../support/incoming.ts';

/** Turns that run until they are released, one gate a turn. */
function gatedTurns() {
  const timer = new ManualTimer();
  const started: {
    ids: string[];
    texts: string[];
    author: string;
    signal: AbortSignal;
    control: TurnControl;
    release: () => void;
  }[] = [];
  const recent = new RecentChanges();
  const turns = createSessionTurns(
    (messages, control) =>
      new Promise<void>((release) => {
        started.push({
          ids: messages.map(({ id }) => id),
          texts: messages.map(({ text }) => text),
          author: messages[0]?.author.name ?? '',
          signal: control.signal,
          control,
          release,
        });
      }),
    recent,
    timer.set,
  );
  recent.subscribe((change) => turns.follow(change));
  return { turns, started, recent, timer };
}

function message(id: number, changes: Partial<IncomingMessage> = {}): IncomingMessage {
  return incoming({ id: `40000000000000000${id}`, text: `message ${id}`, ...changes });
}

async function settle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

describe('turns of sessions', () => {
  it('take together what one speaker wrote while a turn ran', async () => {
    const { turns, started } = gatedTurns();
    const waited: string[] = [];
    const end = onMeasured('waited', ({ queue }) => waited.push(queue));
    const all = [1, 2, 3].map((id) => turns.submit(message(id)));
    end();
    expect(waited).toEqual(['turns', 'turns']);
    expect(started.map(({ ids }) => ids)).toEqual([['400000000000000001']]);
    started[0]?.release();
    await settle();
    expect(started[1]?.ids).toEqual(['400000000000000002', '400000000000000003']);
    started[1]?.release();
    await Promise.all(all);
    await turns.idle();
  });

  it('do not take together what was said in private and what was said once the public could read along', async () => {
    const { turns, started } = gatedTurns();
    const open = message(4).place;
    const all = [
      turns.submit(message(1, { place: { ...open, audience: 'private' } })),
      turns.submit(message(2, { place: { ...open, audience: 'private' } })),
      turns.submit(message(3, { place: { ...open, audience: 'private' } })),
      turns.submit(message(4)),
    ];
    for (const index of [0, 1, 2]) {
      started[index]?.release();
      await settle();
    }
    await Promise.all(all);
    expect(started.map(({ ids }) => ids.map((id) => id.slice(-1)))).toEqual([['1'], ['2', '3'], ['4']]);
  });

  it('credit two speakers in one channel separately, and neither waits for the other', async () => {
    const { turns, started } = gatedTurns();
    void turns.submit(message(1));
    void turns.submit(message(2, { author: { id: bobId, name: 'Bob', kind: 'human' } }));
    expect(started.map(({ author }) => author)).toEqual(['Alice', 'Bob']);
    for (const { release } of started) release();
    await turns.idle();
  });

  it('take an edited message that waits with its new text, and drop a deleted one', async () => {
    const { turns, started, recent } = gatedTurns();
    void turns.submit(message(1));
    void turns.submit(message(2));
    const withdrawn = turns.submit(message(3));
    recent.note({ kind: 'edited', channelId: generalId, messageId: message(2).id, text: 'edited' });
    recent.note({ kind: 'deleted', channelId: generalId, messageIds: [message(3).id] });
    await withdrawn;
    started[0]?.release();
    await settle();
    started[1]?.release();
    await turns.idle();
    expect(started.map(({ texts }) => texts)).toEqual([['message 1'], ['edited']]);
  });

  it('abort a turn when every message it answers was deleted', async () => {
    const { turns, started, recent } = gatedTurns();
    void turns.submit(message(1));
    started[0]?.release();
    void turns.submit(message(2));
    void turns.submit(message(3));
    await settle();
    recent.note({ kind: 'deleted', channelId: generalId, messageIds: [message(2).id] });
    expect(started[1]?.signal.aborted).toBe(false);
    recent.note({ kind: 'deleted', channelId: generalId, messageIds: [message(3).id] });
    expect(started[1]?.signal.aborted).toBe(true);
    started[1]?.release();
    await turns.idle();
  });

  it('end when their author stops them at their message or at the reply, and nobody else can [U3]', async () => {
    for (const messageId of [message(1).id, 'the reply']) {
      const { turns, started } = gatedTurns();
      void turns.submit(message(1));
      started[0]?.control.noteReply(['the reply']);
      await turns.stopBy(bobId, messageId, () => Promise.resolve());
      await turns.stopBy(aliceId, 'something else', () => Promise.resolve());
      expect(started[0]?.control.ending).toBe(undefined);
      await turns.stopBy(aliceId, messageId, () => Promise.resolve());
      expect(started[0]?.control.ending).toBe('stopped');
      started[0]?.release();
      await turns.idle();
    }
  });

  it('do not take a waiting message that its author stopped, which is noted before it is over', async () => {
    const { turns, started } = gatedTurns();
    void turns.submit(message(1));
    const steps: string[] = [];
    const waiting = turns.submit(message(2)).then(() => steps.push('over'));
    await turns.stopBy(bobId, message(2).id, () => Promise.resolve(void steps.push('noted for Bob')));
    await turns.stopBy(aliceId, message(2).id, () => Promise.resolve(void steps.push('noted')));
    await waiting;
    expect(steps).toEqual(['noted', 'over']);
    started[0]?.release();
    await turns.idle();
    expect(started).toHaveLength(1);
  });

  it('end with what waits when their channel is deleted, and go on elsewhere [G5]', async () => {
    const { turns, started } = gatedTurns();
    const elsewhere = '200000000000000009';
    const all = [1, 2].map((id) => turns.submit(message(id)));
    const other = turns.submit(message(3, { channelId: elsewhere }));
    turns.endIn(generalId);
    expect(started.map(({ control }) => control.ending)).toEqual(['channel-deleted', undefined]);
    expect(started[0]?.signal.aborted).toBe(true);
    for (const { release } of started) release();
    await Promise.all([...all, other]);
    expect(started).toHaveLength(2);
  });

  it('end when a message of their reply is deleted, whatever their author wished before', async () => {
    const { turns, started, recent } = gatedTurns();
    void turns.submit(message(1));
    started[0]?.control.noteReply(['the reply']);
    await turns.stopBy(aliceId, message(1).id, () => Promise.resolve());
    expect(started[0]?.control.isTakenAway).toBe(false);
    recent.note({ kind: 'deleted', channelId: generalId, messageIds: ['the reply'] });
    expect(started[0]?.control.isTakenAway).toBe(true);
    turns.abort();
    expect(started[0]?.control.ending).toBe('reply-deleted');
    started[0]?.release();
    await turns.idle();
  });
});

const forward = (id: number) =>
  message(id, { text: '', forwards: [{ text: 'the plan', at: '', files: [] }] });
const idOf = (id: number) => `40000000000000000${id}`;

describe('a message that was passed on [G6]', () => {
  it('is one turn with the comment that comes right behind it', async () => {
    const { turns, started } = gatedTurns();
    void turns.submit(forward(1));
    await settle();
    expect(started).toEqual([]);
    void turns.submit(forward(2));
    await settle();
    expect(started).toEqual([]);
    void turns.submit(message(3));
    await settle();
    expect(started.map(({ ids }) => ids)).toEqual([[idOf(1), idOf(2), idOf(3)]]);
  });

  it('is answered by itself after a moment where none comes', async () => {
    const { turns, started, timer } = gatedTurns();
    void turns.submit(forward(1));
    await settle();
    timer.pass(1000);
    await settle();
    void turns.submit(message(2));
    expect(started.map(({ ids }) => ids)).toEqual([[idOf(1)]]);
  });
});
