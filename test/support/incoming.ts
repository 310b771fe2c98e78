import type { IncomingMessage } from '../../src/core/message.ts';
import type { Place } from '../../src/core/place.ts';

export const aliceId = '100000000000000001';
export const bobId = '100000000000000002';
export const generalId = '200000000000000001';

export const publicPlace: Place = {
  audience: 'public',
  channelId: generalId,
  homeId: generalId,
  guildId: '300000000000000001',
  channelName: 'general',
};

/** A message of Alice in #general, with what a test cares about changed. */
export function incoming(changes: Partial<IncomingMessage> = {}): IncomingMessage {
  return {
    id: '400000000000000001',
    channelId: generalId,
    author: { id: aliceId, name: 'Alice', kind: 'human' },
    text: 'hello',
    at: '2026-01-15T10:00:00.000Z',
    attachments: [],
    place: publicPlace,
    isOwner: false,
    ...changes,
  };
}
