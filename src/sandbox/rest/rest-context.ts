import { PermissionFlagsBits, type APIMessage } from 'discord-api-types/v10';

import { messagePayload } from '../payloads/message-payload.ts';
import type { Channel, Guild, Message, ThreadChannel } from '../world/entities.ts';
import { findMessage } from '../world/messages.ts';
import { canView, isLockedFor, may } from '../world/permissions.ts';
import type { World } from '../world/world.ts';
import { apiErrors } from './api-error.ts';
import type { CdnFaults, Faults } from './faults.ts';
import type { RateLimits } from './rate-limits.ts';
import type { Download, RecordedRequest } from './request-log.ts';

/** What every route is given. */
export interface RestContext {
  readonly world: World;
  readonly token: string;
  readonly faults: Faults;
  readonly cdnFaults: CdnFaults;
  readonly rateLimits: RateLimits;
  /** Every REST request, oldest first; added to. */
  readonly requests: RecordedRequest[];
  /** What was fetched from the CDN, oldest first; added to. */
  readonly downloads: Download[];
  /** Changes the body of an answer. */
  readonly sends: (body: unknown) => unknown;
  /** What a bot learns about the gateway besides its address. */
  readonly gatewayFacts: () => object;
  /** Known once the server listens. */
  readonly urls: () => { readonly gateway: string; readonly cdn: string };
}

/** A route whose path has these parts. */
export interface On<Part extends string> {
  readonly Params: Readonly<Record<Part, string>>;
}

/** A message as REST shows it: content is kept back only where the application has no access to it at all. */
export function messageAnswer({ world, urls }: RestContext, message: Message): APIMessage {
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

/** A guild that the bot is in. @throws {ApiError} 10004. */
export function guildWithBot(context: RestContext, id: string): Guild {
  const guild = context.world.guilds.get(id);
  if (guild === undefined || !guild.members.has(context.world.botId)) throw apiErrors.unknownGuild();
  return guild;
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

/** A thread that the bot can view. @throws {ApiError} 10003, 50001 or 50024. */
export function viewableThread(context: RestContext, id: string): ThreadChannel {
  const channel = viewableChannel(context, id);
  if (channel.kind !== 'thread') throw apiErrors.wrongChannelType();
  return channel;
}

/** @throws {ApiError} 50083 when the channel is a thread that was put away, or that is locked for the bot. */
export function requireOpen({ world }: RestContext, channel: Channel): void {
  if (channel.kind === 'thread' && channel.archived) throw apiErrors.threadArchived();
  if (isLockedFor(world, channel, world.botId)) throw apiErrors.threadArchived(403);
}
