import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createSessionTurns } from '../../src/turn/sessions.ts';
import { createWaitingReactions } from '../../src/turn/waiting-reactions.ts';
import { generalId, incoming } from '../support/incoming.ts';
import { ManualTimer } from '../support/manual-timer.ts';

const started = new Date('2026-01-15T10:00:00Z');

/** An id made so many seconds after the process began. */
function idAt(seconds: number): string {
  return snowflakeAt(new Date(started.getTime() + seconds * 1000));
}

function secondsOf(id: string): string {
  return String([1, 2, 3, -1].find((each) => idAt(each) === id));
}

/** Turns that run until they are released, with the reactions that people see while others wait. */
function turnsWithReactions() {
  const log: string[] = [];
  const releases: (() => void)[] = [];
  const timer = new ManualTimer();
  const reactions = createWaitingReactions({
    reactions: {
      add: (_, id) => log.push(`👀 ${secondsOf(id)}`),
      remove: (_, id) => log.push(`gone ${secondsOf(id)}`),
      refuse: (_, id) => log.push(`🚫 ${secondsOf(id)}`),
    },
    timer: timer.set,
    clock: () => started,
  });
  const recent = new RecentChanges();
  const turns = createSessionTurns(
    (messages) => {
      reactions.endForTurn(messages);
      log.push(`turn ${messages.map(({ id }) => secondsOf(id)).join()}`);
      return new Promise<void>((resolve) => releases.push(resolve));
    },
    recent,
    timer.set,
  );
  recent.subscribe((change) => turns.follow(change));
  const submit = (second: number): Promise<void> => {
    const message = incoming({ id: idAt(second) });
    return reactions.while(message, async () => void (await turns.submit(message)));
  };
  const release = async (): Promise<void> => {
    releases.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { log, timer, turns, recent, submit, release };
}

describe('a waiting reaction [U2]', () => {
  it('comes to what waits behind a turn, and goes when its own turn begins', async () => {
    const { log, timer, submit, release } = turnsWithReactions();
    const all = [submit(1), submit(2), submit(3)];
    timer.pass(300);
    expect(log).toEqual(['turn 1', '👀 2', '👀 3']);
    await release();
    expect(log.slice(3)).toEqual(['gone 2', 'gone 3', 'turn 2,3']);
    await release();
    await Promise.all(all);
    expect(log).toHaveLength(6);
  });

  it('goes from what was deleted while it waited, and does not come to it later', async () => {
    const { log, timer, recent, submit } = turnsWithReactions();
    void submit(1);
    const second = submit(2);
    timer.pass(300);
    const third = submit(3);
    recent.note({ kind: 'deleted', channelId: generalId, messageIds: [idAt(2), idAt(3)] });
    await Promise.all([second, third]);
    timer.pass(1000);
    expect(log).toEqual(['turn 1', '👀 2', 'gone 2']);
  });

  it('is taken away from a message that is older than the process, in case a kill has left it there', () => {
    const { log, submit } = turnsWithReactions();
    void submit(-1);
    expect(log).toEqual(['gone -1', 'turn -1']);
  });
});
