import type { Place } from '../../src/core/place.ts';
import type { VirtualClock } from './clock.ts';
import { mayBeTold, wordPattern, type SaidWord } from './truth.ts';
import type { World, WorldChannel, WorldMessage } from './world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** What was on its way when something changed may still arrive. */
const graceMs = 5000;

/** What somebody wants to be reminded of, with a word of its own in it. */
export interface Wish {
  readonly said: SaidWord;
  readonly channelId: string;
  readonly where: 'here' | 'dm';
  /** Milliseconds from when it is asked for. */
  readonly inMs: number;
  readonly isDaily: boolean;
  /** The zone of their clock; after a change either may count. */
  readonly zones: Set<string>;
}

interface Reminder extends Wish {
  readonly askedAt: number;
  /** Where it was set, with who could read it then. */
  places: Place[];
  /** It comes no sooner. */
  notBefore: number;
  /** When it comes, as its person was told. */
  due?: number | undefined;
  /** Of what comes daily, the hour on the wall. */
  hours: ReadonlySet<string>;
  /** The days, in its person's zone, for which it came. */
  readonly days: Set<string>;
  isCome: boolean;
  /** When its person was told that it is gone. */
  goneAt?: number;
  /** Nobody can tell what became of it. */
  isUncertain: boolean;
  /** There may be another one that says the same. */
  isBeside?: true;
}

interface Judge {
  tries(promise: string): void;
  broken(promise: string, detail: string): void;
}

/** What people were promised about reminders, checked from outside [RM3] [RM4] [RM6]. */
export class ReminderPromises {
  readonly #all = new Map<string, Reminder>();
  readonly #seen = new Set<string>();
  readonly #clock: VirtualClock;
  readonly #world: World;
  readonly #judge: Judge;

  constructor(clock: VirtualClock, world: World, judge: Judge) {
    this.#clock = clock;
    this.#world = world;
    this.#judge = judge;
  }

  /** How many messages of the bot were reminders. */
  get posted(): number {
    return this.#seen.size;
  }

  asked(wish: Wish): void {
    // A door that is changed at this moment was another one before.
    const askedAt = this.#clock.now - 1;
    const state = {
      places: [],
      notBefore: askedAt + wish.inMs,
      days: new Set<string>(),
      hours: new Set<string>(),
    };
    this.#all.set(wish.said.word, { ...wish, ...state, askedAt, isCome: false, isUncertain: false });
  }

  /** The reminders of a person that are not known to be gone. */
  of(personId: string): readonly Wish[] {
    return [...this.#all.values()].filter(
      ({ said, goneAt }) => said.ownerId === personId && goneAt === undefined && said.gone === undefined,
    );
  }

  /** From now on the person's days and hours are those of another zone. */
  zoneChanged(personId: string, zone: string): void {
    for (const each of this.#all.values()) {
      if (each.said.ownerId !== personId) continue;
      each.zones.add(zone);
      if (!each.isDaily || each.due === undefined) continue;
      // It keeps its hour on the wall, of that day or the next.
      each.notBefore = Math.min(each.notBefore, this.#clock.now);
      each.due += 24 * hourMs;
    }
  }

  /** What a person does from here on leaves open what becomes of those that say a word. */
  unsettle(word: string): void {
    const reminder = this.#all.get(word);
    if (reminder !== undefined) reminder.isUncertain = true;
  }

  /** The bot knows that the message is gone in which somebody asked for it. */
  messageGone(messageId: string): void {
    for (const each of this.#all.values())
      if (each.said.messageId === messageId && each.said.gone?.isFinal === true)
        each.goneAt ??= this.#clock.now;
  }

  /** A person is told when a new one comes. */
  told(text: string): void {
    const [, seconds, word] =
      /⏰ I will remind you <t:(\d+):F>(?:.*"call (zq[0-9a-z]{5}q))?/su.exec(text) ?? [];
    const reminder = word === undefined ? this.#goneDueAt(Number(seconds) * 1000) : this.#all.get(word);
    // An answer is shown again when its small lines change, and may come after it was moved.
    if (reminder === undefined || reminder.due !== undefined) return;
    const { channelId, askedAt, inMs, said } = reminder;
    reminder.places = this.#world.placesSince(channelId, askedAt);
    this.#comesAt(reminder, Number(seconds) * 1000);
    // Taken off the list before that was shown, it is gone, or set again by a turn that is run again after a kill.
    if (reminder.goneAt !== undefined && said.gone === undefined) {
      delete reminder.goneAt;
      reminder.isUncertain = true;
    }
    this.#judge.tries('no reminder comes before its time');
    if (reminder.notBefore < askedAt + inMs - 1000)
      this.#judge.broken(
        'no reminder comes before its time',
        `${word} is set for ${iso(reminder.notBefore)}`,
      );
  }

  /** Before others its words are not told. */
  #goneDueAt(due: number): Reminder | undefined {
    return [...this.#all.values()].find(
      ({ goneAt, notBefore }) => goneAt !== undefined && Math.abs(notBefore - due) < 2000,
    );
  }

  #comesAt(reminder: Reminder, due: number): void {
    reminder.due = due;
    reminder.notBefore = due;
    reminder.isCome = false;
    reminder.isUncertain = false;
    reminder.days.clear();
    reminder.hours = new Set([...reminder.zones].map((zone) => hourIn(zone, due)));
  }

