import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { say } from '../../../src/sandbox/control/message-calls.ts';
import { waitUntil } from '../../../src/sandbox/control/observation.ts';
import { createDefaultWorld } from '../../../src/sandbox/world/default-world.ts';
import { messagesOf } from '../../../src/sandbox/world/messages.ts';
import type { World } from '../../../src/sandbox/world/world.ts';

function newWorld(): World {
  return createDefaultWorld({
    now: () => new Date(),
    ownedByTeam: false,
    privileged: { messageContent: true, guildMembers: true, presences: true },
  });
}

function speak(world: World, text: string): void {
  const plain = { pingReplied: true, mentionBot: false, attachments: [] };
  say(world, { ...plain, as: 'bob', in: '#dev', text });
}

const newest = (world: World): string | undefined => messagesOf(world, '120000000000000002').at(-1)?.text;

describe('waiting until something is so', () => {
  it('ends at once where it is so already', async () => {
    expect(await waitUntil(newWorld(), { check: () => 1, timeoutMs: 10, what: () => 'it' })).toBe(1);
  });

  it('restarts the quiet time with every disturbance', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const world = newWorld();
    let found: string | undefined;
    const waiting = waitUntil(world, {
      check: () => newest(world),
      disturbs: ({ type }) => type === 'message-created',
      settleMs: 120,
      timeoutMs: 5_000,
      what: () => 'it',
    }).then((text) => (found = text));
    speak(world, 'first');
    await vi.advanceTimersByTimeAsync(80);
    speak(world, 'second');
    await vi.advanceTimersByTimeAsync(110);
    expect(found).toBeUndefined();
    await vi.advanceTimersByTimeAsync(10);
    expect(await waiting).toBe('second');
  });

  it('names what it waited for if it times out', async () => {
    const waiting = waitUntil(newWorld(), { check: () => undefined, timeoutMs: 5, what: () => 'a miracle' });
    await expect(waiting).rejects.toThrow('Waited 5 ms in vain for a miracle');
  });
});
