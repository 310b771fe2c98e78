import { createBot, type Bot } from '../../src/bot/create-bot.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { DocumentKind } from '../../src/core/store.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { closedEdges } from '../support/closed-edges.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { canaryWords, type PersonName } from './canary.ts';
import { createHarmfulModel } from './harmful-model.ts';

const people = { alice: '500000000000000001', bob: '500000000000000002' };
const ownerId = '500000000000000009';
const guildId = '700000000000000001';
const hall = '600000000000000001';
const thread = '600000000000000003';
const den = '600000000000000004';

export const roomNames = ['hall', 'thread', 'den'] as const;
export type RoomName = (typeof roomNames)[number];

const rooms: Readonly<Record<RoomName, Place>> = {
  hall: { audience: 'public', channelId: hall, homeId: hall, guildId, channelName: 'hall' },
  thread: { audience: 'public', channelId: thread, homeId: hall, parentId: hall, guildId, channelName: 'a' },
  den: {
    audience: 'private',
    readers: ['710000000000000001'],
    channelId: den,
    homeId: den,
    guildId,
    channelName: 'den',
  },
};

/** A store in memory that tells which keys were written. */
class WatchedStore extends MemoryStore {
  readonly written: string[] = [];

  override update<T extends { readonly version: number }>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
  ): Promise<T | undefined> {
    // That somebody was greeted, and where they have logs from before, holds nothing of what is said [K12].
    if (!/^users\/\d+\/(?:settings|sessions)\.json$/u.test(key)) this.written.push(key);
    return super.update(key, kind, change);
  }
  override append(log: string, record: object): Promise<number> {
    this.written.push(log);
    return super.append(log, record);
  }
  override writeText(key: string, text: string): Promise<void> {
    this.written.push(key);
    return super.writeText(key, text);
  }
}

/**
 * A guild whose owner switches memory on and off, with the whole bot between the ports and a model that tries to store and repeat whatever it
 * sees. It watches what is written of whom, and what the model is given.
 */
export class SwitchedScene {
  /** Sentences about what should not have happened. */
  readonly faults: string[] = [];
  /** How often something was written, and something remembered was given to the model, while memory was on. */
  writtenWhileOn = 0;
  givenWhileOn = 0;
  readonly #store = new WatchedStore();
  readonly #bot: Bot;
  /** Said while memory was off. */
  readonly #secrets: string[] = [];
  #words = 0;
  #now = Date.UTC(2026, 0, 15, 10);
  #given: readonly string[] = [];
  /** The message that is answered; the answer repeats it. */
  #said = '';
  #whileThinking: (() => Promise<unknown>) | undefined;

