import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'vitest';

import type { ModelScript } from '../support/model-server.ts';
import { laterBy } from './later.ts';
import { repeatingModel, wordsIn } from './sequence-model.ts';
import { openStage, type Stage } from './stage.ts';
import { chanceOf } from '../support/chance.ts';

/** Over the ten minutes in which a change can be undone [K5]; milliseconds. */
const undoIsOverMs = 11 * 60_000;
/** How long an answer may take before it counts as lost by a kill; milliseconds. */
const patienceMs = 15_000;
/** People who write, forget and erase at the same time. */
const peopleAtOnce = 4;
const turnsAfter = 50;

/** So many milliseconds more, one after the other, that summary, extraction and reflection take. */
const paces = [300, 0, 120, 600, 40];

const slowModel: ModelScript = (body, index) => {
  const answer = repeatingModel(body, index);
  return typeof answer === 'string' || 'delayMs' in answer
    ? answer
    : { ...answer, delayMs: paces[index % paces.length] ?? 0 };
};

/** What came of it all. */
export interface Forgettings {
  /** Words that an answer said were taken, by what took them. */
  readonly taken: Readonly<Record<Kind, number>>;
  readonly kills: number;
  /** Of words that were taken: where they still stood. Empty, or the rule is broken. */
  readonly found: readonly string[];
}

const kinds = ['forget', 'purge', 'erase'] as const;
type Kind = (typeof kinds)[number];

/**
 * So many people who write, and forget, purge or erase at random moments, while messages, summaries, extractions and reflections are in flight; in a
 * quarter of them the bot is killed. Then undo is over, and nothing of what an answer said was taken may stand on disk or in a prompt [K4][K11][S7].
 */
export async function playForgettings(count: number, seed: number): Promise<Forgettings> {
  await using stage = await openStage({
    isBuilt: true,
    environment: {
      DISCORD_AUTO_REPLY_CHANNEL_IDS: '',
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_REFLECTION_IDLE_MINUTES: '0',
    },
    model: slowModel,
  });
  const chance = chanceOf(seed);
  const people: Person[] = [];
  let kills = 0;
  for (let first = 0; first < count; first += peopleAtOnce) {
    const size = Math.min(peopleAtOnce, count - first);
    const wave = await Promise.all(
      Array.from({ length: size }, (_, index) =>
        Person.open(stage, first + index, chanceOf(seed + first + index)),
      ),
    );
    people.push(...wave);
    const begun = wave.map((person) => person.live());
    // One of four: a wave has one kill.
    await Promise.race(wave.map((person) => person.acting));
    await sleep(chance() * 300);
    await stage.killBot();
    await stage.startBot();
    kills += 1;
    await Promise.all(begun);
  }
  const taken = new Map(people.flatMap((person) => [...person.taken]));
  await stage.stopBot();
  await stage.startBot(laterBy(undoIsOverMs));
  await expect.poll(() => wordsOnDisk(stage, taken), { timeout: 120_000 }).toEqual([]);
  const asked = stage.model.requests.length;
  for (let turn = 0; turn < turnsAfter; turn += 1) {
    const person = people[Math.floor(chance() * people.length)];
    await person?.asks(turn);
  }
  const shown = stage.model.requests
    .slice(asked)
    .flatMap(({ raw }) => wordsIn(raw).flatMap((word) => (taken.has(word) ? [`${word} in a prompt`] : [])));
  await stage.stopBot();
  return {
    taken: countsOf(taken),
    kills,
    found: [...shown, ...(await wordsOnDisk(stage, taken))],
  };
}

function countsOf(taken: ReadonlyMap<string, Kind>): Readonly<Record<Kind, number>> {
  const counts = { forget: 0, purge: 0, erase: 0 };
  for (const kind of taken.values()) counts[kind] += 1;
  return counts;
}

async function wordsOnDisk(stage: Stage, words: ReadonlyMap<string, Kind>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { path, text } of await stage.kept())
    for (const word of wordsIn(text))
      if (words.has(word)) found.push(`${word} (${words.get(word)}) in ${path}`);
  return found;
}

