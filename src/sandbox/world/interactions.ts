import { DiscordSnowflake } from '@sapphire/snowflake';
import type { APIApplicationCommandOptionChoice } from 'discord-api-types/v10';

import type { Channel, Interaction, InteractionRequest, Message } from './entities.ts';
import type { World } from './world.ts';

/** How long the bot has for its first response, in milliseconds. */
export const firstResponseWithin = 3_000;

interface NewInteraction {
  readonly channel: Channel;
  readonly userId: string;
  readonly request: InteractionRequest;
  /** Secret, unique: whoever has it may answer. */
  readonly token: string;
}

/** Somebody asks something of the bot other than by writing. */
export function createInteraction(world: World, input: NewInteraction): Interaction {
  const interaction: Interaction = {
    id: world.nextId(),
    token: input.token,
    channelId: input.channel.id,
    userId: input.userId,
    request: input.request,
    state: 'waiting',
    ephemeral: false,
    original: undefined,
    followUps: [],
    choices: [],
  };
  world.interactions.set(interaction.id, interaction);
  world.emit({ type: 'interaction-created', interaction });
  return interaction;
}

/** What the bot has just done with an interaction. */
interface InteractionProgress {
  readonly state?: Interaction['state'];
  readonly ephemeral?: boolean;
  readonly original?: Message;
  readonly followUp?: Message;
  readonly choices?: readonly APIApplicationCommandOptionChoice[];
}

export function advanceInteraction(
  world: World,
  interaction: Interaction,
  progress: InteractionProgress,
): void {
  if (progress.state !== undefined) interaction.state = progress.state;
  if (progress.ephemeral !== undefined) interaction.ephemeral = progress.ephemeral;
  if (progress.original !== undefined) interaction.original = progress.original;
  if (progress.followUp !== undefined) interaction.followUps.push(progress.followUp);
  if (progress.choices !== undefined) interaction.choices = progress.choices;
  world.emit({ type: 'interaction-updated', interaction });
}

/** An interaction that waits for its first response too long, by the world's clock, fails; others stay as they are. */
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
