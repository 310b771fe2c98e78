import { isDeepStrictEqual } from 'node:util';

import type { TurnContext } from '../../core/turn-context.ts';
import type { SessionState } from './session-state.ts';

/** Layers that fold the log only from when they were switched on. */
export type FoldName = 'shortTerm' | 'extraction' | 'reflection';

/**
 * The state after the speaker wrote in a place: where the session is now, and cursors for layers that are on and have none. They begin
 * `before` the turn's messages. A layer that is off loses its cursor, so that it never reads what was said meanwhile.
 */
export function seenIn(
  state: SessionState,
  { place, speaker }: Pick<TurnContext, 'place' | 'speaker'>,
  before: number,
  activeFolds: readonly FoldName[],
): SessionState {
  const { shortTerm, extraction, reflection, isOwner: _wasOwner, ...rest } = state;
  const cursorOf = (name: FoldName, current: { cursor: number } | undefined) =>
    activeFolds.includes(name) ? { [name]: current ?? { cursor: before } } : {};
  const next: SessionState = {
    ...rest,
    place,
    speakerName: speaker.name,
    ...(speaker.isOwner ? { isOwner: true } : {}),
    ...cursorOf('shortTerm', shortTerm),
    ...cursorOf('extraction', extraction),
    ...cursorOf('reflection', reflection),
  };
  return isDeepStrictEqual(next, state) ? state : next;
}
