import { ApplicationCommandType } from 'discord.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { outcomeOf } from '../../../src/sandbox/control/interaction-calls.ts';
import { createDefaultWorld } from '../../../src/sandbox/world/default-world.ts';
import type { Interaction } from '../../../src/sandbox/world/entities.ts';
import { advanceInteraction, createInteraction } from '../../../src/sandbox/world/interactions.ts';
import { channelOf, type World } from '../../../src/sandbox/world/world.ts';

const privileged = { messageContent: true, guildMembers: true, presences: true };
const patient = { until: 'answered', followUps: 0, timeoutMs: 20_000 } as const;

function ask(now = () => new Date()): { readonly world: World; readonly interaction: Interaction } {
  const world = createDefaultWorld({ now, ownedByTeam: false, privileged });
  const command = {
    id: '1',
    guildId: undefined,
    type: ApplicationCommandType.ChatInput as const,
    name: 'memory',
    description: 'Memory',
    options: [],
    memberPermissions: undefined,
    contexts: undefined,
    nsfw: false,
    version: '1',
  };
  const channel = channelOf(world, '120000000000000002');
  const request = { kind: 'slash', command, options: [] } as const;
  return {
    world,
    interaction: createInteraction(world, { channel, userId: '140000000000000002', request, token: 't' }),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the outcome of an interaction', () => {
  it('is a failure once three seconds went by without any sign', async () => {
    const { world, interaction } = ask();
    const outcome = outcomeOf(world, interaction, patient).catch(String);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(interaction.state).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(interaction.state).toBe('failed');
    expect(await outcome).toContain('The bot did not respond to /memory within three seconds');
  });

  it('is a failure too where the clock loses a moment to the timer', async () => {
    let lostMs = 0;
    const { world, interaction } = ask(() => new Date(Date.now() - lostMs));
    const outcome = outcomeOf(world, interaction, patient).catch(String);
    lostMs = 2;
    await vi.advanceTimersByTimeAsync(3_010);
    expect(await outcome).toContain('The bot did not respond to /memory within three seconds');
  });

  it('may take longer where the bot has given a sign', async () => {
    const { world, interaction } = ask();
    const outcome = outcomeOf(world, interaction, patient);
    const sign = outcomeOf(world, interaction, { ...patient, until: 'acknowledged' });
    advanceInteraction(world, interaction, { state: 'deferred' });
    expect((await sign).state).toBe('deferred');
    await vi.advanceTimersByTimeAsync(15_000);
    advanceInteraction(world, interaction, { state: 'answered' });
    expect(await outcome).toBe(interaction);
    expect(vi.getTimerCount()).toBe(0);
  });
});
