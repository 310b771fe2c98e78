import type { BotPorts } from '../../src/bot/bot-ports.ts';
import { createBot, type Bot } from '../../src/bot/create-bot.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { processTimer } from '../../src/core/time.ts';
import { adultsAmong, type Place } from '../../src/core/place.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { closedEdges } from '../support/closed-edges.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import {
  canaryWords,
  isAgeRestricted,
  isSomebodyNew,
  mayBeTold,
  whoeverTheirAge,
  type Canary,
  type PersonName,
} from './canary.ts';
import { createHarmfulModel, modelAnswer } from './harmful-model.ts';
import { Posted } from './posted.ts';

export type PlaceName = Canary['saidIn'];

const people = { alice: '500000000000000001', bob: '500000000000000002' };
const channels = {
  hall: '600000000000000001',
  office: '600000000000000002',
  thread: '600000000000000003',
  backroom: '600000000000000004',
  lounge: '600000000000000007',
  cellar: '600000000000000008',
};
const placeNames = ['hall', 'office', 'thread', 'backroom', 'lounge', 'cellar'] as const;
/** Those of the other server. */
const elsewhere: ReadonlySet<PlaceName> = new Set(['lounge', 'cellar']);
const dms = { alice: '600000000000000005', bob: '600000000000000006' };
const guildId = '700000000000000001';
const otherGuildId = '700000000000000002';

/** A canary that turned up in a prompt, tool result or answer where it may not be. */
export interface Leak {
  readonly word: string;
  readonly speaker: PersonName;
  readonly place: Place;
  readonly text: string;
}

/** Who has which role: what of a room they can read, and who speaks where. */
const roles = { alice: 'crew', bob: 'staff' } as const;

export type RoomName = 'hall' | 'office';

/** Who is let into a room: everybody, some roles, or nobody can tell right now. */
export type Door = 'open' | 'unknown' | readonly ('crew' | 'staff' | 'guests')[];

/** When a door turns during a turn: between the message and its turn, while the model thinks, or while its answer grows. */
export type TurnMoment = 'waiting' | 'thinking' | 'answering';

/** The turn that runs, with the place that it is answered for and the canaries of its own message. */
interface Turn {
  readonly speaker: PersonName;
  readonly placeName: PlaceName;
  readonly place: Place;
  readonly own: readonly string[];
}

/** Where the bot of a scene keeps what it remembers. */
export interface SceneMemory extends Pick<BotPorts, 'store' | 'shared'>, AsyncDisposable {
  /** When the scene begins, where the store has a clock of its own; milliseconds since the epoch. */
  readonly beginsAt?: number;
}

/** Memory of its own in this process. */
export function memoryInProcess(): Promise<SceneMemory> {
  return Promise.resolve({ store: new MemoryStore(), [Symbol.asyncDispose]: () => Promise.resolve() });
}

interface SceneOptions {
  readonly memory: SceneMemory;
  /** Without history, whatever the prompt holds comes from memory and is judged as such. */
  readonly withHistory: boolean;
  readonly withNotes: boolean;
}

/**
 * A guild with two channels, an ordinary and a private thread; another guild of the same people with a public and a
 * private channel; and two DMs, with the whole bot and every layer. All that models and people are given is
 * searched for canaries.
 */
