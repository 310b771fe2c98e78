import { z } from 'zod';

import { withoutMarkedNames } from '../../src/core/own-words.ts';
import type { Store } from '../../src/core/store.ts';

/** Alice owns the bot and its server. Mallory has no access: what she writes reaches the bot only by way of others. */
export type Author = 'alice' | 'bob' | 'mallory';
export type Room = 'general' | 'secret' | 'dm';

/** Of the sandbox's default world; mallory is in none of its servers. */
export const people = {
  alice: '140000000000000001',
  bob: '140000000000000002',
  mallory: '140000000000000009',
};

interface Word {
  readonly owner: Author;
  /** Channels in which its owner, or the person who brought it, has it read. */
  readonly homes: Set<string>;
}

/** Words that were each said once, by whom and where. Whatever turns up is judged by them. */
export class Words {
  readonly #words = new Map<string, Word>();
  readonly #released = new Set<string>();

  add(owner: Author, home: string): string {
    const word = `canary${this.#words.size}x`;
    this.#words.set(word, { owner, homes: new Set([home]) });
    return word;
  }

  isOf(word: string, owner: Author | undefined): boolean {
    return this.#words.get(word)?.owner === owner;
  }

  homesOf(word: string): ReadonlySet<string> {
    return this.#words.get(word)?.homes ?? new Set();
  }

  /** Somebody says their own words in another channel too, or has them sent there. */
  say(text: string, owner: Author, channelId: string): void {
    for (const word of canaryWords(text))
      if (this.isOf(word, owner)) this.#words.get(word)?.homes.add(channelId);
  }

  /** An answer repeated these words half an hour ago: they count as others' no more, and who obeys them does no wrong [M5a]. */
  release(text: string): void {
    for (const word of canaryWords(text)) this.#released.add(word);
  }

  isForeign(word: string, owner: Author | undefined): boolean {
    return !this.isOf(word, owner) && !this.#released.has(word);
  }

  /** Those words of a text that its owner did not say. */
  foreignIn(text: string, owner: Author | undefined): readonly string[] {
    return canaryWords(text).filter((word) => this.isForeign(word, owner));
  }
}

/** What is kept of a person; `isMarked` where it is kept as what may be others' words. */
export interface Kept {
  readonly key: string;
  readonly owner: Author | undefined;
  readonly text: string;
  readonly isMarked: boolean;
}

const line = z.looseObject({ role: z.string().optional(), text: z.string().optional() });
/** All that a store holds, of logs line by line, as answers are marked. Of people's own messages without the names in them, which are marked too. */
export async function* keptIn(store: Store): AsyncGenerator<Kept> {
  for (const folder of ['users', 'sessions', 'workspace', 'channels'])
    for (const { path } of await store.list(folder)) {
      const key = `${folder}/${path}`;
      for await (const { text, isMarked } of piecesOf(key, store))
        yield { key, owner: ownerOf(key, text), text, isMarked };
    }
}

async function* piecesOf(key: string, store: Store): AsyncGenerator<Pick<Kept, 'text' | 'isMarked'>> {
  if (key.endsWith('.jsonl')) {
    for await (const { record } of store.scan(key, line)) {
      const { role, text = '' } = record;
      const isMarked = record['thirdPartyMark'] !== undefined;
      const said = role === 'user' ? withoutMarkedNames(text) : text;
      yield { text: JSON.stringify({ ...record, text: said }), isMarked };
    }
    return;
  }
  yield { text: (await store.readText(key)) ?? '', isMarked: false };
}

/** Whose words a key holds; an answer in a channel's outbox is a person's. */
function ownerOf(key: string, text: string): Author | undefined {
  if (key.startsWith('workspace/')) return 'alice';
  const where = key.startsWith('channels/') ? text : key;
  return (['alice', 'bob'] as const).find((name) => where.includes(people[name]));
}

const canaryWord = /canary\d+x/gu;

/** The canary words of a text, each once. */
export function canaryWords(text: string): readonly string[] {
  return [...new Set(text.match(canaryWord))];
}
