import type { IncomingHttpHeaders } from 'node:http';

import { PermissionFlagsBits } from 'discord-api-types/v10';

import { messagePayload } from '../payloads/message-payload.ts';
import type { Channel, Message } from '../world/entities.ts';
import { findMessage } from '../world/messages.ts';
import { canView, isLockedFor, may } from '../world/permissions.ts';
import type { World } from '../world/world.ts';
import { apiErrors } from './api-error.ts';

/** A request as it came. */
export interface ApiRequest {
  readonly method: string;
  /** Without `/api/v10` and the query; of a file the whole path. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** JSON as it came; of an upload the JSON part with the files' names as `files`. */
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
}

/** What comes of a request instead, or besides. */
interface Intervention {
  /** For the answer, whichever it is. */
  readonly headers?: Readonly<Record<string, string>>;
  /** This is the answer, and nothing is done. */
  readonly answer?: { readonly status: number; readonly body: unknown };
  /** The connection breaks: before the request is carried out, or after it, so that the bot cannot know. */
  readonly breaks?: 'before' | 'after';
}

/** What a test sees of requests, and does with them. */
export interface Interception {
  /** Asked before anything is checked or done. */
  readonly meet: (request: ApiRequest) => Promise<Intervention | undefined>;
  /** Called with the status of the answer. */
  readonly answered?: (request: ApiRequest, status: number) => void;
}

/** What every route is given. */
export interface RestContext {
  readonly world: World;
  readonly token: string;
  readonly interception: Interception | undefined;
  /** Changes the body of an answer. */
  readonly sends: (body: unknown) => unknown;
  /** How many shards `GET /gateway/bot` recommends, which may identify at the same time. */
  readonly shards: number;
  /** Known once the server listens. */
  readonly urls: () => { readonly gateway: string; readonly cdn: string };
}

/** A route whose path has these parts. */
export interface On<Part extends string> {
  readonly Params: Readonly<Record<Part, string>>;
}

/** What a bot hands in, whose form is known: it is made by the client that bots use. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the route decides which form it is
export function bodyAs<Form>(body: unknown): Form {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is what this function is for
  return body as Form;
}

/** A message as REST shows it: content is kept back only where the application has no access to it at all. */
export function messageAnswer({ world, urls }: RestContext, message: Message): object {
  const readsContent = world.application.privileged.messageContent;
  return messagePayload(world, message, { cdnUrl: urls().cdn, readsContent });
}

/** The channel, which the bot must be able to view. @throws {ApiError} 10003 or 50001. */
export function viewableChannel(context: RestContext, id: string): Channel {
  const channel = context.world.channels.get(id);
  if (channel === undefined) throw apiErrors.unknownChannel();
  if (!canView(context.world, channel, context.world.botId)) throw apiErrors.missingAccess();
  return channel;
}

/** A message of a channel that the bot can view. @throws {ApiError} 10008. */
export function messageIn(context: RestContext, channel: Channel, id: string): Message {
  const message = findMessage(context.world, channel.id, id);
  if (message === undefined) throw apiErrors.unknownMessage();
  return message;
}

/** The message that a path names, and its channel. @throws {ApiError} 10003, 50001 or 10008. */
export function messageAt(
  context: RestContext,
  params: On<'channel' | 'message'>['Params'],
): { readonly channel: Channel; readonly message: Message } {
  const channel = viewableChannel(context, params.channel);
  return { channel, message: messageIn(context, channel, params.message) };
}

/** @throws {ApiError} 50013 when the bot lacks a permission in the channel. */
export function requirePermission(
  context: RestContext,
  channel: Channel,
  permission: keyof typeof PermissionFlagsBits,
): void {
  if (!may(context.world, channel, context.world.botId, PermissionFlagsBits[permission])) {
    throw apiErrors.missingPermissions();
  }
}

/** @throws {ApiError} 50083 when the channel is a thread that was put away, or that is locked for the bot. */
export function requireOpen({ world }: RestContext, channel: Channel): void {
  if (channel.kind === 'thread' && channel.archived) throw apiErrors.threadArchived();
  if (isLockedFor(world, channel, world.botId)) throw apiErrors.threadArchived(403);
}
