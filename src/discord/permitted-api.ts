import type { DiscordApi } from './discord-api.ts';
import type { Capability } from './permissions.ts';

/** A request that Discord would have refused was not sent. */
export class NotPermittedError extends Error {
  override readonly name = 'NotPermittedError';
  constructor(capability: Capability, channelId: string) {
    super(`The bot lacks the permission to ${capability} in channel ${channelId}`);
  }
}

/** The same requests, but for those that Discord is known to refuse: these reject with `NotPermittedError`, unsent. */
export function withPermission(
  api: DiscordApi,
  may: (capability: Capability, channelId: string) => boolean,
): DiscordApi {
  async function permitted<Answer>(
    capability: Capability,
    channelId: string,
    request: () => Promise<Answer>,
  ): Promise<Answer> {
    if (!may(capability, channelId)) throw new NotPermittedError(capability, channelId);
    return request();
  }

  return {
    ...api,
    postMessage: (channelId, body) => permitted('send', channelId, () => api.postMessage(channelId, body)),
    editMessage: (channelId, ...edit) =>
      permitted('view', channelId, () => api.editMessage(channelId, ...edit)),
    deleteMessage: (channelId, messageId) =>
      permitted('view', channelId, () => api.deleteMessage(channelId, messageId)),
    messagesAfter: (channelId, messageId) =>
      permitted('read', channelId, () => api.messagesAfter(channelId, messageId)),
    react: (channelId, ...reaction) => permitted('react', channelId, () => api.react(channelId, ...reaction)),
    unreact: (channelId, ...reaction) =>
      permitted('read', channelId, () => api.unreact(channelId, ...reaction)),
    showTyping: (channelId) => permitted('send', channelId, () => api.showTyping(channelId)),
  };
}
