import type { ServerPort } from '../../src/core/channels.ts';

/** One server, with no roles that are known, where nobody may set anything. */
export const oneServer: ServerPort = {
  hasSeveral: () => false,
  permissionLevel: () => Promise.resolve('none'),
  role: () => undefined,
  titleOf: (guildOrMention) => guildOrMention,
};
