import type { Place } from '../../src/core/place.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { createBilledBot, toStore, words, type Talker } from './billed-bot.ts';
import { tell } from './measured.ts';
import { VendorCache, type Billed } from './vendor-cache.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Items that each person has asked to have remembered: more than a prompt has room for. */
const items = 60;
const seeds = Array.from({ length: 6 }, (_, index) => index + 1);

const guildId = '110000000000000001';
const dm: Place = { audience: 'dm', channelId: '150000000000000001', homeId: '150000000000000001' };
const alice: Talker = { id: '140000000000000001', name: 'Alice' };

/** A channel that everybody can read. */
function channel(number: number): Place {
  const channelId = String(120_000_000_000_000_001n + BigInt(number));
  return { audience: 'public', channelId, homeId: channelId, guildId, channelName: `room-${number}` };
}

/** What the vendor would bill for the requests that answer a person, by turn. */
type Turns = readonly (readonly Billed[])[];

const places: Readonly<Record<string, Place>> = { guild: channel(0), DM: dm };

type Gap = (random: () => number) => number;

const rhythms: Readonly<Record<string, Gap>> = {
  'one after the other': (random) => (20 + 40 * random()) * 1000,
  'every ten minutes': () => 10 * minuteMs,
  'hours apart': (random) => (1.5 + 5 * random()) * hourMs,
};

/**
 * What the input of the whole bot's requests for people costs a turn, in tokens of plain input, in a simulation of the vendor's cache and of time. The
 * texts are made by seed, and as long as talk on Discord usually is; in DMs there is a notebook of usual size. The floor reads all that was sent before.
 */
export async function benchBill(): Promise<void> {
  for (const [rhythmName, gap] of Object.entries(rhythms)) {
    for (const [placeName, place] of Object.entries(places)) {
      const name = `20 turns ${rhythmName}, ${placeName}`;
      const ask = (toolShare = 0, storesEvery = Infinity) =>
        Promise.all(seeds.map((seed) => conversation(seed, place, gap, toolShare, storesEvery)));
      const turns = await ask();
      const kinds = {
        '': turns,
        ', the first': turns.map((each) => each.slice(0, 1)),
        ', from the fourth on': turns.map((each) => each.slice(3)),
        ', a third with tools': await ask(1 / 3),
        ', an item stored every third': await ask(0, 3),
      };
      for (const [kind, runs] of Object.entries(kinds)) tellOf(name + kind, runs);
    }
  }
  tellOf('a month of 50 people', [await month()]);
}

/** 20 turns of one person, with all background work; in every `storesEvery`th something is said that the model stores. */
async function conversation(
  seed: number,
  place: Place,
  gap: Gap,
  toolShare: number,
  storesEvery: number,
): Promise<Turns> {
  const random = seededRandom(seed);
  const { bot, requests } = billedBot(random, toolShare);
  const turns: (readonly Billed[])[] = [];
  await prepare(bot, random, alice, place);
  for (let turn = 0; turn < 20; turn += 1) {
    const begin = requests.length;
    const isStored = turn % storesEvery === storesEvery - 1;
    await bot.say(alice, place, isStored ? toStore(words(random, 4, 10)) : words(random, 4, 25));
    await bot.passUntil(bot.now() + gap(random));
    turns.push(requests.slice(begin));
  }
  return turns;
}

/**
 * A month of 50 people, half of them in DMs and half in five channels: a third chat in bursts, a third write every ten minutes for an hour
 * a day, a third once in hours. An answer in five begins with a look into memory.
 */
async function month(): Promise<Turns> {
  const random = seededRandom(2026);
  const { bot, requests } = billedBot(random, 0.2);
  const monthBegin = bot.now();
  const said = Array.from({ length: 50 }, (_, index) => {
    const talker = { id: String(140_000_000_000_000_101n + BigInt(index)), name: `Person ${index}` };
    const channelId = String(150_000_000_000_000_101n + BigInt(index));
    const place: Place = index % 2 === 0 ? { ...dm, channelId, homeId: channelId } : channel(1 + (index % 5));
    const times = timesOf(habits[index % habits.length] ?? habits[0], random);
    return times.map((time) => ({ at: monthBegin + time, talker, place }));
  }).flat();
  for (const { talker, place } of new Map(said.map((each) => [each.talker.id, each])).values())
    await prepare(bot, random, talker, place);
  const turns: (readonly Billed[])[] = [];
  for (const { at, talker, place } of said.toSorted((a, b) => a.at - b.at)) {
    await bot.passUntil(at);
    const begin = requests.length;
    await bot.say(talker, place, words(random, 4, 25));
    turns.push(requests.slice(begin));
  }
  return turns;
}

/** How somebody writes: begins so often a day within so many hours of it, with so many messages, so many milliseconds apart. */
interface Habit {
  readonly begins: number;
  readonly withinHours: number;
  readonly messages: readonly [least: number, most: number];
  readonly gapMs: readonly [least: number, most: number];
}

const habits: readonly [Habit, ...Habit[]] = [
  { begins: 3, withinHours: 15, messages: [4, 12], gapMs: [20_000, 90_000] },
  { begins: 1, withinHours: 14, messages: [7, 7], gapMs: [8 * minuteMs, 12 * minuteMs] },
  { begins: 1, withinHours: 3, messages: [4, 4], gapMs: [1.5 * hourMs, 4.5 * hourMs] },
];

/** When somebody writes in a month, in milliseconds from its beginning. */
function timesOf({ begins, withinHours, messages, gapMs }: Habit, random: () => number): readonly number[] {
  const between = ([least, most]: readonly [number, number]) => least + (most - least) * random();
  const times: number[] = [];
  for (let day = 0; day < 30; day += 1)
    for (let left = Math.ceil(begins * random()); left > 0; left -= 1) {
      let at = day * dayMs + withinHours * hourMs * random();
      for (let count = Math.round(between(messages)); count > 0; count -= 1, at += between(gapMs))
        times.push(at);
    }
  return times;
}

/** A bot, and what is billed for its answers. */
function billedBot(random: () => number, toolShare: number) {
  const cache = new VendorCache();
  const requests: Billed[] = [];
  const bot = createBilledBot({ random, toolShare }, (body, purpose, at) => {
    const billed = cache.bill(body, at);
    if (purpose === 'chat') requests.push(billed);
  });
  return { bot, requests };
}

async function prepare(
  bot: ReturnType<typeof createBilledBot>,
  random: () => number,
  talker: Talker,
  place: Place,
): Promise<void> {
  for (let item = 0; item < items; item += 1)
    await bot.command(talker, place, `!memory remember I like ${words(random, 3, 8)}`);
  if (place.audience === 'dm') await bot.keepNotebook(talker);
}

/** Tells of the turns of each run, in tokens of plain input. */
function tellOf(name: string, runs: readonly Turns[]): void {
  const meanOf = (tokens: (billed: Billed) => number) =>
    runs.map((turns) => turns.flat().reduce((sum, billed) => sum + tokens(billed), 0) / turns.length);
  for (const ofRead of [0.1, 0.05])
    tell(
      [`${name}, reads at ${ofRead}`, 'tokens a turn'],
      meanOf(({ read, written5m, written1h, plain }) => {
        return read * ofRead + written5m * 1.25 + written1h * 2 + plain;
      }),
      // If nothing had to be written to be read.
      meanOf(({ read, written5m, written1h, plain, known }) => {
        return known * ofRead + read + written5m + written1h + plain - known;
      }),
    );
}
