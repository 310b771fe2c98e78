/**
 * Why a turn ends before its answer is whole: all that it answers was deleted; somebody deleted the reply; its author wants no more; the
 * channel became public; the bot stops.
 */
export type TurnEnding = 'deleted' | 'reply-deleted' | 'stopped' | 'became-public' | 'shutdown';

/** What a turn is told by the outside while it runs, and what the outside must know of it. */
export class TurnControl {
  readonly #model = new AbortController();
  readonly #shown = new AbortController();
  #ending: TurnEnding | undefined;
  #replyIds: readonly string[] = [];

  get ending(): TurnEnding | undefined {
    return this.#ending;
  }

  /** Aborted when the model need not go on. */
  get signal(): AbortSignal {
    return this.#model.signal;
  }

  /** Aborted when nothing of the reply may stay where people see it. */
  get takenAway(): AbortSignal {
    return this.#shown.signal;
  }

  /** The first ending counts, but that what takes the reply away comes before what lets it stand. */
  end(ending: TurnEnding): void {
    const takesAway = ending !== 'stopped' && ending !== 'shutdown';
    if (this.#shown.signal.aborted || (this.#ending !== undefined && !takesAway)) return;
    this.#ending = ending;
    this.#model.abort();
    if (takesAway) this.#shown.abort();
  }

  /** The messages that the reply has by now. */
  noteReply(messageIds: readonly string[]): void {
    this.#replyIds = messageIds;
  }

  isReply(messageId: string): boolean {
    return this.#replyIds.includes(messageId);
  }
}
