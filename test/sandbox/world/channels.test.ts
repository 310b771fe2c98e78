import { describe, expect, it } from 'vitest';

import { joinThread, leaveThread } from '../../../src/sandbox/world/channels.ts';
import { createDefaultWorld } from '../../../src/sandbox/world/default-world.ts';
import { createThread } from '../../../src/sandbox/world/threads.ts';
import { channelOf } from '../../../src/sandbox/world/world.ts';

describe('members of a thread', () => {
  it('join and leave once, and only from the guild', () => {
    const world = createDefaultWorld({
      now: () => new Date('2026-03-01T12:00:00Z'),
      ownedByTeam: false,
      privileged: { messageContent: true, guildMembers: true, presences: true },
    });
    const [bob, carol, stranger] = ['140000000000000002', '140000000000000003', '199999999999999999'];
    const parent = channelOf(world, '120000000000000002');
    if (parent.kind !== 'text') throw new Error('#dev is a text channel');
    const thread = createThread(world, { parent, name: 'plan', ownerId: bob, isPrivate: true });
    const events: string[] = [];
    world.subscribe((event) => {
      if (event.type === 'thread-joined' || event.type === 'thread-left')
        events.push(`${event.type} ${event.userId}`);
    });
    for (const id of [bob, carol, carol, stranger]) joinThread(world, thread, id);
    for (const id of [carol, carol]) leaveThread(world, thread, id);
    expect(events).toEqual([`thread-joined ${carol}`, `thread-left ${carol}`]);
  });
});
