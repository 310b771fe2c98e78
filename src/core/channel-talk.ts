import type { ChatMessage } from './chat.ts';
import type { Place } from './place.ts';

export interface ChannelWish {
  /** `#name`, a mention or an id; absent for the place itself. */
  readonly channel?: string | undefined;
  readonly userId: string;
  /** Where the answer is read. */
  readonly place: Place;
  readonly isForAskerOnly: boolean;
  /** Default: since the asker's own last message there. */
  readonly since?: Date | undefined;
  /** At most 500. */
  readonly limit: number;
  /** The messages that ask for it: they are left out. */
  readonly askedBy: readonly string[];
}

/**
 * What was said in a channel, oldest first, without commands, their answers and error lines [F2]. `ownLastAt`:
 * the asker's own last message, if found; `isCut`: older messages were not read. `none`: no such channel, or
 * one that bot, asker and every reader of the answer cannot all read; `several`: the name is ambiguous;
 * `age-restricted`: the answer would stand in a channel that is not [V0].
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

export type ReadChannel = (wish: ChannelWish) => Promise<ChannelTalk>;
