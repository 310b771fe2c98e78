import { setTimeout as delay } from 'node:timers/promises';

import { Events, type APIApplication, type Client } from 'discord.js';

import { createDiscordApi } from './discord-api.ts';
import { GatewayError, gatewayErrorOf } from './gateway-error.ts';

export interface Application {
  readonly id: string;
  /** The owner, of a team its owner: the other members do not own the bot [G1]. */
  readonly ownerIds: readonly string[];
}

/**
 * Who the token belongs to. Asked before the gateway is, so that access is settled when the first message arrives.
 * @throws {GatewayError} for a bad token or an unreachable server.
 */
export async function fetchApplication(client: Client, token: string): Promise<Application> {
  if (token.trim() === '') throw new GatewayError('token');
  try {
    client.rest.setToken(token);
    return applicationOf(await createDiscordApi(client.rest).application());
  } catch (error) {
    throw gatewayErrorOf(error);
  }
}

export function applicationOf({
  id,
  team,
  owner,
}: Pick<APIApplication, 'id' | 'team' | 'owner'>): Application {
  const ownerId = team?.owner_user_id ?? owner?.id;
  return { id, ownerIds: ownerId === undefined ? [] : [ownerId] };
}

/**
 * Logs in, and resolves when the client is ready.
 * @throws {GatewayError} for a bad token, refused intents, an unreachable server, or after `timeoutMs`; the client is destroyed then.
 */
export async function logIn(client: Client, token: string, timeoutMs: number): Promise<void> {
  const finished = new AbortController();
  const ready = new Promise<void>((resolve) => {
    client.once(Events.ClientReady, () => resolve());
  });
  const connected = client.login(token);
  try {
    const deadline = delay(timeoutMs, undefined, { signal: finished.signal }).then(() => {
      throw new GatewayError('timeout');
    });
    await Promise.race([Promise.all([ready, connected]), deadline]);
  } catch (error) {
    client.removeAllListeners(Events.ClientReady);
    await giveUp(client, connected);
    throw gatewayErrorOf(error);
  } finally {
    finished.abort();
  }
}

/** While the client does not know the gateway's address it cannot be stopped from connecting there, so it is stopped after that. */
async function giveUp(client: Client, connected: Promise<unknown>): Promise<void> {
  if (client.ws.gateway !== null) return client.destroy();
  void connected.then(
    () => client.destroy(),
    () => client.destroy(),
  );
}
