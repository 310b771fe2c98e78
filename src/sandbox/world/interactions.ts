import type { Channel, Command, Interaction, InteractionOption, Message } from './entities.ts';
import type { World } from './world.ts';

export interface NewInteraction {
  readonly channel: Channel;
  readonly userId: string;
  readonly command: Command;
  readonly options: readonly InteractionOption[];
  /** Secret, unique: whoever has it may answer. */
  readonly token: string;
}

/** Somebody gives a slash command. */
export function createInteraction(world: World, input: NewInteraction): Interaction {
  const interaction: Interaction = {
    id: world.nextId(),
    token: input.token,
    channelId: input.channel.id,
    userId: input.userId,
    command: input.command,
    options: input.options,
    state: 'waiting',
    ephemeral: false,
    original: undefined,
    followUps: [],
  };
  world.interactions.set(interaction.id, interaction);
  world.emit({ type: 'interaction-created', interaction });
  return interaction;
}

/** What the bot has just done with an interaction. */
export interface InteractionProgress {
  readonly state?: Interaction['state'];
  readonly ephemeral?: boolean;
  readonly original?: Message;
  readonly followUp?: Message;
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
  world.emit({ type: 'interaction-updated', interaction });
}

/** The interaction with this token, or `undefined`. */
export function findInteractionByToken(world: World, token: string): Interaction | undefined {
  return [...world.interactions.values()].find((interaction) => interaction.token === token);
}
