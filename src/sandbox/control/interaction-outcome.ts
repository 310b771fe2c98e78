import type { Interaction, InteractionRequest } from '../world/entities.ts';
import { failIfLate, firstResponseWithin } from '../world/interactions.ts';
import type { World } from '../world/world.ts';
import { SandboxError } from './sandbox-error.ts';
import { waitUntil } from './wait-until.ts';

export interface OutcomeWish {
  readonly until: 'acknowledged' | 'answered';
  readonly followUps: number;
  readonly timeoutMs: number;
}

/**
 * Resolves with the interaction when it is as far as wished.
 * @throws {SandboxError} when the bot lets the three seconds for its first response pass, or the wish does not come true in time.
 */
export async function outcomeOf(
  world: World,
  interaction: Interaction,
  wish: OutcomeWish,
): Promise<Interaction> {
  const title = titleOfRequest(interaction.request);
  const deadline = setTimeout(() => failIfLate(world, interaction), firstResponseWithin + 1);
  try {
    await waitUntil(world, {
      check: () => (isAsWished(interaction, wish) ? interaction : undefined),
      timeoutMs: wish.timeoutMs,
      what: () =>
        `the answer to ${title}, which is ${interaction.state} with ${interaction.followUps.length} follow-ups`,
    });
  } finally {
    clearTimeout(deadline);
  }
  if (interaction.state === 'failed') {
    throw new SandboxError(`The bot did not respond to ${title} within three seconds`);
  }
  return interaction;
}

function isAsWished({ state, followUps }: Interaction, wish: OutcomeWish): boolean {
  switch (state) {
    case 'waiting':
      return false;
    case 'failed':
      return true;
    case 'deferred':
      return wish.until === 'acknowledged' && followUps.length >= wish.followUps;
    case 'answered':
      return followUps.length >= wish.followUps;
  }
}

function titleOfRequest(request: InteractionRequest): string {
  switch (request.kind) {
    case 'slash':
      return `/${request.command.name}`;
    case 'complete':
      return `half a /${request.command.name}`;
    case 'message-menu':
    case 'user-menu':
      return JSON.stringify(request.command.name);
    case 'component':
      return `a click on ${request.component.custom_id}`;
  }
}
