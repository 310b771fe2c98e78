import type { Place } from '../core/place.ts';
import type { SectionReader } from '../core/section.ts';
import type { ActionTools, Tool } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';

/** Actions as far as they are on. */
export interface ActionSwitch {
  /** None in a place where actions are off; the others refuse where they were switched off by the time they are used. */
  readonly toolsIn: (place: Place) => Promise<readonly Tool[]>;
  /** Silent where actions are off. */
  readonly reader: SectionReader<TurnContext>;
}

/** Without `actions` they are off everywhere. `areOff` must not reject. */
export function createActionSwitch(
  actions: ActionTools | undefined,
  areOff: (place: Place) => Promise<boolean>,
): ActionSwitch {
  const guarded = (actions?.tools ?? []).map((tool): Tool => ({
    definition: tool.definition,
    run: async (input, context, signal) =>
      (await areOff(context.place))
        ? { ok: false, text: 'Not done: the owner of this bot has switched actions off in this place.' }
        : tool.run(input, context, signal),
  }));

  return {
    toolsIn: async (place) => (guarded.length === 0 || (await areOff(place)) ? [] : guarded),
    reader: {
      layer: 'discord actions',
      read: async (context) =>
        actions === undefined || (await areOff(context.place)) ? [] : actions.reader.read(context),
    },
  };
}
