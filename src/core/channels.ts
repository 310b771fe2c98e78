import type { ChatMessage } from './message.ts';
import type { Place } from './place.ts';

/** When the bot answers in a guild channel: to mentions and replies, also to who goes on talking with it, or to everything [G2]. */
export type AnswerMode = 'mentions' | 'conversation' | 'everything';

/** The newest messages of a channel, from memory or by REST [H2]. Never rejects. */
export interface HistoryPort {
  /** At most `limit`, oldest first, current ones included, without commands, their answers and error lines [F2]. */
  recent(channelId: string, limit: number): Promise<readonly ChatMessage[]>;
}

/** The place with its present readers; unchanged unless somebody new can read it [V2a]. Never rejects. */
export type PresentPlace = (place: Place) => Promise<Place>;

/** A guild channel as it is now. Never rejects: the unknown is absent. */
export interface ChannelPort {
  placeOf(this: void, channelId: string): Promise<Place | undefined>;
}

export interface ServerPort {
  /** Whether it is in more than one, counting outages and other processes. */
  hasSeveral(): boolean;
  /** What a person may set there: `manager` has Manage Server. Never rejects: the unknown is `none`. */
  permissionLevel(guildId: string, userId: string): Promise<'administrator' | 'manager' | 'none'>;
  /** A role by id, name or `@name` in any case; `undefined` where there is none, or several. */
  role(guildId: string, named: string): { readonly id: string; readonly name: string } | undefined;
  /** A server's name by its id, or of a role's mention `@name in server`; unchanged where none here has it. */
  titleOf(guildOrMention: string): string;
}

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
  readonly requestIds: readonly string[];
}

/** What somebody wants to be told of a channel. */
export interface TalkWish extends Pick<ChannelWish, 'channel'> {
  /** A moment in words; default: the asker's own last message there. */
  readonly since?: string | undefined;
  readonly limit?: number | undefined;
  readonly about?: string | undefined;
}

export interface TalkAsker extends Pick<ChannelWish, 'place' | 'isForAskerOnly' | 'requestIds'> {
  readonly id: string;
  readonly name: string;
  readonly now: Date;
}

/**
 * What was said in a channel, oldest first, without commands, their answers and error lines [F2]. `ownLastAt`:
 * the asker's own last message, if found; `isCut`: older messages were not read. `none`: no such channel, or
 * one that bot, asker and every reader of the answer cannot all read; `several`: the name is ambiguous;
 * `out-of-sight`: none here, but other processes have servers too [X3];
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
  | { readonly kind: 'none' | 'several' | 'out-of-sight' | 'age-restricted' };

export type ReadChannel = (wish: ChannelWish) => Promise<ChannelTalk>;
