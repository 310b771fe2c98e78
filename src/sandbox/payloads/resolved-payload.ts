import { ApplicationCommandOptionType } from 'discord-api-types/v10';

import type { Channel, InteractionOption } from '../world/entities.ts';
import { channelPermissions } from '../world/permissions.ts';
import { guildIdOf, memberOf, userOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { channelPayload } from './channel-payload.ts';
import { memberPayloadWithoutUser } from './guild-payload.ts';
import { userPayload } from './user-payload.ts';

/** Who asks, and where. */
export interface Asking {
  readonly userId: string;
  readonly channel: Channel;
}

/** The users and channels that options name; empty where they name none. */
export function resolvedValues(
  world: World,
  options: readonly InteractionOption[],
  { userId, channel: here }: Asking,
): object {
  const given = options.flatMap((option) => option.options ?? [option]);
  const idsOf = (wanted: ApplicationCommandOptionType): readonly string[] =>
    given.flatMap(({ type, value }) => (type === wanted && typeof value === 'string' ? [value] : []));
  const userIds = idsOf(ApplicationCommandOptionType.User).filter((id) => world.users.has(id));
  const channels = idsOf(ApplicationCommandOptionType.Channel).flatMap((id) => world.channels.get(id) ?? []);
  return {
    ...(userIds.length === 0 ? {} : resolvedUsers(world, userIds, here)),
    ...(channels.length === 0
      ? {}
      : {
          channels: Object.fromEntries(
            channels.map((channel) => {
              const permissions = channelPermissions(world, channel, userId).toString();
              return [channel.id, { ...channelPayload(world, channel, userId), permissions }];
            }),
          ),
        }),
  };
}

/** Users, and in a guild what they are there as members. */
export function resolvedUsers(world: World, ids: readonly string[], here: Channel): object {
  const guildId = guildIdOf(here);
  const members = ids.flatMap((id) => {
    const member = guildId === undefined ? undefined : memberOf(world, guildId, id);
    const permissions = channelPermissions(world, here, id).toString();
    return member === undefined ? [] : [[id, { ...memberPayloadWithoutUser(member), permissions }]];
  });
  return {
    users: Object.fromEntries(ids.map((id) => [id, userPayload(userOf(world, id))])),
    ...(members.length === 0 ? {} : { members: Object.fromEntries(members) }),
  };
}
