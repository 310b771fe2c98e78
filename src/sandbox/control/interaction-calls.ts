import type { Interaction } from '../world/entities.ts';
import { failIfLate } from '../world/interactions.ts';
import type { World } from '../world/world.ts';
import { complete, menu, slash } from './command-actions.ts';
import { click } from './component-actions.ts';
import type { DefineCall } from './control-calls.ts';
import { controlInputs } from './control-inputs.ts';
import { interactionView } from './control-views.ts';
import type { InteractionView } from './control-views.ts';
import { outcomeOf } from './interaction-outcome.ts';
import type { OutcomeWish } from './interaction-outcome.ts';
import type { SandboxControl } from './sandbox-control.ts';
import { SandboxError } from './sandbox-error.ts';

type InteractionCalls = Pick<SandboxControl, 'slash' | 'complete' | 'menu' | 'click' | 'interaction'>;

/** What people ask of the bot other than by writing. */
export function interactionCalls(define: DefineCall, world: World): InteractionCalls {
  const viewOf = async (interaction: Interaction, wish: OutcomeWish): Promise<InteractionView> =>
    interactionView(world, await outcomeOf(world, interaction, wish));
  return {
    slash: define('slash', controlInputs.slash, (input) => viewOf(slash(world, input), input)),
    complete: define('complete', controlInputs.complete, async (input) => {
      const wish = { until: 'answered', followUps: 0, timeoutMs: input.timeoutMs } as const;
      const { choices } = await outcomeOf(world, complete(world, input), wish);
      return choices.map(({ name, value }) => ({ name, value }));
    }),
    menu: define('menu', controlInputs.menu, (input) => viewOf(menu(world, input), input)),
    click: define('click', controlInputs.click, (input) => viewOf(click(world, input), input)),
    interaction: define('interaction', controlInputs.interaction, (input) => {
      const interaction = world.interactions.get(input.id);
      if (interaction === undefined) throw new SandboxError(`There is no interaction ${input.id}`);
      failIfLate(world, interaction);
      return interactionView(world, interaction);
    }),
  };
}
