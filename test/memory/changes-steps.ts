import fc from 'fast-check';

import type { Place } from '../../src/core/place.ts';
import { publicPlace } from '../support/incoming.ts';
import { channel, dmPlace, messageId } from '../support/sessions.ts';

/** A step as drawn: what it is about is picked from what there is by then. */
export interface DrawnStep {
  readonly what: (typeof kinds)[number];
  readonly pick: number;
  readonly where: number;
  readonly flag: boolean;
}

/** What is to be done, with everything decided. */
export type Step =
  | { readonly do: 'say'; readonly place: Place; readonly id: string; readonly text: string }
  | {
      readonly do: 'answer';
      readonly place: Place;
      readonly to: { readonly id: string; readonly text: string };
      readonly ids: readonly string[];
      readonly text: string;
    }
  | {
      readonly do: 'edit';
      readonly place: Place;
      readonly id: string;
      readonly text: string;
      readonly isAuthorTold: boolean;
    }
  | { readonly do: 'delete'; readonly place: Place; readonly ids: readonly string[] }
  | { readonly do: 'forget'; readonly place: Place; readonly words: string; readonly id: string }
  | { readonly do: 'remember'; readonly place: Place; readonly id: string; readonly text: string }
  | { readonly do: 'note'; readonly place: Place; readonly path: string; readonly line: string }
  | { readonly do: 'search'; readonly place: Place; readonly words: string }
  | { readonly do: 'fold'; readonly place: Place };

const kinds = ['say', 'answer', 'edit', 'delete', 'forget', 'remember', 'note', 'search', 'fold'] as const;

export const places: readonly Place[] = [publicPlace, channel('dev', '200000000000000002'), dmPlace];

/** Changes more often than what they are about. */
export const anyStep: fc.Arbitrary<DrawnStep> = fc.record({
  what: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...kinds) },
    { weight: 3, arbitrary: fc.constantFrom('edit' as const, 'delete' as const, 'forget' as const) },
  ),
  pick: fc.nat(99),
  where: fc.nat(places.length - 1),
  flag: fc.boolean(),
});

const drawn = (what: DrawnStep['what'], where: number, pick = 0, flag = false): DrawnStep => ({
  what,
  where,
  pick,
  flag,
});

/** What was said and made of it before anything changes: something in every layer, replaced summaries included. */
export const stepsBefore: readonly DrawnStep[] = [
  ...places.flatMap((_place, where) => [
    ...[0, 1].flatMap((turn) => [
      drawn('say', where),
      drawn('answer', where, 0, turn === 0),
      drawn('fold', where),
    ]),
    drawn('remember', where, 0),
    drawn('remember', where, 1, true),
    ...[0, 2, 3, 5].map((pick) => drawn('note', where, pick)),
    ...[1, 4].map((pick) => drawn('note', where, pick, true)),
  ]),
  drawn('say', 0),
];

interface Reply {
  readonly ids: readonly string[];
  readonly words: readonly string[];
}

interface Said {
  readonly place: Place;
  readonly id: string;
  words: readonly string[];
  reply?: Reply | undefined;
  isAnswered: boolean;
}

/** Decides on what steps are about. Every message has words of its own, so that one that was taken back can be looked for. */
export class Conversation {
  readonly #everSaid: string[] = [];
  #messages: Said[] = [];
  #newestId = 0;

  /** `undefined` where there is nothing that such a step could be about. */
  decide({ what, pick, where, flag }: DrawnStep): Step | undefined {
    const place = places[where] ?? publicPlace;
    const here = this.#messages.filter((said) => said.place === place);
    const said = here[pick % here.length];
    switch (what) {
      case 'say': {
        const id = this.#newId();
        const words = [this.#newWord(), this.#newWord()];
        this.#messages.push({ place, id, words, isAnswered: false });
        return { do: 'say', place, id, text: words.join(' ') };
      }
      case 'answer': {
        const waiting = here.find(({ isAnswered }) => !isAnswered);
        if (waiting === undefined) return undefined;
        const words = [...(flag ? waiting.words.slice(0, 1) : []), this.#newWord()];
        waiting.isAnswered = true;
        waiting.reply = { ids: [this.#newId(), this.#newId()], words };
        const to = { id: waiting.id, text: waiting.words.join(' ') };
        return { do: 'answer', place, to, ids: waiting.reply.ids, text: words.join(' ') };
      }
      case 'edit': {
        if (said === undefined) return undefined;
        const gone = flag ? said.words.slice(1) : said.words;
        said.words = [...(flag ? said.words.slice(0, 1) : []), this.#newWord()];
        // An answer that repeats what was taken out goes with it.
        if (said.reply?.words.some((word) => gone.includes(word)) === true) said.reply = undefined;
        return { do: 'edit', place, id: said.id, text: said.words.join(' '), isAuthorTold: pick % 2 === 0 };
      }
      case 'delete': {
        if (said === undefined) return undefined;
        const [, secondPart] = said.reply?.ids ?? [];
        if (flag && secondPart !== undefined) {
          said.reply = undefined;
          return { do: 'delete', place, ids: [secondPart] };
        }
        // Sometimes the next message in the same sweep.
        const next = pick % 3 === 0 ? here[(pick + 1) % here.length] : undefined;
        const swept = next === undefined || next === said ? [said] : [said, next];
        this.#messages = this.#messages.filter((message) => !swept.includes(message));
        return { do: 'delete', place, ids: swept.map(({ id }) => id) };
      }
      case 'forget': {
        if (said === undefined) return undefined;
        const words = said.words[flag ? 0 : said.words.length - 1] ?? '';
        return { do: 'forget', place, words, id: this.#newId() };
      }
      case 'remember': {
        if (said === undefined) return undefined;
        const text = (flag ? said.words : said.words.slice(0, 1)).join(' ');
        return { do: 'remember', place, id: said.id, text };
      }
      case 'note': {
        if (said === undefined) return undefined;
        const isOfPerson = place.audience === 'dm' && pick % 3 === 0;
        if (isOfPerson) return { do: 'note', place, path: 'MEMORY.md', line: said.words[0] ?? '' };
        const words = [...said.words.slice(0, 1), ...(said.reply?.words.slice(-1) ?? [])];
        return {
          do: 'note',
          place,
          path: flag ? 'detail/plan.md' : 'overview.md',
          line: words[pick % words.length] ?? '',
        };
      }
      case 'search':
        return said && { do: 'search', place, words: said.words.join(' ') };
      case 'fold':
        return { do: 'fold', place };
    }
  }

  /** Words that were said and that nobody says any more. */
  get removed(): readonly string[] {
    const present = new Set(
      this.#messages.flatMap(({ words, reply }) => [...words, ...(reply?.words ?? [])]),
    );
    return this.#everSaid.filter((word) => !present.has(word));
  }

  /** Words that stand in messages. */
  get present(): readonly string[] {
    const removed = new Set(this.removed);
    return this.#everSaid.filter((word) => !removed.has(word));
  }

  #newId(): string {
    this.#newestId += 1;
    return messageId(this.#newestId);
  }

  /** All equally long, and nothing that a stemmer would shorten: none is part of another. */
  #newWord(): string {
    const syllables = ['ba', 'do', 'fu', 'ga', 'ko', 'lu', 'ma', 'po', 'ru', 'ta'];
    const number = this.#everSaid.length;
    const digits = [number / 100, number / 10, number].map((digit) => Math.floor(digit) % 10);
    const word = `z${digits.map((digit) => syllables[digit]).join('')}k`;
    this.#everSaid.push(word);
    return word;
  }
}
