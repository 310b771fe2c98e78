import { PermissionFlagsBits } from 'discord-api-types/v10';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { createTextChannel } from '../../../src/sandbox/world/guilds.ts';
import { createDefaultWorld } from '../../../src/sandbox/world/default-world.ts';
import { canSend, canView, channelPermissions, may } from '../../../src/sandbox/world/permissions.ts';
import { createThread } from '../../../src/sandbox/world/threads.ts';
import { operatorCalls } from '../../support/sandbox/operator.ts';

const { ViewChannel, ManageThreads, Administrator } = PermissionFlagsBits;

function scene() {
  const world = createDefaultWorld(() => new Date('2026-03-01T12:00:00Z'));
  const idOf = (name: string): string =>
    [...world.users.values()].find(({ username }) => username === name)?.id ?? '';
  const [guildId = ''] = world.guilds.keys();
  const hall = createTextChannel(world, { guildId, name: 'hall' });
  const operator = operatorCalls(world);
  return { world, operator, guildId, hall, alice: idOf('alice'), bob: idOf('bob'), carol: idOf('carol') };
}

it('puts roles over @everyone, the member over roles, and an administrator over all', async () => {
  const { world, operator, hall, carol } = scene();
  await operator.setRole({ name: 'muted', people: ['carol'] });
  await operator.setOverwrite({ channel: 'hall', for: '@everyone', allow: ['SendMessages'] });
  await operator.setOverwrite({ channel: 'hall', for: 'muted', deny: ['SendMessages'] });
  expect(canSend(world, hall, carol)).toBe(false);
  await operator.setOverwrite({ channel: 'hall', for: 'carol', allow: ['SendMessages'] });
  expect(canSend(world, hall, carol)).toBe(true);
  await operator.setRole({ name: 'admin', permissions: ['Administrator'], people: ['carol'] });
  await operator.setChannelPrivacy({ channel: 'hall', private: true });
  expect(may(world, hall, carol, ViewChannel | ManageThreads)).toBe(true);
});

it('allows nothing without viewing the channel, whatever else is allowed', () => {
  const bits = fc
    .bigInt({ min: 0n, max: (1n << 50n) - 1n })
    .map((all) => all & ~ViewChannel & ~Administrator);
  fc.assert(
    fc.property(bits, bits, (allow, deny) => {
      const { world, guildId, hall, carol } = scene();
      hall.overwrites.set(carol, { targetId: carol, kind: 'member', allow, deny });
      hall.overwrites.set(guildId, { targetId: guildId, kind: 'role', allow: 0n, deny: ViewChannel });
      expect(channelPermissions(world, hall, carol)).toBe(0n);
    }),
    { numRuns: 30 },
  );
});

it('gives a thread its parent’s, with a permission of its own for writing; a private one only to its members', async () => {
  const { world, operator, hall, alice, bob, carol } = scene();
  const basics = { parent: hall, ownerId: alice };
  const plan = createThread(world, { ...basics, name: 'plan', isPrivate: false });
  await operator.setOverwrite({ channel: 'hall', for: 'bob', deny: ['SendMessages'] });
  expect([canSend(world, hall, bob), canSend(world, plan, bob)]).toEqual([false, true]);
  await operator.setOverwrite({ channel: 'hall', for: 'bob', deny: ['SendMessagesInThreads'] });
  expect(canSend(world, plan, bob)).toBe(false);
  const plot = createThread(world, { ...basics, ownerId: bob, name: 'plot', isPrivate: true });
  expect([bob, carol, world.botId].map((id) => canView(world, plot, id))).toEqual([true, false, false]);
  await operator.setRole({ name: 'mod', permissions: ['ManageThreads'], people: ['carol'] });
  expect(canView(world, plot, carol)).toBe(true);
});
