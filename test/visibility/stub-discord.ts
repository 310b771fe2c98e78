import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ChatInputCommandInteraction,
  ClientUser,
  MessageFlags,
} from 'discord.js';
import { z } from 'zod';

import type { ChatMessage } from '../../src/core/message.ts';
import { createDiscordClient } from '../../src/discord/client.ts';
import { guildCreatePayload, memberPayload, userPayload } from '../../src/sandbox/payloads/guild-payload.ts';
import { interactionPayload } from '../../src/sandbox/payloads/interaction-payload.ts';
import type { Interaction } from '../../src/sandbox/world/entities.ts';
import { createDefaultWorld } from '../../src/sandbox/world/default-world.ts';
import { memberOf, userOf } from '../../src/sandbox/world/world.ts';
import { recordingLogger } from '../support/recording-logger.ts';

/** A request that would have changed something on Discord. */
export interface Deed {
  readonly method: string;
  /** After `/api/v10`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const bodySchema = z.record(z.string(), z.unknown());

/**
 * The bot's own client, logged in to nothing: its caches hold the sandbox's default world, and its requests are answered here, so that thousands
 * of scenes need no socket.
 */
export function createStubDiscord(
  nextId: () => string,
  posted: (channelId: string) => readonly ChatMessage[] = () => [],
) {
  const world = createDefaultWorld(() => new Date());
  const deeds: Deed[] = [];
  const client = createDiscordClient({ logger: recordingLogger() });
  client.rest.setToken('none');
  // Scenes follow each other faster than Discord lets requests.
  client.rest.options.globalRequestsPerSecond = Infinity;
  client.rest.options.makeRequest = (url, init) => {
    const { pathname, searchParams } = new URL(url);
    const path = pathname.replace(/^\/api\/v\d+/u, '');
    const method = init.method ?? 'GET';
    const body = typeof init.body === 'string' ? bodySchema.parse(JSON.parse(init.body)) : {};
    if (method !== 'GET') deeds.push({ method, path, body });
    const [, listed] = /^\/channels\/(\d+)\/messages$/u.exec(path) ?? [];
    if (method === 'GET' && listed !== undefined) return Promise.resolve(json(page(listed, searchParams)));
    return Promise.resolve(answer(method, path, body));
  };

  function answer(method: string, path: string, body: Deed['body']): Response {
    const [, guildId = '', userId = ''] = /^\/guilds\/(\d+)\/members\/(\d+)$/u.exec(path) ?? [];
    const member = memberOf(world, guildId, userId);
    if (member !== undefined) return json(memberPayload(world, member));
    if (method === 'PUT' || method === 'DELETE') return new Response(null, { status: 204 });
    const [, channelId = '', messageId] = /^\/channels\/(\d+)\/messages(?:\/(\d+))?/u.exec(path) ?? [];
    const content = body['content'] ?? 'something';
    const bot = userPayload(userOf(world, world.botId));
    return json(
      message({ id: messageId ?? nextId(), channelId, content, author: bot, at: new Date().toISOString() }),
    );
  }

  /** The newest messages before one, newest first. */
  function page(channelId: string, query: URLSearchParams): readonly object[] {
    const before = BigInt(query.get('before') ?? '9'.repeat(19));
    const older = posted(channelId).filter(({ id }) => BigInt(id) < before);
    return older
      .slice(-Number(query.get('limit')))
      .toReversed()
      .map(({ id, author, text, at }) =>
        message({
          id,
          channelId,
          content: text,
          at,
          author: {
            id: author.id,
            username: author.name,
            discriminator: '0',
            avatar: null,
            global_name: null,
          },
        }),
      );
  }

  client.user = Reflect.construct(ClientUser, [client, userPayload(userOf(world, world.botId))]);
  for (const guild of world.guilds.values()) add(client.guilds, guildCreatePayload(world, guild, true));
  for (const channel of world.channels.values())
    if (channel.kind === 'dm')
      add(client.channels, {
        id: channel.id,
        type: 1,
        recipients: [userPayload(userOf(world, channel.personId))],
      });
  return {
    client,
    deeds,
    /** Somebody uses `/ask`; `token` is what it is answered by. */
    ask({ id, token, userId, channelId, text, fileName }: Asking): ChatInputCommandInteraction {
      const options = [{ name: 'text', type: ApplicationCommandOptionType.String, value: text }];
      const file = { name: 'file', type: ApplicationCommandOptionType.Attachment, value: id };
      const attachment = { id, name: fileName ?? '', contentType: undefined, bytes: Buffer.from('') };
      const interaction: Interaction = {
        id,
        token,
        userId,
        channelId,
        request: {
          kind: 'slash',
          command: askCommand,
          options: fileName === undefined ? options : [...options, file],
          attachments: fileName === undefined ? [] : [attachment],
        },
        state: 'waiting',
        original: undefined,
        followUps: [],
        modal: undefined,
        choices: [],
      };
      const payload = interactionPayload(world, interaction, 'https://cdn.discordapp.com');
      return Reflect.construct(ChatInputCommandInteraction, [client, payload]);
    },
  };
}

interface Asking {
  readonly id: string;
  readonly token: string;
  readonly userId: string;
  readonly channelId: string;
  readonly text: string;
  readonly fileName?: string | undefined;
}

const askCommand = {
  id: '160000000000000001',
  type: ApplicationCommandType.ChatInput,
  name: 'ask',
  description: 'Ask me something',
  options: [],
  memberPermissions: undefined,
  contexts: undefined,
  installations: undefined,
  nsfw: false,
  version: '1',
} as const;

/** Puts into a cache what the gateway would have told. */
function add(manager: object, data: object): void {
  Reflect.apply(Reflect.get(manager, '_add'), manager, [data]);
}

function message({
  id,
  channelId,
  content,
  author,
  at,
}: Record<'id' | 'channelId' | 'content' | 'author' | 'at', unknown>): object {
  return {
    id,
    channel_id: channelId,
    type: 0,
    content,
    author,
    timestamp: at,
    edited_timestamp: null,
    attachments: [],
    embeds: [],
    mentions: [],
    mention_roles: [],
    components: [],
  };
}

function json(body: object): Response {
  return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
}

export function hasNoPings({ allowed_mentions: allowed }: Deed['body']): boolean {
  return JSON.stringify(allowed) === '{"parse":[],"replied_user":false}';
}

const flagsSchema = z.object({ flags: z.number() });

/** Whether what answers an interaction is for the eyes of its person alone; an edit stays what its message is. */
export function isForOneAlone({ method, path, body }: Deed): boolean {
  if (method === 'PATCH') return true;
  const { data } = flagsSchema.safeParse(path.endsWith('/callback') ? body['data'] : body);
  return data !== undefined && (data.flags & MessageFlags.Ephemeral) !== 0;
}

/** The order that a request carries out. */
export function verbOf(path: string, body: Deed['body']): string {
  if (path.includes('/pins/')) return 'pin';
  if (path.includes('/reactions/')) return 'react';
  if (path.includes('/threads')) return 'thread';
  return 'poll' in body ? 'poll' : 'send';
}
