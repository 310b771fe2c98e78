import {
  Routes,
  type APIApplication,
  type APIApplicationCommand,
  type APIMessage,
  type REST,
  type RESTPatchAPIChannelMessageJSONBody,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';

import { compareSnowflakes } from '../core/snowflake.ts';
import type { Capability } from './permissions.ts';

/** The requests that need no cache. All reject as discord.js's REST client does, which waits for rate limits by itself. */
export interface DiscordApi {
  /** The application that the token belongs to. */
  application(): Promise<APIApplication>;
  /** The application's global commands, or those of a guild. */
  registeredCommands(applicationId: string, guildId?: string): Promise<readonly APIApplicationCommand[]>;
  /** Replaces the application's global commands, or those of a guild, by these. */
  registerCommands(applicationId: string, commands: readonly object[], guildId?: string): Promise<void>;
  postMessage(channelId: string, body: RESTPostAPIChannelMessageJSONBody): Promise<APIMessage>;
  /** An aborted edit that has not left yet is not sent. */
  editMessage(
    channelId: string,
    messageId: string,
    body: RESTPatchAPIChannelMessageJSONBody,
    signal?: AbortSignal,
  ): Promise<APIMessage>;
  deleteMessage(channelId: string, messageId: string): Promise<void>;
  /** The first hundred messages after one, oldest first. */
  messagesAfter(channelId: string, messageId: string): Promise<readonly APIMessage[]>;
  showTyping(channelId: string): Promise<void>;
  /** Adds or takes away the bot's own reaction; `emoji` as itself, not encoded. */
  react(channelId: string, messageId: string, emoji: string): Promise<void>;
  unreact(channelId: string, messageId: string, emoji: string): Promise<void>;
}

export function createDiscordApi(rest: REST): DiscordApi {
  return {
    application: () => answer<APIApplication>(rest.get(Routes.currentApplication())),
    registeredCommands: (applicationId, guildId) =>
      answer<readonly APIApplicationCommand[]>(rest.get(commandsRoute(applicationId, guildId))),
    async registerCommands(applicationId, commands, guildId) {
      await rest.put(commandsRoute(applicationId, guildId), { body: commands });
    },
    postMessage: (channelId, body) =>
      answer<APIMessage>(rest.post(Routes.channelMessages(channelId), { body })),
    editMessage: (channelId, messageId, body, signal) =>
      answer<APIMessage>(
        rest.patch(Routes.channelMessage(channelId, messageId), {
          body,
          ...(signal !== undefined && { signal }),
        }),
      ),
    async deleteMessage(channelId, messageId) {
      await rest.delete(Routes.channelMessage(channelId, messageId));
    },
    async messagesAfter(channelId, messageId) {
      const query = new URLSearchParams({ after: messageId, limit: '100' });
      const found = await answer<readonly APIMessage[]>(
        rest.get(Routes.channelMessages(channelId), { query }),
      );
      return found.toSorted((a, b) => compareSnowflakes(a.id, b.id));
    },
    async showTyping(channelId) {
      await rest.post(Routes.channelTyping(channelId));
    },
    async react(channelId, messageId, emoji) {
      await rest.put(Routes.channelMessageOwnReaction(channelId, messageId, encodeURIComponent(emoji)));
    },
    async unreact(channelId, messageId, emoji) {
      await rest.delete(Routes.channelMessageOwnReaction(channelId, messageId, encodeURIComponent(emoji)));
    },
  };
}

function commandsRoute(applicationId: string, guildId: string | undefined): `/${string}` {
  return guildId === undefined
    ? Routes.applicationCommands(applicationId)
    : Routes.applicationGuildCommands(applicationId, guildId);
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each route has its own answer
async function answer<Answer>(request: Promise<unknown>): Promise<Answer> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Discord's API is documented by these types, and nobody else's answers come here
  return (await request) as Answer;
}

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
