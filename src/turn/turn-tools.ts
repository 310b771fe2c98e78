import type { Place } from '../core/place.ts';
import type { Tool } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import { everything, storingRefusal } from './pauses.ts';
import type { SwitchedOff } from './prompt-input.ts';

/** The tools of a turn, and who may switch them off while it runs. */
export interface ToolPorts {
  readonly memoryTools: readonly Tool[];
  /** For reading Discord, even where memory is off [B4]. */
  readonly readingTools: readonly Tool[];
  /** None where acting on Discord is off altogether. */
  readonly actionTools: readonly Tool[];
  /** What the owner has switched off where; neither rejects. */
  readonly settings: {
    readonly isMemoryOff: (place: Place) => Promise<boolean>;
    readonly areActionsOff: (place: Place) => Promise<boolean>;
  };
  readonly people: Pick<PersonSettingsStore, 'mayStore' | 'mode'>;
}

/** The model's memory tools, each refusing where memory is off, or the person wants nothing stored. */
export function memoryToolsOf({ consent = everything }: SwitchedOff, bot: ToolPorts): readonly Tool[] {
  const { memoryTools: tools, settings, people } = bot;
  const refusalFor = async (tool: Tool, context: TurnContext): Promise<string | undefined> => {
    if (await settings.isMemoryOff(context.place)) return 'Memory is switched off in this channel.';
    return storingRefusal(tool, context, consent, people);
  };
  return tools.map((tool) => refusedWhere((context) => refusalFor(tool, context), tool));
}

export function actionToolsOf({ actionTools: tools, settings }: ToolPorts): readonly Tool[] {
  const refusalFor = async ({ place }: TurnContext): Promise<string | undefined> =>
    (await settings.areActionsOff(place)) ? 'Not done: actions are switched off in this place.' : undefined;
  return tools.map((tool) => refusedWhere(refusalFor, tool));
}

/** Refuses once it was switched off after the turn began or the offer was made. */
function refusedWhere(refusalFor: (context: TurnContext) => Promise<string | undefined>, tool: Tool): Tool {
  return {
    ...tool,
    async run(input, context, signal) {
      const refused = await refusalFor(context);
      if (refused !== undefined) return { ok: false, text: refused };
      const outcome = await tool.run(input, context, signal);
      const { offer } = outcome;
      if (offer === undefined) return outcome;
      const carryOut = async (pressed: AbortSignal) => (await refusalFor(context)) ?? offer.carryOut(pressed);
      return { ...outcome, offer: { ...offer, carryOut } };
    },
  };
}