  /** A person is told what a command has done about one; the word that is gone with it, if it is. */
  changed(word: string, command: string, told: string): SaidWord | undefined {
    const reminder = this.#all.get(word);
    if (reminder === undefined) return undefined;
    const [, seconds] = /^⏰ It comes <t:(\d+):F>/u.exec(told) ?? [];
    // Beside what comes daily, what was put off comes once more: which is which, nobody can tell here.
    const isBeside = reminder.isDaily && command.startsWith('reminders later');
    if (isBeside) reminder.isBeside = true;
    if (seconds !== undefined && !isBeside) this.#comesAt(reminder, Number(seconds) * 1000);
    if (!told.startsWith('Off your list')) return undefined;
    // The other one may be meant.
    if (reminder.isBeside) return undefined;
    reminder.goneAt = this.#clock.now;
    return reminder.said;
  }

  /** A message of the bot can be read. */
  shown(message: WorldMessage, channel: WorldChannel): void {
    if (message.answers !== undefined) this.told(message.text);
    const isReminder = message.answers === undefined && message.text.startsWith('⏰ ');
    if (!isReminder || this.#seen.has(message.id)) return;
    this.#seen.add(message.id);
    for (const word of new Set(message.text.match(wordPattern))) {
      const reminder = this.#all.get(word);
      if (reminder === undefined) this.#judge.broken('a reminder is asked for', `${word}: ${message.text}`);
      else this.#comes(reminder, message, channel);
    }
  }

  #comes(reminder: Reminder, message: WorldMessage, channel: WorldChannel): void {
    const { said, isDaily } = reminder;
    const { now } = this.#clock;
    const line = message.text.split('\n').find((each) => each.includes(said.word)) ?? '';
    const told = /^- <t:(\d+):F>/u.exec(line) ?? /It was due <t:(\d+):F>/u.exec(message.text);
    const due = told === null ? now : Number(told[1]) * 1000;
    const detail = `${said.word} of ${said.ownerId} at ${iso(now)}, due ${iso(reminder.due ?? 0)}, in ${channel.kind} ${channel.name}: ${message.text}`;
    const holds = (promise: string, isKept: boolean): void => {
      this.#judge.tries(promise);
      if (!isKept) this.#judge.broken(promise, detail);
    };
    holds('a reminder is for nobody else', this.#isForOwner(reminder, message, channel));
    const goneAt =
      reminder.goneAt ?? (/^(?:erase|purge)$/u.test(said.gone?.how ?? '') ? said.gone?.at : undefined);
    holds('what was taken away does not come', goneAt === undefined || goneAt > now - graceMs);
    holds('nothing is stored off the record', !said.isOffRecord);
    if (reminder.isUncertain) return;
    const days = [...reminder.zones].map((zone) => dayIn(zone, due));
    const isSecond = isDaily ? days.every((day) => reminder.days.has(day)) : reminder.isCome;
    holds('a reminder comes once', !isSecond);
    holds('no reminder comes before its time', now >= reminder.notBefore);
    reminder.isCome = true;
    if (!isDaily) return;
    for (const day of days) reminder.days.add(day);
    holds('what comes again keeps its hour', reminder.hours.size === 0 || isAtItsHour(reminder, due));
    // It may be an hour sooner or later where clocks change, and half a day where its person travels.
    const travelMs = reminder.zones.size > 1 ? 24 * hourMs : hourMs;
    reminder.notBefore = due + 24 * hourMs - travelMs;
    // Of what was missed the newest came for all.
    reminder.due = now + 24 * hourMs + travelMs;
  }

  #isForOwner(reminder: Reminder, { notifies = [] }: WorldMessage, channel: WorldChannel): boolean {
    const { ownerId } = reminder.said;
    if (notifies.some((each) => each !== ownerId)) return false;
    if (channel.kind === 'dm') return channel.personId === ownerId;
    if (channel.id !== reminder.channelId || reminder.where === 'dm' || notifies.length === 0) return false;
    const since = this.#clock.now - graceMs;
    const { askedAt, channelId } = reminder;
    const set = reminder.places.length > 0 ? reminder.places : this.#world.placesSince(channelId, askedAt);
    const places = this.#world.placesSince(channelId, since);
    const isOpen = places.some((now) => mayBeTold({ ownerId, places: set, scope: 'as-said' }, ownerId, now));
    return isOpen && this.#world.couldReadSince(ownerId, channel, since);
  }

  /** What was due by then has come, while the bot ran and nothing stood in its way. */
  checkCome(by: number): void {
    for (const { said, due, isCome, isDaily, isUncertain, goneAt } of this.#all.values()) {
      if (due === undefined || due > by || goneAt !== undefined || said.gone !== undefined) continue;
      if (isUncertain) continue;
      this.#judge.tries('a reminder comes');
      if (isDaily || !isCome)
        this.#judge.broken('a reminder comes', `${said.word} of ${said.ownerId}, due ${iso(due)}`);
    }
  }
}

/** It comes a little after it is due, and where clocks are put forward past it at the end of the gap. */
function isAtItsHour({ zones, hours }: Reminder, due: number): boolean {
  return [...zones].some((zone) => {
    const [before, now] = [hourIn(zone, due - minuteMs), hourIn(zone, due)];
    return [...hours].some((hour) => hour === before || hour === now || (before < hour && hour < now));
  });
}

function hourIn(timeZone: string, at: number): string {
  return new Date(at).toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
}

function dayIn(timeZone: string, at: number): string {
  return new Date(at).toLocaleDateString('sv', { timeZone });
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
