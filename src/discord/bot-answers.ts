import { LRUCache } from 'lru-cache';

/** Answers to one bot in a channel at most, until a person says something there. */
const answersInARow = 5;
/** Channels that are kept in mind; one that falls out begins anew. */
const keptChannels = 1000;

interface Talk {
  /** The messages that were let through, by the bot that wrote them: a repeated event counts once. */
  readonly answered: Map<string, Set<string>>;
  readonly silent: Set<string>;
}

/** Breaks loops of bots: nobody but another bot talks with this one for long [G2]. A restart forgets the count. */
export class BotAnswers {
  readonly #talks = new LRUCache<string, Talk>({ max: keptChannels });

  /** A person said something: from now on bots are answered there again. */
  humanSpoke(channelId: string): void {
    this.#talks.delete(channelId);
  }

  /** Whether a bot's message is answered. `last-straw`: from now on it is not any more, which is told once. */
  admit(message: {
    readonly id: string;
    readonly channelId: string;
    readonly authorId: string;
  }): 'answer' | 'last-straw' | 'silence' {
    const { id, channelId, authorId } = message;
    const talk = this.#talks.get(channelId) ?? { answered: new Map(), silent: new Set() };
    this.#talks.set(channelId, talk);
    const answered = talk.answered.get(authorId) ?? new Set();
    talk.answered.set(authorId, answered);
    if (answered.has(id) || answered.size < answersInARow) {
      answered.add(id);
      return 'answer';
    }
    if (talk.silent.has(authorId)) return 'silence';
    talk.silent.add(authorId);
    return 'last-straw';
  }
}