/** Somebody with a DM and a channel, who writes some words and has some of them taken. */
class Person {
  readonly #stage: Stage;
  readonly #name: string;
  readonly #chance: () => number;
  readonly #words: string[] = [];
  /** What answers said was taken, and by what. */
  readonly taken = new Map<string, Kind>();
  #act: () => void = () => {};
  /** Something is about to be taken. */
  readonly acting = new Promise<void>((resolve) => (this.#act = resolve));

  static async open(stage: Stage, number: number, chance: () => number): Promise<Person> {
    const name = `forgetter${number}`;
    await stage.sandbox.addPerson({ name });
    await stage.sandbox.addChannel({ name });
    return new Person(stage, name, chance);
  }

  private constructor(stage: Stage, name: string, chance: () => number) {
    this.#stage = stage;
    this.#name = name;
    this.#chance = chance;
  }

  async live(): Promise<void> {
    const said = 2 + Math.floor(this.#chance() * 3);
    for (let index = 0; index < said; index += 1) {
      const message = await this.#say();
      // The last one is still being answered.
      if (index < said - 1) await this.#answerTo(message, /^You said/u);
    }
    await sleep(this.#chance() * 600);
    this.#act();
    const kind = kinds[Math.floor(this.#chance() * kinds.length)] ?? 'forget';
    const word = this.#words[Math.floor(this.#chance() * (said - 1))] ?? '';
    // What a kill came between is given once more.
    if (!(await this.#takes(kind, word))) await this.#takes(kind, word);
  }

  /** Asks something in the DM or the channel, once undo is over. */
  async asks(turn: number): Promise<void> {
    const isDm = turn % 2 === 0;
    const mention = isDm ? '' : `<@${this.#stage.info.bot.id}> `;
    await this.#stage.ask(this.#name, isDm ? 'dm' : this.#name, `${mention}What do I prefer, ${this.#name}?`);
  }

  async #say() {
    const word = `canary${this.#name}w${this.#words.length}x`;
    this.#words.push(word);
    const isDm = this.#chance() < 0.5;
    return this.#stage.sandbox.say({
      as: this.#name,
      in: isDm ? 'dm' : this.#name,
      text: `I prefer ${word}`,
      mentionBot: !isDm,
    });
  }

  /** Resolves with the bot's next text of a form; `undefined` where none comes. */
  async #answerTo(
    { id, channelId }: { readonly id: string; readonly channelId: string },
    form: RegExp,
  ): Promise<{ readonly id: string; readonly text: string } | undefined> {
    const end = Date.now() + patienceMs;
    while (Date.now() < end) {
      const said = await this.#stage.sandbox.messages({ in: channelId, after: id, from: 'bot' });
      const found = said.find(({ text }) => form.test(text));
      if (found !== undefined) return found;
      await sleep(25);
    }
    return undefined;
  }

  async #press(message: string, label: string): Promise<string> {
    const end = Date.now() + patienceMs;
    try {
      const { id } = await this.#stage.sandbox.click({ as: this.#name, message, label });
      while (Date.now() < end) {
        const told = (await this.#stage.sandbox.interaction({ id })).followUps.at(-1)?.text;
        if (told !== undefined) return told;
        await sleep(25);
      }
    } catch {
      // The bot was not there, or the button is gone.
    }
    return '';
  }

  /** Has words taken; resolves with whether the answer said so. */
  async #takes(kind: Kind, word: string): Promise<boolean> {
    const line = { forget: `forget ${word}`, purge: `purge ${word}`, erase: 'erase' }[kind];
    const said = await this.#stage.sandbox.say({ as: this.#name, in: 'dm', text: `!memory ${line}` });
    if (kind === 'forget') return this.#forgets(said, word);
    const asked = await this.#answerTo(said, /^(?:This erases|Nothing that I hold)/u);
    if (asked === undefined || asked.text.startsWith('Nothing')) return false;
    const told = await this.#press(asked.id, kind === 'purge' ? 'Erase it' : 'Erase everything');
    if (!told.startsWith('Erased')) return false;
    for (const each of kind === 'purge' ? [word] : this.#words) this.taken.set(each, kind);
    return true;
  }

  async #forgets(said: { readonly id: string; readonly channelId: string }, word: string): Promise<boolean> {
    const answer = await this.#answerTo(said, /^(?:Deprecated|No item)/u);
    if (answer === undefined) return false;
    let { text } = answer;
    if (text.includes('say it in our conversations') || text.includes('says it in our conversations'))
      text = await this.#press(answer.id, 'Forget these messages too');
    const isTaken =
      /^(?:Deprecated|Forgot)/u.test(text) && !/still mentions|could not|says? it in/u.test(text);
    if (isTaken) this.taken.set(word, 'forget');
    return isTaken;
  }
}