  constructor() {
    const { config } = readConfig({
      DISCOCLAW_TIMEZONE: 'UTC',
      DISCOCLAW_RATE_PER_MINUTE: '0',
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
    });
    const model = createHarmfulModel(
      (text) => {
        this.#given = canaryWords(text);
      },
      () => Promise.resolve(),
    );
    const recent = new RecentChanges();
    this.#bot = createBot(config, {
      ...closedEdges,
      recent,
      store: this.#store,
      model: {
        ...model,
        complete: async (request) => {
          if (request.purpose === 'chat') await this.#whileThinking?.();
          this.#whileThinking = undefined;
          const response = await model.complete(request);
          const isAnswer = request.purpose === 'chat' && response.stop === 'end';
          return isAnswer ? { ...response, content: [{ type: 'text', text: this.#said }] } : response;
        },
      },
      outbox: createOutbox({ store: this.#store, changes: recent }),
      replies: fakeReplies({ nextId: () => this.#nextId() }),
      clock: () => new Date(this.#now),
      logger: recordingLogger(),
    });
  }

  /** Without it timers would keep the whole scene. */
  close(): Promise<void> {
    return this.#bot.drain(10_000);
  }

  /** Somebody tells something new; the bot answers and does its after-turn work. */
  async tell(speaker: PersonName, room: RoomName): Promise<void> {
    const isOff = await this.#isOff(room);
    const word = this.#newWord();
    if (isOff) this.#secrets.push(word);
    this.#store.written.length = 0;
    await this.#say(speaker, room, `I prefer ${word} for lunch`);
    this.#judge(speaker, room, isOff);
    if (isOff && this.#given.length > 0) this.faults.push(`the model was given ${this.#given.join()}`);
    else this.givenWhileOn += this.#given.length;
    await this.#lookForSecrets();
  }

  /** Memory is switched off for the whole guild while the model thinks. */
  async tellAsItIsSwitchedOff(speaker: PersonName, room: RoomName): Promise<void> {
    this.#whileThinking = async () => {
      await this.#settings(room, 'memory off server');
      for (const each of roomNames) await this.#settings(each, 'memory default');
      this.#store.written.length = 0;
    };
    await this.#say(speaker, room, `I prefer ${this.#newWord()} for lunch`);
    this.#judge(speaker, room, true);
  }

  async remember(speaker: PersonName, room: RoomName): Promise<void> {
    const isOff = await this.#isOff(room);
    const word = this.#newWord();
    if (isOff) this.#secrets.push(word);
    this.#store.written.length = 0;
    await this.#command(people[speaker], 'memory', room, `remember Prefers ${word} for lunch`);
    this.#judge(speaker, room, isOff);
    await this.#lookForSecrets();
  }

  /** The owner says `/settings …` in a room. */
  async settings(room: RoomName, words: string): Promise<void> {
    await this.#settings(room, words);
    await this.#bot.idle();
  }

  #settings(room: RoomName, words: string): Promise<string> {
    return this.#command(ownerId, 'settings', room, words);
  }

  async #isOff(room: RoomName): Promise<boolean> {
    return (await this.#settings(room, 'show')).includes('`memory`: off');
  }

  /** After a turn in a room where memory is off, nothing of the person may have been written. */
  #judge(speaker: PersonName, room: RoomName, isOff: boolean): void {
    const own = new RegExp(`^(?:users/|sessions/[^/]+/)${people[speaker]}/`, 'u');
    const written = this.#store.written.filter((key) => own.test(key));
    if (!isOff) this.writtenWhileOn += written.length;
    else if (written.length > 0) this.faults.push(`in #${room} was written: ${written.join()}`);
  }

  /** What was said while memory was off stands in no document, log or file. */
  async #lookForSecrets(): Promise<void> {
    const all = await this.#store.everything();
    for (const word of this.#secrets) if (all.includes(word)) this.faults.push(`${word} was kept`);
  }

  async #say(speaker: PersonName, room: RoomName, text: string): Promise<void> {
    this.#given = [];
    this.#said = text;
    const place = rooms[room];
    await this.#bot.handlers.message({
      id: this.#nextId(),
      channelId: place.channelId,
      author: { id: people[speaker], name: speaker, kind: 'human' },
      text,
      at: new Date(this.#now).toISOString(),
      attachments: [],
      place,
      isOwner: false,
    });
    await this.#bot.idle();
  }

  async #command(userId: string, name: string, room: RoomName, words: string): Promise<string> {
    const command = this.#bot.commands.parse(`!${name} ${words}`);
    if (command === undefined) throw new Error(`No command: ${words}`);
    const { text } = await this.#bot.handlers.command({
      id: this.#nextId(),
      command,
      speaker: { id: userId, name: 'somebody', isOwner: userId === ownerId },
      place: rooms[room],
      ephemeral: false,
      at: new Date(this.#now).toISOString(),
    });
    return text;
  }

  #newWord(): string {
    this.#words += 1;
    return `canary${this.#words}x`;
  }

  #nextId(): string {
    this.#now += 1000;
    return snowflakeAt(new Date(this.#now));
  }
}
