import {
  ApplicationFlags,
  TeamMemberMembershipState,
  TeamMemberRole,
  type APIApplication,
  type APIEmoji,
  type APITeam,
  type APIUser,
} from 'discord-api-types/v10';

import type { GuildEmoji, Team, User } from '../world/entities.ts';
import { userOf, type World } from '../world/world.ts';

/** A user as Discord shows one; `bot` is left out for people. */
export function userPayload(user: User): APIUser {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.bot ? '0001' : '0',
    global_name: null,
    avatar: null,
    bot: user.bot ? true : undefined,
  };
}

/** The bot's application with its owner; a team's application is owned by a stand-in user that nobody is. */
export function applicationPayload(world: World): APIApplication {
  const { application } = world;
  const flags = applicationFlags(world);
  return {
    id: application.id,
    name: application.name,
    icon: null,
    description: '',
    bot_public: false,
    bot_require_code_grant: false,
    bot: userPayload(userOf(world, world.botId)),
    summary: '',
    verify_key: '0'.repeat(64),
    flags,
    flags_new: String(flags),
    owner:
      application.team === undefined
        ? userPayload(userOf(world, application.ownerId))
        : {
            id: application.team.id,
            username: `team${application.team.id}`,
            discriminator: '0000',
            global_name: null,
            avatar: null,
          },
    team: application.team === undefined ? null : teamPayload(world, application.team),
  };
}

/** Which privileged intents the application may ask for, as flags of a bot in fewer than 100 guilds. */
export function applicationFlags(world: World): ApplicationFlags {
  const { privileged } = world.application;
  return flagBits(
    (privileged.messageContent ? ApplicationFlags.GatewayMessageContentLimited : 0) |
      (privileged.guildMembers ? ApplicationFlags.GatewayGuildMembersLimited : 0) |
      (privileged.presences ? ApplicationFlags.GatewayPresenceLimited : 0),
  );
}

function teamPayload(world: World, team: Team): APITeam {
  return {
    id: team.id,
    icon: null,
    name: team.name,
    owner_user_id: team.ownerId,
    members: team.memberIds.map((id) => ({
      membership_state: TeamMemberMembershipState.Accepted,
      permissions: ['*'],
      team_id: team.id,
      user: userPayload(userOf(world, id)),
      role: TeamMemberRole.Admin,
    })),
  };
}

/** An emoji of a guild's own. */
export function emojiPayload({ id, name }: GuildEmoji): APIEmoji {
  return { id, name, roles: [], require_colons: true, managed: false, animated: false, available: true };
}

/** The emoji of a reaction, from the key under which it is kept: itself, or `name:id`. */
export function reactionEmoji(key: string): { readonly id: string | null; readonly name: string } {
  const { name, id } = /^(?<name>\w+):(?<id>\d+)$/u.exec(key)?.groups ?? {};
  return name === undefined || id === undefined ? { id: null, name: key } : { id, name };
}

/** A flags field: any sum of its enum's members, none included, which the enum's type itself cannot express. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller's field decides which flags these are
export function flagBits<Flags extends number>(bits: number): Flags {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is what this function is for
  return bits as Flags;
}
