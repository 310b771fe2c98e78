import { PermissionFlagsBits } from 'discord-api-types/v10';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createTextChannel, openDm, setOverwrite, setPrivacy } from '../../../src/sandbox/world/channels.ts';
import { createDefaultWorld } from '../../../src/sandbox/world/default-world.ts';
import type { TextChannel } from '../../../src/sandbox/world/entities.ts';
import { setRole } from '../../../src/sandbox/world/guilds.ts';
import { canSend, canView, channelPermissions, may } from '../../../src/sandbox/world/permissions.ts';
import { createThread } from '../../../src/sandbox/world/threads.ts';
import { guildOf, type World } from '../../../src/sandbox/world/world.ts';

const { ViewChannel, Connect, SendMessages, SendMessagesInThreads, ManageThreads, Administrator } =
  PermissionFlagsBits;

interface Scene {
  readonly world: World;
  readonly guildId: string;
  readonly channel: TextChannel;
  readonly alice: string;
  readonly bob: string;
  readonly carol: string;
}

function scene(): Scene {
  const world = createDefaultWorld({
    now: () => new Date('2026-03-01T12:00:00Z'),
    ownedByTeam: false,
    privileged: { messageContent: true, guildMembers: true, presences: true },
  });
  const idOf = (name: string): string =>
    [...world.users.values()].find(({ username }) => username === name)?.id ?? '';
  const [guildId = ''] = world.guilds.keys();
  const channel = createTextChannel(world, { guildId, name: 'hall' });
  return { world, guildId, channel, alice: idOf('alice'), bob: idOf('bob'), carol: idOf('carol') };
}

describe('permissions in a channel', () => {
  it('let every member see and write where nothing is overwritten', () => {
    const { world, channel, bob } = scene();
    expect(canView(world, channel, bob)).toBe(true);
    expect(canSend(world, channel, bob)).toBe(true);
  });

  it('hide a private channel from everybody but its people, the bot and the guild’s owner', () => {
    const { world, channel, alice, bob, carol } = scene();
    setPrivacy(world, channel, [bob]);
    expect([alice, bob, carol, world.botId].map((id) => canView(world, channel, id))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    setPrivacy(world, channel, undefined);
    expect(canView(world, channel, carol)).toBe(true);
  });

  it('put roles over @everyone, and the member over roles', () => {
    const { world, guildId, channel, carol } = scene();
    const guild = guildOf(world, guildId);
    const role = setRole(world, guild, { name: 'muted', permissions: 0n, userIds: [carol] });
    setOverwrite(world, channel, { targetId: guildId, kind: 'role', allow: SendMessages, deny: 0n });
    setOverwrite(world, channel, { targetId: role.id, kind: 'role', allow: 0n, deny: SendMessages });
    expect(canSend(world, channel, carol)).toBe(false);
    setOverwrite(world, channel, { targetId: carol, kind: 'member', allow: SendMessages, deny: 0n });
    expect(canSend(world, channel, carol)).toBe(true);
  });

  it('give an administrator everything, overwrites or not', () => {
    const { world, guildId, channel, carol } = scene();
    setRole(world, guildOf(world, guildId), { name: 'admin', permissions: Administrator, userIds: [carol] });
    setPrivacy(world, channel, []);
    expect(may(world, channel, carol, ViewChannel | ManageThreads)).toBe(true);
  });

  it('let people who may not connect see only that a voice or stage channel exists', () => {
    const { world, guildId, carol } = scene();
    for (const form of ['voice', 'stage'] as const) {
      const lounge = createTextChannel(world, { guildId, name: form, form });
      expect(canView(world, lounge, carol)).toBe(true);
      setOverwrite(world, lounge, { targetId: guildId, kind: 'role', allow: 0n, deny: Connect });
      expect([canView(world, lounge, carol), channelPermissions(world, lounge, carol)]).toEqual([
        false,
        ViewChannel,
      ]);
    }
  });

  it('allow nothing without viewing the channel, whatever else is allowed', () => {
    const bits = fc
      .bigInt({ min: 0n, max: (1n << 50n) - 1n })
      .map((all) => all & ~ViewChannel & ~Administrator);
    fc.assert(
      fc.property(bits, bits, (allow, deny) => {
        const { world, guildId, channel, carol } = scene();
        setOverwrite(world, channel, { targetId: carol, kind: 'member', allow, deny });
        setOverwrite(world, channel, { targetId: guildId, kind: 'role', allow: 0n, deny: ViewChannel });
        expect(channelPermissions(world, channel, carol)).toBe(0n);
      }),
      { numRuns: 30 },
    );
  });

  it('give strangers to the guild nothing', () => {
    const { world, channel } = scene();
    expect(channelPermissions(world, channel, '199999999999999999')).toBe(0n);
  });
});

describe('permissions in a thread', () => {
  it('are the parent’s, with a permission of their own for writing', () => {
    const { world, channel, alice, bob } = scene();
    const thread = createThread(world, { parent: channel, name: 'plan', ownerId: alice, isPrivate: false });
    setOverwrite(world, channel, { targetId: bob, kind: 'member', allow: 0n, deny: SendMessages });
    expect(canSend(world, channel, bob)).toBe(false);
    expect(canSend(world, thread, bob)).toBe(true);
    setOverwrite(world, channel, { targetId: bob, kind: 'member', allow: 0n, deny: SendMessagesInThreads });
    expect(canSend(world, thread, bob)).toBe(false);
    setPrivacy(world, channel, []);
    expect(canView(world, thread, bob)).toBe(false);
  });

  it('show a private one only to its members and to thread managers', () => {
    const { world, guildId, channel, bob, carol } = scene();
    const thread = createThread(world, { parent: channel, name: 'plot', ownerId: bob, isPrivate: true });
    expect([bob, carol, world.botId].map((id) => canView(world, thread, id))).toEqual([true, false, false]);
    setRole(world, guildOf(world, guildId), { name: 'mod', permissions: ManageThreads, userIds: [carol] });
    expect(canView(world, thread, carol)).toBe(true);
  });
});

describe('permissions in a DM', () => {
  it('belong to the bot and its person, not to the guild’s owner', () => {
    const { world, alice, bob } = scene();
    const dm = openDm(world, bob);
    expect([bob, world.botId, alice].map((id) => canSend(world, dm, id))).toEqual([true, true, false]);
  });
});
