import type { TurnContext } from '../../src/core/turn-context.ts';
import { publicPlace } from '../support/incoming.ts';

/** Alice says hello in a public channel. */
export const aliceContext: TurnContext = {
  speaker: { id: '100000000000000001', name: 'Alice', isOwner: false },
  place: publicPlace,
  messages: [{ id: '400000000000000001', text: 'hello', at: '2026-01-15T10:00:00.000Z', attachments: [] }],
  now: new Date('2026-01-15T10:00:00.000Z'),
  hasThirdPartyText: false,
  work: { userId: '100000000000000001' },
};
