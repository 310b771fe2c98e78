import { describe, expect, it } from 'vitest';

import { reflectWhenDue, type ReflectionOutcome } from '../../../src/memory/notebook/reflection.ts';
import { aliceId, generalId } from '../../support/incoming.ts';

const session = { channelId: generalId, userId: aliceId };
const now = new Date('2026-01-15T10:00:00Z');

async function run(due: Date | undefined, outcome: ReflectionOutcome = 'done') {
  const done: string[] = [];
  const work = reflectWhenDue({
    reflection: {
      dueAt: () => Promise.resolve(due),
      reflect() {
        done.push('reflected');
        return Promise.resolve(outcome);
      },
    },
    wakeAt: (_, time) => done.push(`wake at ${time.toISOString()}`),
    clock: () => now,
  });
  await work(session, new AbortController().signal);
  return done;
}

describe('reflection after a turn', () => {
  it('does nothing about a session with too little to learn from', async () => {
    expect(await run(undefined)).toEqual([]);
  });

  it('has a session that is not idle yet looked at when it will be', async () => {
    expect(await run(new Date('2026-01-15T10:30:00Z'))).toEqual(['wake at 2026-01-15T10:30:00.000Z']);
  });

  it('looks back on a session that is due', async () => {
    expect(await run(now)).toEqual(['reflected']);
  });

  it('tries again soon when a result was dropped, and not before the next turn when it failed', async () => {
    expect(await run(now, 'dropped')).toEqual(['reflected', 'wake at 2026-01-15T10:01:00.000Z']);
    expect(await run(now, 'failed')).toEqual(['reflected']);
  });
});
