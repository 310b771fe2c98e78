import { ApplicationFlags, TeamMemberMembershipState, TeamMemberRole } from 'discord-api-types/v10';
import type { APIApplication, APITeam } from 'discord-api-types/v10';

import type { Team } from '../world/entities.ts';
import { userOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { flagBits } from './flag-bits.ts';
import { userPayload } from './user-payload.ts';

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
