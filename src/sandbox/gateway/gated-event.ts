import { GatewayIntentBits } from 'discord-api-types/v10';
import type { GatewayDispatchEvents } from 'discord-api-types/v10';

/** An event for one client, not numbered yet. */
export interface ClientEvent {
  readonly type: GatewayDispatchEvents;
  readonly data: unknown;
}

export interface GatedEvent extends ClientEvent {
  /** One of these intents is needed; 0 for none. */
  readonly intent: number;
}

/** `undefined` where the bot may not know of it. */
export type Found = GatedEvent | undefined;

export function guildEvent(type: GatewayDispatchEvents, data: unknown): GatedEvent {
  return { type, data, intent: GatewayIntentBits.Guilds };
}
