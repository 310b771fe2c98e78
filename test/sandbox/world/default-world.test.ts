import { expect, it } from 'vitest';

import { openDm } from '../../../src/sandbox/world/guilds.ts';
import { createDefaultWorld } from '../../../src/sandbox/world/default-world.ts';
import type { World } from '../../../src/sandbox/world/world.ts';

function worldAt(now: string): World {
  return createDefaultWorld(() => new Date(now));
}

it('has the same ids in every run, the DMs included, all older than what is made later', () => {
  const world = worldAt('2026-01-01T00:00:00Z');
  const later = worldAt('2027-01-01T00:00:00Z');
  expect([...later.channels.keys()]).toEqual([...world.channels.keys()]);
  expect([...later.users.keys()]).toEqual([...world.users.keys()]);
  const dms = [...world.users.values()].filter(({ bot }) => !bot).map(({ id }) => openDm(world, id).id);
  expect(new Set(dms).size).toBe(3);
  expect(dms.every((id) => BigInt(id) < BigInt(world.nextId()))).toBe(true);
});
