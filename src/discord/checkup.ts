import { PermissionsBitField, type Client } from 'discord.js';

import type { CommandDefinition } from '../core/commands.ts';
import type { Logger } from '../core/logger.ts';
import { createDiscordClient, fetchApplication } from './client.ts';
import { gatewayErrorOf } from './gateway-error.ts';
import { createDiscordApi } from './discord-api.ts';
import { commandsToRegister, isEntryPoint } from './interactions/register-commands.ts';
import { deniedIn, lacksEssentials, missingPermissions } from './permissions.ts';

/** All reject with `GatewayError`. */
export type DiscordCheckup = ReturnType<typeof createCheckup>;

/** Without the gateway, so beside a running bot too. `work` must not outlast it. */
export async function withDiscord<Result>(
  options: { readonly token: string; readonly apiUrl?: string | undefined; readonly logger: Logger },
  work: (discord: DiscordCheckup) => Promise<Result>,
): Promise<Result> {
  let aheadMs: number | undefined;
  const client = createDiscordClient({ ...options, onDate: (ms) => (aheadMs = ms) });
  try {
    return await work(createCheckup(client, options.token, () => aheadMs));
  } finally {
    await client.destroy();
  }
}

/** `aheadMs`: Discord's clock less ours, in milliseconds. */
function createCheckup(client: Client, token: string, aheadMs: () => number | undefined) {
  const api = createDiscordApi(client);
  return {
    /** To be called first: it sets the token. */
    application: () => fetchApplication(client, token),
    aheadMs,
    async recommendedShards(): Promise<number> {
      client.rest.setToken(token);
      return (await orTimeout(api.gateway())).shards;
    },
    /** Names of channels that take of what the server grants, with what; none where the server does not tell. */
    async denied(guildId: string, granted: bigint, botId: string): Promise<readonly string[]> {
      try {
        const roles = await api.rolesOf(guildId, botId);
        return (await api.guildChannels(guildId)).flatMap(
          ({ name, permission_overwrites: overwrites = [] }) => {
            const denied = deniedIn(overwrites, granted, [guildId, roles, botId]);
            return denied.length === 0 ? [] : [`#${name} (${denied.join(', ')})`];
          },
        );
      } catch {
        return [];
      }
    },
    async servers() {
      return (await orTimeout(api.ownGuilds())).map(({ id, name, permissions }) => {
        // Other servers than Discord may leave them out.
        if (!permissions) return { id, name, missing: undefined, isMute: false, granted: 0n };
        const granted = PermissionsBitField.resolve(BigInt(permissions));
        return { id, name, missing: missingPermissions(granted), isMute: lacksEssentials(granted), granted };
      });
    },
    async hasCommands(
      applicationId: string,
      definitions: readonly CommandDefinition[],
      menuNames: readonly string[],
    ): Promise<boolean> {
      const all = await orTimeout(api.registeredCommands(applicationId));
      const registered = all.filter((command) => !isEntryPoint(command));
      const expected = new Set(commandsToRegister(definitions, menuNames).map(({ name }) => name));
      return registered.length === expected.size && registered.every(({ name }) => expected.has(name));
    },
  };
}

function orTimeout<Answer>(request: Promise<Answer>): Promise<Answer> {
  return request.catch((error: unknown) => {
    throw gatewayErrorOf(error);
  });
}
