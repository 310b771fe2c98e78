import type { DirectMessagePort, ReadAttachment, ReadChannel } from '../../src/core/chat.ts';

/** Nobody takes direct messages, and neither attached files nor other channels can be had. */
export const closedEdges: {
  readonly directMessages: DirectMessagePort;
  readonly readAttachment: ReadAttachment;
  readonly readChannel: ReadChannel;
} = {
  directMessages: {
    send: () => Promise.resolve('closed'),
    deleteOwn: () => Promise.resolve({ deleted: 0, isAll: true }),
  },
  readAttachment: () => Promise.resolve('unavailable'),
  readChannel: () => Promise.resolve({ kind: 'none' }),
};
