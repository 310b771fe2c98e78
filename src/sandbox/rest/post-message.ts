import { PermissionFlagsBits } from 'discord-api-types/v10';

import type { Channel, DmChannel, Message, MessageReference } from '../world/entities.ts';
import { mentionsIn } from '../world/mentions.ts';
import { createMessage, findMessage, type NewMessage } from '../world/messages.ts';
import { canSend, isLockedFor, may } from '../world/permissions.ts';
import { userOf, type World } from '../world/world.ts';
import { apiErrors } from './api-error.ts';
import { newPoll, requireContent, type MessageForm } from './message-form.ts';

/** Discord looks for an equal nonce among the messages "of the past few minutes", in milliseconds. */
const nonceWindow = 5 * 60_000;

/**
 * Posts a message as the bot. With `enforce_nonce` and a nonce that the bot used within the last minutes, nothing is
 * posted: that message is the answer, or 10008 where it was deleted since.
 * @throws {ApiError} 10008, 50013, 50007, 50278, 50008, 50083, 50006, 160002 or 50035.
 */
export function postMessage(world: World, channel: Channel, form: MessageForm): Message {
  requireRightToSend(world, channel, form);
  requireContent(form);
  const earlier = form.enforce_nonce ? findByNonce(world, form.nonce) : undefined;
  if (earlier !== undefined) return earlier;

  const replyTo = resolveReference(world, channel, form);
  const message = createMessage(world, {
    ...contentOf(world, form, repliedUser(world, replyTo)),
    channel,
    authorId: world.botId,
    nonce: form.nonce ?? undefined,
    replyTo,
  });
  if (message.nonce !== undefined) world.nonces.set(String(message.nonce), message);
  return message;
}

/** Who wrote what a message answers, as long as that is there. */
export function repliedUser(world: World, replyTo: MessageReference | undefined): string | undefined {
  return replyTo && findMessage(world, replyTo.channelId, replyTo.messageId)?.authorId;
}

/** What a form puts into a message; `repliedUserId` wrote what it answers. */
export function contentOf(
  world: World,
  form: MessageForm,
  repliedUserId: string | undefined,
): Omit<NewMessage, 'channel' | 'authorId'> {
  return {
    text: form.content ?? '',
    mentions: mentionsIn(form.content ?? '', form.allowed_mentions ?? undefined, repliedUserId),
    attachments: form.files.map((file) => ({ ...file, id: world.nextId() })),
    embeds: form.embeds ?? [],
    components: form.components,
    poll: form.poll ? newPoll(form.poll, world.now()) : undefined,
    flags: form.flags ?? 0,
  };
}

/** What a form changes of a message; its attachments are those that it keeps and the new files. */
export function changeBy(
  world: World,
  message: Message,
  form: MessageForm,
  repliedUserId: string | undefined,
) {
  const { content: text, embeds, components, allowed_mentions: allowed, attachments } = form;
  const keptIds = attachments?.map(({ id }) => id);
  const kept = message.attachments.filter(({ id }) => keptIds?.includes(id) ?? true);
  return {
    text,
    embeds,
    components,
    attachments: [...kept, ...form.files.map((file) => ({ ...file, id: world.nextId() }))],
    mentions: text === undefined ? undefined : mentionsIn(text, allowed ?? undefined, repliedUserId),
  };
}

function requireRightToSend(world: World, channel: Channel, form: MessageForm): void {
  if (channel.kind === 'dm') {
    requireDmAccepted(world, channel);
    return;
  }
  if (channel.kind === 'text' && channel.form === 'forum') throw apiErrors.notATextChannel();
  if (isLockedFor(world, channel, world.botId)) throw apiErrors.threadArchived(403);
  const needed =
    (form.files.length === 0 ? 0n : PermissionFlagsBits.AttachFiles) |
    (form.poll ? PermissionFlagsBits.SendPolls : 0n);
  if (!canSend(world, channel, world.botId) || !may(world, channel, world.botId, needed)) {
    throw apiErrors.missingPermissions();
  }
}

/** A bot may write to who shares a guild with it and has not closed their DMs. @throws {ApiError} 50278 or 50007. */
function requireDmAccepted(world: World, { personId }: DmChannel): void {
  const isShared = [...world.guilds.values()].some(({ members }) =>
    [personId, world.botId].every((id) => members.has(id)),
  );
  if (!isShared) throw apiErrors.noMutualGuild();
  if (userOf(world, personId).closedDms) throw apiErrors.cannotDm();
}

/** @throws {ApiError} 10008 where the message that had the nonce is deleted. */
function findByNonce(world: World, nonce: MessageForm['nonce']): Message | undefined {
  const had = world.nonces.get(String(nonce));
  if (had === undefined || Date.parse(had.createdAt) < world.now().getTime() - nonceWindow) return undefined;
  const message = findMessage(world, had.channelId, had.id);
  if (message === undefined) throw apiErrors.unknownMessage();
  return message;
}

function resolveReference(world: World, channel: Channel, form: MessageForm): MessageReference | undefined {
  const reference = form.message_reference;
  if (reference === undefined || reference === null) return undefined;
  if (!may(world, channel, world.botId, PermissionFlagsBits.ReadMessageHistory)) {
    throw apiErrors.replyForbidden();
  }
  if (findMessage(world, channel.id, reference.message_id) !== undefined) {
    return { channelId: channel.id, messageId: reference.message_id };
  }
  if (reference.fail_if_not_exists === false) return undefined;
  throw apiErrors.invalidField(['message_reference'], 'MESSAGE_REFERENCE_UNKNOWN_MESSAGE', 'Unknown message');
}
