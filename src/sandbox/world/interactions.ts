import { DiscordSnowflake } from '@sapphire/snowflake';

import type { Channel, Interaction, Message } from './entities.ts';
import type { World } from './world.ts';

/** How long the bot has for its first response, in milliseconds. */
export const firstResponseWithin = 3_000;

interface NewInteraction extends Pick<Interaction, 'userId' | 'request' | 'token'> {
  readonly channel: Channel;
}

/** Somebody asks something of the bot other than by writing. */
export function createInteraction(world: World, { channel, ...asked }: NewInteraction): Interaction {
  const interaction: Interaction = {
    ...asked,
    id: world.nextId(),
    channelId: channel.id,
    state: 'waiting',
    original: undefined,
    followUps: [],
    modal: undefined,
    choices: [],
  };
  world.interactions.set(interaction.id, interaction);
  world.emit({ type: 'interaction-created', interaction });
  return interaction;
}

/** What the bot has just done with an interaction. */
type InteractionProgress = Partial<Pick<Interaction, 'state' | 'original' | 'modal' | 'choices'>> & {
  readonly followUp?: Message;
};

export function advanceInteraction(
  world: World,
  interaction: Interaction,
  { followUp, ...progress }: InteractionProgress,
): void {
  Object.assign(interaction, progress);
  if (followUp !== undefined) interaction.followUps.push(followUp);
  world.emit({ type: 'interaction-updated', interaction });
}

/** Fails an interaction that waits for its first response too long by the world's clock. */
export function failIfLate(world: World, interaction: Interaction): void {
  if (interaction.state !== 'waiting' || ageOf(world, interaction) <= firstResponseWithin) return;
  advanceInteraction(world, interaction, { state: 'failed' });
}

/** In milliseconds. */
export function ageOf(world: World, interaction: Interaction): number {
  return world.now().getTime() - DiscordSnowflake.timestampFrom(interaction.id);
}

/** The interaction with this token, or `undefined`. */
export function findInteractionByToken(world: World, token: string): Interaction | undefined {
  return [...world.interactions.values()].find((interaction) => interaction.token === token);
}
