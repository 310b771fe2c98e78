import { addMember, createGuild, createTextChannel, openDm } from './guilds.ts';
import { createWorld, type Clock, type World } from './world.ts';

/** The ids of the default world: valid, the same in every run, and older than every id made later. */
const [guild, bot] = ['110000000000000001', '130000000000000001'];
const people = { alice: '140000000000000001', bob: '140000000000000002', carol: '140000000000000003' };

/**
 * The guild "Sandbox" with #general, #dev and #secret (for Alice, Bob and the bot), the people Alice (owner of guild and
 * bot), Bob and Carol, each with an open DM, and the bot Discoclaw.
 */
export function createDefaultWorld(now: Clock): World {
  const privileged = { messageContent: true, guildMembers: true, presences: true };
  const { alice, bob, carol } = people;
  const world = createWorld({ id: bot, name: 'Discoclaw', ownerId: alice, privileged }, now);
  world.users.set(bot, { id: bot, username: 'Discoclaw', bot: true, closedDms: false });
  for (const [username, id] of Object.entries(people)) {
    world.users.set(id, { id, username, bot: false, closedDms: false });
    // With an id of its own, so that a bot that starts again finds the conversations it remembers.
    openDm(world, id, id.replace('14', '15'));
  }
  createGuild(world, { name: 'Sandbox', ownerId: alice, id: guild, botRoleId: '110000000000000002' });
  addMember(world, guild, bob);
  addMember(world, guild, carol);
  createTextChannel(world, { guildId: guild, name: 'general', id: '120000000000000001' });
  createTextChannel(world, { guildId: guild, name: 'dev', id: '120000000000000002' });
  createTextChannel(world, {
    guildId: guild,
    name: 'secret',
    id: '120000000000000003',
    onlyFor: [alice, bob],
  });
  return world;
}
