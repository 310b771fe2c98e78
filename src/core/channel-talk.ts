import type { ChatMessage } from './chat.ts';
import type { Place } from './place.ts';

/** What somebody wants to read of a channel [B4]. */
export interface ChannelWish {
  /** `#name`, a mention or an id; absent for the place itself. */
  readonly channel?: string | undefined;
  readonly userId: string;
  /** Where the answer is read. */
  readonly place: Place;
  /** The asker alone reads the answer, as in a DM. */
  readonly isForAskerOnly: boolean;
  /** What was said from then on; absent for what was said after the asker's own last message there. */
  readonly since?: Date | undefined;
  /** The newest messages that are looked at; at most 500. */
  readonly limit: number;
  /** The messages that ask for it: they are left out. */
  readonly askedBy: readonly string[];
}

/**
 * What stands in a channel by now, oldest first, commands, their answers and error lines left out [F2]; `ownLastAt` tells of the asker's own last message where
 * that was looked for and found, `isCut` that older ones were not looked at. `none`: there is no such channel that bot, asker and every reader of the
 * answer can read at this moment, or it does not exist; `several` they can read; `age-restricted`: they can read it, and the answer would stand in a
 * server channel that is not age-restricted [V0].
 */
export type ChannelTalk =
  | {
      readonly kind: 'read';
      readonly place: Place;
      readonly messages: readonly ChatMessage[];
      readonly ownLastAt?: string;
      readonly isCut: boolean;
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'several' }
  | { readonly kind: 'age-restricted' };

/** Rejects where Discord does. */
export type ReadChannel = (wish: ChannelWish) => Promise<ChannelTalk>;
