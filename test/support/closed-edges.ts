import type { ModelChoice } from '../../src/commands/settings-model.ts';
import type { DirectMessagePort, ReadAttachment, ReadChannel } from '../../src/core/chat.ts';

/** Nobody owns the bot or takes direct messages, no other model can be chosen, and neither attached files nor other channels can be had. */
export const closedEdges: {
  readonly directMessages: DirectMessagePort;
  readonly readAttachment: ReadAttachment;
  readonly readChannel: ReadChannel;
  readonly modelChoice: ModelChoice;
  readonly ownerIds: () => readonly string[];
} = {
  directMessages: {
    send: () => Promise.resolve('closed'),
    deleteOwn: () => Promise.resolve({ deleted: 0, isAll: true }),
  },
  readAttachment: () => Promise.resolve('unavailable'),
  readChannel: () => Promise.resolve({ kind: 'none' }),
  modelChoice: {
    configured: 'sonnet',
    isOffline: true,
    current: () => Promise.resolve('sonnet'),
    list: () => Promise.resolve([]),
    idOf: (name) => name,
    problemWith: () => undefined,
    choose: () => Promise.resolve(),
  },
  ownerIds: () => [],
};
