import type { DiscordPorts } from '../../src/bot/bot-ports.ts';
import type { ModelChoice } from '../../src/commands/settings-owner.ts';
import { fakeReplies } from './fake-replies.ts';
import { oneServer } from './servers.ts';

/**
 * Nobody takes direct messages or presses a button, neither attached files nor other channels nor earlier messages can be had, and every place
 * stays as it was.
 */
export const closedEdges: DiscordPorts = {
  replies: fakeReplies(),
  directMessages: {
    send: () => Promise.resolve('closed'),
    deleteOwn: () => Promise.resolve({ deleted: 0, isAll: true }),
  },
  reminders: {
    mayRead: () => Promise.resolve(false),
    send: () => Promise.resolve('refused'),
    find: () => Promise.resolve(undefined),
  },
  readChannel: () => Promise.resolve({ kind: 'none' }),
  offers: { show: () => Promise.resolve(), endOffersTo: () => {} },
  reactions: { add: () => {}, remove: () => {}, refuse: () => {} },
  presentPlace: (place) => Promise.resolve(place),
  history: { recent: () => Promise.resolve([]) },
  server: oneServer,
  channels: { placeOf: () => Promise.resolve(undefined) },
  attachments: { open: () => Promise.resolve([]), read: () => Promise.resolve('unavailable') },
  readReplied: () => Promise.resolve('gone'),
};

/** No other model can be chosen. */
export const oneModel: ModelChoice = {
  configured: 'sonnet',
  isOffline: true,
  current: () => Promise.resolve('sonnet'),
  list: () => Promise.resolve([]),
  idOf: (name) => name,
  problemWith: () => undefined,
  choose: () => Promise.resolve(),
};
