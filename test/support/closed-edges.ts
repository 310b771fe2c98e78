import type { BotPorts } from '../../src/bot/bot-ports.ts';
import type { ModelChoice } from '../../src/commands/settings-model.ts';
import { oneServer } from './servers.ts';

/**
 * Nobody owns the bot, takes direct messages or presses a button, no other model can be chosen, neither attached files nor other channels nor
 * earlier messages can be had, and every place stays as it was.
 */
export const closedEdges: Pick<
  BotPorts,
  | 'attachments'
  | 'directMessages'
  | 'history'
  | 'offers'
  | 'ownerIds'
  | 'presentPlace'
  | 'reactions'
  | 'readAttachment'
  | 'readChannel'
  | 'readReplied'
  | 'server'
> & { readonly modelChoice: ModelChoice } = {
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
  offers: { show: () => Promise.resolve(), endOffersTo: () => {} },
  reactions: { add: () => {}, remove: () => {}, refuse: () => {} },
  presentPlace: (place) => Promise.resolve(place),
  history: { recent: () => Promise.resolve([]) },
  server: oneServer,
  attachments: { open: () => Promise.resolve([]) },
  readReplied: () => Promise.resolve('gone'),
};
