import { MessageFlags } from 'discord-api-types/v10';

import type { EphemeralMessage, Message } from './entities.ts';
import { deleteMessage, draftMessage, findMessage } from './messages.ts';
import type { NewMessage } from './messages.ts';
import type { World } from './world.ts';

/** Shows a message to one person alone: it enters no channel's history, and the gateway tells nobody of it. */
export function createEphemeral(world: World, input: NewMessage, viewerId: string): Message {
  const ephemeral: EphemeralMessage = { message: draftMessage(world, input), viewerId };
  world.ephemerals.set(ephemeral.message.id, ephemeral);
  world.emit({ type: 'ephemeral-created', ephemeral });
  return ephemeral.message;
}

/** Deletes a message, whether a channel has it or one person sees it; absent is fine. */
export function deleteAnyMessage(world: World, message: Message): void {
  const ephemeral = world.ephemerals.get(message.id);
  if (ephemeral === undefined) {
    deleteMessage(world, message.channelId, message.id);
    return;
  }
  world.ephemerals.delete(message.id);
  world.emit({ type: 'ephemeral-deleted', ephemeral });
}

/** Whether a message is there still, in its channel or before one person's eyes. */
export function isThere(world: World, message: Message): boolean {
  return world.ephemerals.has(message.id) || findMessage(world, message.channelId, message.id) !== undefined;
}

export function isEphemeral({ flags }: Message): boolean {
  return (flags & MessageFlags.Ephemeral) !== 0;
}
