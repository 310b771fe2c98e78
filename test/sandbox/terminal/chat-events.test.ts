import { describe, expect, it } from 'vitest';

import { collapseEvents, type ChatEvent } from '../../../src/sandbox/terminal/chat-events.ts';
import { createDefaultWorld } from '../../../src/sandbox/world/default-world.ts';
import type { Message } from '../../../src/sandbox/world/entities.ts';
import { createMessage } from '../../../src/sandbox/world/messages.ts';
import { channelOf } from '../../../src/sandbox/world/world.ts';

const world = createDefaultWorld({
  now: () => new Date('2026-01-01T00:00:00Z'),
  ownedByTeam: false,
  privileged: { messageContent: true, guildMembers: true, presences: true },
});

function write(): Message {
  const channel = channelOf(world, '120000000000000001');
  const mentions = { userIds: [], everyone: false };
  return createMessage(world, { channel, authorId: world.botId, text: 'hi', mentions });
}

const message = write();
const said: ChatEvent = { kind: 'said', message, isCorrection: false };
const edited: ChatEvent = { kind: 'said', message, isCorrection: true };
const deleted: ChatEvent = { kind: 'deleted', message };
const reacted: ChatEvent = { kind: 'reacted', message, userId: '7', emoji: '👀' };
const unreacted: ChatEvent = { ...reacted, kind: 'unreacted' };
const other: ChatEvent = { kind: 'said', message: write(), isCorrection: false };
const online: ChatEvent = { kind: 'presence', presence: { status: 'online', activities: [] } };
const idle: ChatEvent = { kind: 'presence', presence: { status: 'idle', activities: [] } };

describe('what is left of what happened', () => {
  it.each<[string, readonly ChatEvent[], readonly ChatEvent[]]>([
    ['a message that grew once, where it began', [said, other, edited, edited], [said, other]],
    ['an older message’s change once', [edited, other, edited], [edited, other]],
    ['nothing of a message that came and went', [said, reacted, edited, deleted, other], [other]],
    ['an older message’s deletion alone', [edited, reacted, deleted], [deleted]],
    ['nothing of a reaction that came and went', [reacted, said, unreacted], [said]],
    ['a reaction that was taken back and set again', [unreacted, reacted, reacted], [reacted]],
    [
      'another’s reaction',
      [reacted, { ...unreacted, userId: '8' }],
      [reacted, { ...unreacted, userId: '8' }],
    ],
    ['the last state of the bot', [online, said, idle], [said, idle]],
    ['nothing of nothing', [], []],
  ])('is %s', (_, happened, left) => {
    expect(collapseEvents(happened)).toEqual(left);
  });
});
