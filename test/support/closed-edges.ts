import type { DirectMessagePort, ReadAttachment } from '../../src/core/chat.ts';

/** Nobody takes direct messages, and no attached file can be had. */
export const closedEdges: {
  readonly directMessages: DirectMessagePort;
  readonly readAttachment: ReadAttachment;
} = {
  directMessages: {
    send: () => Promise.resolve('closed'),
    deleteOwn: () => Promise.resolve({ deleted: 0, isAll: true }),
  },
  readAttachment: () => Promise.resolve('unavailable'),
};
