import type {
  APIMessage,
  RESTPatchAPIChannelMessageJSONBody,
  RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';

import { isSnowflake } from '../../core/snowflake.ts';
import type { DiscordApi } from '../discord-api.ts';
import { isReplyForbidden } from './reply-error.ts';

const noPings = { parse: [], replied_user: false };

/** A chunk as a message: the first one is a reply to the message that `nonceBase` names, where it names one. */
export function postBody(
  content: string,
  nonceBase: string,
  index: number,
): RESTPostAPIChannelMessageJSONBody {
  const isReply = index === 0 && isSnowflake(nonceBase);
  return {
    content,
    allowed_mentions: noPings,
    nonce: `${nonceBase}-${index}`,
    enforce_nonce: true,
    ...(isReply && { message_reference: { message_id: nonceBase, fail_if_not_exists: false } }),
  };
}

export function editBody(content: string): RESTPatchAPIChannelMessageJSONBody {
  return { content, allowed_mentions: noPings };
}

/** Without the permission to read the channel's history a bot may speak, but not reply. */
export async function post(
  api: Pick<DiscordApi, 'postMessage'>,
  channelId: string,
  body: RESTPostAPIChannelMessageJSONBody,
): Promise<APIMessage> {
  try {
    return await api.postMessage(channelId, body);
  } catch (error) {
    if (body.message_reference === undefined || !isReplyForbidden(error)) throw error;
    const { message_reference: _, ...unbound } = body;
    return await api.postMessage(channelId, unbound);
  }
}
