import {
  MessageFlags,
  Routes,
  type APIApplication,
  type APIApplicationCommand,
  type APIGatewayBotInfo,
  type APIGuildMember,
  type APIMessage,
  type BaseInteraction,
  type Client,
  type RawFile,
  type RESTAPIPartialCurrentUserGuild,
  type RESTGetAPIGuildChannelsResult,
  type RESTPatchAPIChannelMessageJSONBody,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';

import { compareSnowflakes, snowflakeTime } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import { botMay, watchGoneChannels, type Capability } from './permissions.ts';
import { NotPermittedError, sendUntilTaken } from './refusals.ts';

const guildPage = 200;

export type DiscordApi = ReturnType<typeof createDiscordApi>;

/** By which an interaction is answered, for fifteen minutes. */
export type Webhook = Pick<BaseInteraction, 'applicationId' | 'token'>;

/**
 * All reject as the library does; a request known to be refused is not sent [G3d]. What tells nobody new words is sent
 * until it is taken, while it is young; what posts or edits asks before each try who may read it [G3e].
 */
export function createDiscordApi(client: Client) {
  const { rest, channels } = client;
  const isGone = watchGoneChannels(client);

  function check(capability: Capability, channelId: string): void {
    if (isGone(channelId) || !botMay(capability, channels.cache.get(channelId)))
      throw new NotPermittedError(capability, channelId);
  }

  return {
    application: () => answer<APIApplication>(rest.get(Routes.currentApplication())),
    gateway: () => answer<APIGatewayBotInfo>(rest.get(Routes.gatewayBot())),
    async ownGuilds(): Promise<readonly RESTAPIPartialCurrentUserGuild[]> {
      const found: RESTAPIPartialCurrentUserGuild[] = [];
      for (let isMore = true; isMore;) {
        const query = new URLSearchParams({ after: found.at(-1)?.id ?? '0', limit: String(guildPage) });
        const page = await answer<readonly RESTAPIPartialCurrentUserGuild[]>(
          rest.get(Routes.userGuilds(), { query }),
        );
        found.push(...page);
        isMore = page.length === guildPage;
      }
      return found;
    },
    /** Without threads; also those that the bot does not see. */
    guildChannels: (guildId: string) =>
      answer<RESTGetAPIGuildChannelsResult>(rest.get(Routes.guildChannels(guildId))),
    rolesOf: async (guildId: string, userId: string): Promise<readonly string[]> =>
      (await answer<APIGuildMember>(rest.get(Routes.guildMember(guildId, userId)))).roles,
    /** The application's own, or those that it has in this server alone. */
    registeredCommands: (applicationId: string, guildId?: string) =>
      answer<readonly APIApplicationCommand[]>(rest.get(commandsRoute(applicationId, guildId))),
    /** Replaces all that were registered there before. */
    async registerCommands(applicationId: string, commands: readonly object[], guildId?: string) {
      await rest.put(commandsRoute(applicationId, guildId), { body: commands });
    },
    async registerCommand(applicationId: string, command: object) {
      await rest.post(commandsRoute(applicationId), { body: command });
    },
    async postMessage(
      channelId: string,
      body: RESTPostAPIChannelMessageJSONBody,
      files: readonly RawFile[] = [],
    ) {
      check('send', channelId);
      return answer<APIMessage>(rest.post(Routes.channelMessages(channelId), { body, files: [...files] }));
    },
    /** An aborted edit is not sent, unless it has left. */
    async editMessage(
      channelId: string,
      messageId: string,
      body: RESTPatchAPIChannelMessageJSONBody,
      signal?: AbortSignal,
    ) {
      check('view', channelId);
      const route = Routes.channelMessage(channelId, messageId);
      return answer<APIMessage>(rest.patch(route, { body, signal }));
    },
    async deleteMessage(channelId: string, messageId: string) {
      check('view', channelId);
      await sendUntilTaken(() => rest.delete(Routes.channelMessage(channelId, messageId)));
    },
    async message(channelId: string, messageId: string) {
      check('read', channelId);
      return answer<APIMessage>(rest.get(Routes.channelMessage(channelId, messageId)));
    },
    /** Of an interaction: its first answer has the id `@original`. */
    answerOf: ({ applicationId, token }: Webhook, messageId: string) =>
      answer<APIMessage>(rest.get(Routes.webhookMessage(applicationId, token, messageId), { auth: false })),
    async editAnswer({ applicationId, token }: Webhook, messageId: string, body: object) {
      const route = Routes.webhookMessage(applicationId, token, messageId);
      return answer<APIMessage>(rest.patch(route, { body, auth: false }));
    },
    async deleteAnswer({ applicationId, token }: Webhook, messageId: string) {
      await rest.delete(Routes.webhookMessage(applicationId, token, messageId), { auth: false });
    },
    /** For the eyes of the interaction's person alone. */
    async followUp({ applicationId, token }: Webhook, body: { readonly flags?: number | undefined }) {
      const flags = (body.flags ?? 0) | MessageFlags.Ephemeral;
      const request = { body: { ...body, flags }, auth: false };
      return answer<APIMessage>(rest.post(Routes.webhook(applicationId, token), request));
    },
    /** The first hundred, oldest first. */
    async messagesAfter(channelId: string, messageId: string): Promise<readonly APIMessage[]> {
      check('read', channelId);
      const query = new URLSearchParams({ after: messageId, limit: '100' });
      const found = await answer<readonly APIMessage[]>(
        rest.get(Routes.channelMessages(channelId), { query }),
      );
      return found.toSorted((a, b) => compareSnowflakes(a.id, b.id));
    },
    /** Fails for a locked thread. */
    async openThread(channelId: string) {
      check('send', channelId);
      await rest.patch(Routes.channel(channelId), { body: { archived: false } });
    },
    async openDm(userId: string): Promise<string> {
      const body = { recipient_id: userId };
      return (await answer<{ readonly id: string }>(rest.post(Routes.userChannels(), { body }))).id;
    },
    async showTyping(channelId: string) {
      check('send', channelId);
      await rest.post(Routes.channelTyping(channelId));
    },
    /** `emoji` is not encoded. */
    async react(channelId: string, messageId: string, emoji: string) {
      check('react', channelId);
      const route = Routes.channelMessageOwnReaction(channelId, messageId, encodeURIComponent(emoji));
      await sendUntilTaken(() => rest.put(route));
    },
    async unreact(channelId: string, messageId: string, emoji: string) {
      check('read', channelId);
      const route = Routes.channelMessageOwnReaction(channelId, messageId, encodeURIComponent(emoji));
      await sendUntilTaken(() => rest.delete(route));
    },
  };
}

function commandsRoute(applicationId: string, guildId?: string) {
  return guildId === undefined
    ? Routes.applicationCommands(applicationId)
    : Routes.applicationGuildCommands(applicationId, guildId);
}

export const noPings = { parse: [], replied_user: false };

/** Pings nobody, and the nonce prevents duplicates. */
export function sentOnce(nonce: string) {
  return { nonce, enforce_nonce: true, allowed_mentions: noPings };
}

/** Discord compares nonces for "a few minutes"; milliseconds. */
const nonceHoldsMs = 2 * 60_000;

export function mayHaveForgottenNonces(messageId: string, clock: Clock): boolean {
  return clock().getTime() - snowflakeTime(messageId).getTime() > nonceHoldsMs;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each route has its own answer
async function answer<Answer>(request: Promise<unknown>): Promise<Answer> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Discord's API is documented by these types, and nobody else's answers come here
  return (await request) as Answer;
}
