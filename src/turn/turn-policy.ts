import type { HistoryPort } from '../core/channels.ts';
import type { Place } from '../core/place.ts';
import type { Tool } from '../core/tool.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { Consent, PersonSettingsStore } from '../memory/settings/person-settings.ts';

export interface PolicyPorts {
  /** What the owner has switched off where; neither rejects. */
  readonly settings: {
    readonly isMemoryOff: (place: Place) => Promise<boolean>;
    readonly areActionsOff: (place: Place) => Promise<boolean>;
  };
  /** What each person lets the bot keep [K9]. */
  readonly people: Pick<PersonSettingsStore, 'consent' | 'mayStore' | 'mode'>;
  readonly history: HistoryPort;
}

/** The tools of a turn. */
export interface TurnTools {
  readonly memory: readonly Tool[];
  /** For reading Discord, even where memory is off [B4]. */
  readonly reading: readonly Tool[];
  /** None where acting on Discord is off altogether. */
  readonly actions: readonly Tool[];
}

export type TurnPolicy = Awaited<ReturnType<typeof decidePolicy>>;

/**
 * What may be kept and done in a turn, by the owner's settings and the person's own [K9]: decided once, and asked
 * again where something is written or done, since it may have changed. Never rejects.
 */
export async function decidePolicy(turn: TurnContext, { settings, people, history }: PolicyPorts) {
  const { place, speaker } = turn;
  const isBot = speaker.isBot !== undefined;
  const [isMemoryOff, areActionsOff, consent] = await Promise.all([
    settings.isMemoryOff(place),
    settings.areActionsOff(place),
    // Of another bot nothing is kept in any case.
    isBot
      ? Promise.resolve<Consent>({ isStored: true, mode: 'auto' })
      : people.consent(turn, () => earlierTimes(turn, history)),
  ]);
  const isStored = !isMemoryOff && consent.isStored;

  /** Why a memory tool does nothing by now, by the person's wish. */
  async function storingRefusal({ stores }: Tool): Promise<string | undefined> {
    // Another bot has no settings, and each tool knows what it may not do for it.
    if (stores === undefined || isBot) return undefined;
    if (consent.isUnreadable === true) return unreadableRefusal;
    if (!consent.isStored || !(await people.mayStore(sessionOf(turn)))) return pausedRefusal;
    const mode = await people.mode(speaker.id);
    if (mode === 'ask' && stores === 'notes') return unaskedRefusal;
    return mode === 'off' ? unnoticedRefusal : undefined;
  }

  const memoryRefusal = async (tool: Tool): Promise<string | undefined> =>
    (await settings.isMemoryOff(place)) ? 'Memory is switched off in this channel.' : storingRefusal(tool);

  const actionRefusal = async (): Promise<string | undefined> =>
    (await settings.areActionsOff(place)) ? 'Not done: actions are switched off in this place.' : undefined;

  return {
    isMemoryOff,
    areActionsOff,
    consent,
    /** Whether the question is logged; without it the log gets no reply, even if that is allowed meanwhile. */
    isStored,
    mayStoreNow: async (): Promise<boolean> =>
      isStored && !(await settings.isMemoryOff(place)) && (isBot || (await people.mayStore(sessionOf(turn)))),
    /** Each refuses once it was switched off, also where what it offered is accepted. */
    tools: ({ memory, reading, actions }: TurnTools): readonly Tool[] => [
      ...(isMemoryOff ? [] : memory.map((tool) => refusedWhere(() => memoryRefusal(tool), tool))),
      ...reading,
      ...(areActionsOff ? [] : actions.map((tool) => refusedWhere(actionRefusal, tool))),
    ],
  };
}

function refusedWhere(refusalNow: () => Promise<string | undefined>, tool: Tool): Tool {
  return {
    ...tool,
    async run(input, context, signal) {
      const refused = await refusalNow();
      if (refused !== undefined) return { ok: false, text: refused };
      const outcome = await tool.run(input, context, signal);
      const { offer } = outcome;
      if (offer === undefined) return outcome;
      const carryOut = async (pressed: AbortSignal) => (await refusalNow()) ?? offer.carryOut(pressed);
      return { ...outcome, offer: { ...offer, carryOut } };
    },
  };
}

const unreadableRefusal =
  'Not stored: memory cannot be read or written right now. Say that you cannot save anything at the moment.';
const pausedRefusal =
  'Not stored: the person has paused their memory. Only they can end that, with `!memory resume`.';
const unaskedRefusal =
  'Not stored: the person wants to be asked first, and notes cannot be asked about. What they say of themselves can be proposed with `remember_item`.';
const unnoticedRefusal =
  'Not stored: the person wants nothing to be noticed. Only they can have something stored, with `!memory remember`.';

/** All that history keeps. */
const earlierMessages = 100;

/** When the speaker wrote here before, as far as history tells. */
async function earlierTimes(
  { place, speaker }: TurnContext,
  history: HistoryPort,
): Promise<readonly string[]> {
  const earlier = await history.recent(place.channelId, earlierMessages);
  return earlier.flatMap(({ author, at }) => (author.id === speaker.id ? [at] : []));
}