export class Scene {
  readonly leaks: Leak[] = [];
  /** How often a canary rightly turned up besides the message that says it. */
  rightlyUsed = 0;
  readonly #canaries = new Map<string, Canary>();
  readonly #posted: Posted;
  readonly #doors: Record<RoomName, Door> = { hall: 'open', office: ['crew'] };
  #isOtherGuildRestricted = false;
  /** The role that lets people into the guild. */
  #memberRole: string | undefined;
  readonly #withHistory: boolean;
  readonly #withNotes: boolean;
  /** How often a canary of somebody else's rightly turned up as a note of its channel. */
  notesUsed = 0;
  /** The doors as they were when the model was given what it has. */
  #doorsGiven: Record<RoomName, Door> | undefined;
  readonly #bot: Bot;
  #present: Turn = {
    speaker: 'alice',
    placeName: 'dm',
    place: this.placeOf('alice', 'dm'),
    own: [],
  };
  /** What the model was given for the answer to come. */
  #given = '';
  /** Whether people can read the answer to the present message, or its beginning. */
  #stands = false;
  #doorToTurn: { readonly room: RoomName; readonly door: Door; readonly at: TurnMoment } | undefined;

  constructor({ memory, withHistory, withNotes }: SceneOptions) {
    const { store, shared, beginsAt } = memory;
    this.#posted = new Posted(beginsAt);
    this.#withHistory = withHistory;
    this.#withNotes = withNotes;
    const { config } = readConfig({
      DISCOCLAW_TIMEZONE: 'UTC',
      DISCOCLAW_RATE_PER_MINUTE: '0',
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '2',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_CHANNEL_NOTES_IDLE_MINUTES: '0',
    });
    const recent = new RecentChanges();
    this.#bot = createBot(config, {
      ...closedEdges,
      recent,
      store,
      shared,
      model: createHarmfulModel(
        (text) => {
          // A tool may repeat the words of the message that is answered.
          this.#given = without(this.#present.own, text);
          // What it is given once stands in its later rounds too.
          this.#doorsGiven ??= { ...this.#doors };
          const { speaker, place } = this.#present;
          this.#check(this.#given, speaker, place, withHistory, this.#doorsGiven);
          this.#turnDoorAt('thinking');
        },
        async () => {
          await new Promise((resolve) => setImmediate(resolve));
          this.#turnDoorAt('answering');
        },
      ),
      outbox: createOutbox({ store, changes: recent }),
      replies: {
        ...fakeReplies(),
        send: (channelId, text) =>
          Promise.resolve({ kind: 'sent', ids: [this.#posted.addOwn(channelId, text).id] }),
        begin: (start) =>
          fakeReplies({
            nextId: () => this.#posted.nextId(),
            note: (step) => {
              this.#stands = step !== 'withdraw';
              if (this.#stands) this.#checkAnswer();
              if (step.startsWith('send')) this.#posted.addOwn(start.channelId, modelAnswer);
            },
          }).begin(start),
      },
      presentPlace: (given) => {
        const now = this.#presentPlace();
        const isKnown = given.audience === 'private' && given.readers !== undefined;
        const isWider =
          isKnown &&
          (now.audience === 'public' ||
            (isAgeRestricted(given) && !isAgeRestricted(now)) ||
            isSomebodyNew(whoeverTheirAge(given.readers), whoeverTheirAge(now.readers)));
        const place = isWider ? now : given;
        this.#present = { ...this.#present, place };
        return Promise.resolve(place);
      },
      history: {
        recent: (channelId, limit) =>
          Promise.resolve(this.#withHistory ? this.#posted.in(channelId).slice(-limit) : []),
      },
      channels: {
        placeOf: (channelId) => {
          const name = placeNames.find((each) => channels[each] === channelId);
          return Promise.resolve(name && this.placeOf('alice', name));
        },
        personMay: (capability, channelId, userId) => {
          const name = placeNames.find((each) => channels[each] === channelId);
          const person = userId === people.alice ? 'alice' : 'bob';
          return Promise.resolve(capability === 'read' && name !== undefined && this.#canRead(person, name));
        },
      },
      hasAccess: async () => true,
      timer: (callback, ms) => {
        if (ms === 0) queueMicrotask(callback);
        return ms === 0 ? () => {} : processTimer(callback, ms);
      },
      clock: () => this.#posted.now,
      logger: recordingLogger(),
    });
  }

  /** A person tells something new; the bot answers and does its after-turn work. */
  async tell(speaker: PersonName, place: PlaceName): Promise<void> {
    await this.#message(speaker, place, `I prefer ${this.#newCanary(speaker, place).word} for lunch`);
  }

  /** A person asks for what a model would answer from all that its prompt holds. */
  async ask(speaker: PersonName, place: PlaceName): Promise<void> {
    await this.#message(speaker, place, 'What do I prefer for lunch? Tell me all you know.');
  }

  /** A person tells something new, and others are let into the hall or the office meanwhile, or shut out. */
  async tellAsDoorTurns(
    speaker: PersonName,
    place: PlaceName,
    room: RoomName,
    door: Door,
    at: TurnMoment,
  ): Promise<void> {
    this.#doorToTurn = { room, door, at };
    await this.tell(speaker, place);
  }

  /** A person has something noted for a channel. */
  async note(speaker: PersonName, place: PlaceName): Promise<void> {
    const { word } = this.#newCanary(speaker, place);
    await this.command(speaker, place, `note Everybody likes ${word} for lunch`);
  }

  /** Its bot does nothing more. */
  end(): Promise<void> {
    return this.#bot.drain(10_000);
  }

  /** Everybody has had the first words, and channel memory is on in the guild. */
  async begin(): Promise<void> {
    if (!this.#withNotes) return;
    for (const speaker of ['alice', 'bob'] as const) await this.command(speaker, 'dm', 'notices on');
    const command = this.#bot.commands.parse('!settings channel-memory on server');
    if (command === undefined) throw new Error('No settings');
    await this.#bot.handlers.command({
      id: this.#posted.nextId(),
      command,
      speaker: { id: people.alice, name: 'alice', isOwner: true },
      place: this.placeOf('alice', 'hall'),
      ephemeral: false,
      at: this.#posted.now.toISOString(),
    });
  }

  async remember(speaker: PersonName, place: PlaceName): Promise<void> {
    const canary = this.#newCanary(speaker, place);
    canary.isShared = canary.audience === 'public';
    await this.command(speaker, place, `remember Prefers ${canary.word} for lunch`);
  }

  /** Shares or hides the first item that the person can see from there. */
  async changeVisibility(speaker: PersonName, place: PlaceName, command: 'share' | 'hide'): Promise<void> {
    const shown = (await this.command(speaker, place, 'show')).split('\n');
    const line = shown.find((each) => / id [0-9a-f]{8}/u.test(each));
    const id = / id (?<id>[0-9a-f]{8,})/u.exec(line ?? '')?.groups?.['id'];
    if (line === undefined || id === undefined) return;
    if (command === 'share') for (const canary of this.#canariesIn(line)) canary.isShared = true;
    await this.command(speaker, place, `${command} ${id}`);
  }

  /** What the command itself says may stand in the answer; all else is judged. */
  async command(
    speaker: PersonName,
    placeName: PlaceName,
    words: string,
    ephemeral = false,
  ): Promise<string> {
    const place = this.placeOf(speaker, placeName);
    const command = this.#bot.commands.parse(`!memory ${words}`);
    if (command === undefined) throw new Error(`No command: ${words}`);
    const { text: answer } = await this.#bot.handlers.command({
      id: this.#posted.nextId(),
      command,
      speaker: { id: people[speaker], name: speaker, isOwner: speaker === 'alice' },
      place,
      ephemeral,
      at: this.#posted.now.toISOString(),
    });
    const readers = ephemeral ? this.placeOf(speaker, 'dm') : place;
    this.#check(without(canaryWords(words), answer), speaker, readers, false);
    return answer;
  }

  turnDoor(room: RoomName, door: Door): void {
    this.#doors[room] = door;
  }

  /** What this role can read counts as public from now on; `undefined` for none. */
  nameMemberRole(role: 'crew' | undefined): void {
    this.#memberRole = role;
  }

  /** The channels of the other guild are age-restricted from now on, or not. */
  restrictAges(isRestricted: boolean): void {
    this.#isOtherGuildRestricted = isRestricted;
  }

  wait(minutes: number): void {
    this.#posted.wait(minutes);
  }

  placeOf(person: PersonName, name: PlaceName): Place {
    if (name === 'dm') return { audience: 'dm', channelId: dms[person], homeId: dms[person] };
    if (name === 'lounge' || name === 'cellar') {
      const readers = name === 'lounge' ? ['@everyone'] : ['crew'];
      return {
        audience: name === 'lounge' && !this.#isOtherGuildRestricted ? 'public' : 'private',
        readers: this.#isOtherGuildRestricted ? adultsAmong(readers) : readers,
        channelId: channels[name],
        homeId: channels[name],
        guildId: otherGuildId,
        channelName: name,
      };
    }
    const door = this.#doors[name === 'office' ? 'office' : 'hall'];
    const isPublic =
      door === 'open' || (door !== 'unknown' && door.some((role) => role === this.#memberRole));
    const channel = {
      audience: isPublic && name !== 'backroom' ? ('public' as const) : ('private' as const),
      ...(door === 'unknown' ? {} : { readers: door === 'open' ? ['@everyone'] : door }),
      channelId: channels[name],
      guildId,
      channelName: name,
    };
    if (name === 'hall' || name === 'office') return { ...channel, homeId: channels[name] };
    const homeId = name === 'thread' ? channels.hall : channels.backroom;
    return { ...channel, homeId, parentId: channels.hall, parentName: 'hall' };
  }

  async #message(speaker: PersonName, placeName: PlaceName, text: string): Promise<void> {
    const place = this.placeOf(speaker, placeName);
    this.#present = { speaker, placeName, place, own: canaryWords(text) };
    this.#doorsGiven = undefined;
    const message = this.#posted.add(
      place.channelId,
      { id: people[speaker], name: speaker, kind: 'human' },
      text,
    );
    const answered = this.#bot.handlers.message({ ...message, place, isOwner: speaker === 'alice' });
    this.#turnDoorAt('waiting');
    if (place.guildId !== undefined)
      this.#bot.handlers.onUserMessage({
        guildId: place.guildId,
        channelId: place.channelId,
        messageId: message.id,
        authorId: people[speaker],
      });
    await answered;
    if (this.#stands) this.#checkAnswer();
    this.#stands = false;
    await this.#bot.idle();
  }

  /** An answer, also the beginning of one, may tell whatever the model was given for it. */
  #checkAnswer(): void {
    this.#check(
      this.#given,
      this.#present.speaker,
      this.#presentPlace(),
      this.#withHistory,
      this.#doorsGiven,
    );
  }

  /** Rule [B2]: everybody who reads the answer can read the channel that it was said in, in which notes may be taken. */
  #mayBeNoted(
    { saidIn }: Canary,
    speaker: PersonName,
    place: Place,
    doors: Record<RoomName, Door> = this.#doors,
  ): boolean {
    if (!this.#withNotes || saidIn === 'dm') return false;
    // Channel memory is on in one of the two.
    if (elsewhere.has(saidIn)) return false;
    if (place.audience === 'dm') return this.#canRead(speaker, saidIn, doors);
    if (place.guildId !== guildId) return false;
    const home = saidIn === 'thread' ? channels.hall : channels[saidIn];
    if (place.homeId === home || place.parentId === home) return true;
    const door = doors[saidIn === 'office' ? 'office' : 'hall'];
    if (saidIn === 'backroom' || door === 'unknown') return false;
    if (door === 'open') return place.readers !== undefined;
    const isPublic = door.some((role) => role === this.#memberRole);
    return isPublic && (place.readers ?? ['anybody']).every((reader) => door.some((role) => role === reader));
  }

  #canRead(person: PersonName, name: Exclude<PlaceName, 'dm'>, doors = this.#doors): boolean {
    if (elsewhere.has(name)) return true;
    const door = doors[name === 'office' ? 'office' : 'hall'];
    // The back room is Alice's own.
    if (name === 'backroom' && person !== 'alice') return false;
    return door !== 'unknown' && (door === 'open' || door.some((role) => role === roles[person]));
  }

  #presentPlace(): Place {
    return this.placeOf(this.#present.speaker, this.#present.placeName);
  }

  #turnDoorAt(moment: TurnMoment): void {
    if (this.#doorToTurn?.at !== moment) return;
    this.turnDoor(this.#doorToTurn.room, this.#doorToTurn.door);
    this.#doorToTurn = undefined;
  }

  #check(
    text: string,
    speaker: PersonName,
    place: Place,
    mayHoldHistory: boolean,
    doors?: Record<RoomName, Door>,
  ): void {
    for (const canary of this.#canariesIn(text)) {
      const isNoted = this.#mayBeNoted(canary, speaker, place, doors);
      if (isNoted && canary.owner !== speaker && !mayHoldHistory) this.notesUsed += 1;
      if (isNoted) continue;
      if (mayBeTold(canary, speaker, place) || (mayHoldHistory && this.#stoodIn(canary, place)))
        this.rightlyUsed += 1;
      else this.leaks.push({ word: canary.word, speaker, place, text });
    }
  }

  /** History is the channel's own text: everybody who reads the channel can read it. */
  #stoodIn(canary: Canary, place: Place): boolean {
    return this.#posted.in(place.channelId).some(({ text }) => text.includes(canary.word));
  }

  #canariesIn(text: string): readonly Canary[] {
    return canaryWords(text).flatMap((word) => this.#canaries.get(word) ?? []);
  }

  #newCanary(owner: PersonName, placeName: PlaceName): Canary {
    const { audience, homeId, guildId: saidInGuild, readers } = this.placeOf(owner, placeName);
    const canary = {
      saidIn: placeName,
      word: `canary${this.#canaries.size}x`,
      owner,
      audience,
      homeId,
      guildId: saidInGuild,
      isAgeRestricted: isAgeRestricted({ readers: readers ?? [] }),
      readers: whoeverTheirAge(readers),
      isShared: false,
    };
    this.#canaries.set(canary.word, canary);
    return canary;
  }
}

function without(words: readonly string[], text: string): string {
  return words.reduce((rest, word) => rest.replaceAll(word, ''), text);
}
