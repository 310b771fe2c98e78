import { createTextChannel, openDm } from './channels.ts';
import type { PrivilegedIntents, Team } from './entities.ts';
import { addMember, createGuild, createUser } from './guilds.ts';
import type { Clock } from './snowflakes.ts';
import { createWorld, type World } from './world.ts';

/** The ids of the default world: valid, the same in every run, and older than every id made later. */
const defaultIds = {
  guild: '110000000000000001',
  botRole: '110000000000000002',
  general: '120000000000000001',
  dev: '120000000000000002',
  secret: '120000000000000003',
  bot: '130000000000000001',
  team: '130000000000000002',
  alice: '140000000000000001',
  bob: '140000000000000002',
  carol: '140000000000000003',
} as const;

/** The DMs have ids of their own too, so that a bot that starts again finds the conversations it remembers. */
const defaultDmIds = {
  alice: '150000000000000001',
  bob: '150000000000000002',
  carol: '150000000000000003',
} as const;

interface DefaultWorldOptions {
  readonly now: Clock;
  /** The bot belongs to a team (Alice owns it, Bob is a member) instead of to Alice alone. */
  readonly ownedByTeam: boolean;
  readonly privileged: PrivilegedIntents;
}

/**
 * The guild "Sandbox" with #general, #dev and #secret (for Alice, Bob and the bot), the people Alice (owner of guild and
 * bot), Bob and Carol, each with an open DM, and the bot Discoclaw.
 */
export function createDefaultWorld(options: DefaultWorldOptions): World {
  const team: Team = {
    id: defaultIds.team,
    name: 'Claws',
    ownerId: defaultIds.alice,
    memberIds: [defaultIds.alice, defaultIds.bob],
  };
  const world = createWorld(
    {
      id: defaultIds.bot,
      name: 'Discoclaw',
      ownerId: defaultIds.alice,
      team: options.ownedByTeam ? team : undefined,
      privileged: options.privileged,
    },
    options.now,
  );
  createUser(world, { name: 'Discoclaw', id: defaultIds.bot, bot: true });
  for (const name of ['alice', 'bob', 'carol'] as const) {
    createUser(world, { name, id: defaultIds[name] });
    openDm(world, defaultIds[name], defaultDmIds[name]);
  }
  createGuild(world, {
    name: 'Sandbox',
    ownerId: defaultIds.alice,
    id: defaultIds.guild,
    botRoleId: defaultIds.botRole,
  });
  addMember(world, defaultIds.guild, defaultIds.bob);
  addMember(world, defaultIds.guild, defaultIds.carol);
  createTextChannel(world, { guildId: defaultIds.guild, name: 'general', id: defaultIds.general });
  createTextChannel(world, { guildId: defaultIds.guild, name: 'dev', id: defaultIds.dev });
  createTextChannel(world, {
    guildId: defaultIds.guild,
    name: 'secret',
    id: defaultIds.secret,
    onlyFor: [defaultIds.alice, defaultIds.bob],
  });
  return world;
}
