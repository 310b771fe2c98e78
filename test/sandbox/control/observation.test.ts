import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

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

  it('begins the quiet time anew with every disturbance', async () => {
    const world = newWorld();
    const started = performance.now();
    const waiting = waitUntil(world, {
      check: () => newest(world),
      disturbs: ({ type }) => type === 'message-created',
      settleMs: 120,
      timeoutMs: 5_000,
      what: () => 'it',
    });
    speak(world, 'first');
    await sleep(80);
    speak(world, 'second');
    expect(await waiting).toBe('second');
    expect(performance.now() - started).toBeGreaterThanOrEqual(190);
  });

  it('says what it has waited for in vain', async () => {
    const waiting = waitUntil(newWorld(), { check: () => undefined, timeoutMs: 5, what: () => 'a miracle' });
    await expect(waiting).rejects.toThrow('Waited 5 ms in vain for a miracle');
  });
});
