import type { Place } from '../../src/core/place.ts';
import { callCost } from '../../src/model/anthropic/models.ts';
import { createBilledBot, words, type SentRequest, type Talker } from './billed-bot.ts';
import type { Bench } from './measured.ts';
import { seeded } from './person.ts';
import { VendorCache, type Billed } from './vendor-cache.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Items that each person has asked to have remembered: more than a prompt has room for. */
const items = 60;
const seeds = Array.from({ length: 6 }, (_, index) => index + 1);
const monthSeed = 2026;
/** How many answers of the month begin with a look into memory. */
const monthToolShare = 0.2;

const guildId = '110000000000000001';
const dm: Place = { audience: 'dm', channelId: '150000000000000001', homeId: '150000000000000001' };
const alice: Talker = { id: '140000000000000001', name: 'Alice' };

/** A channel that everybody can read. */
function channel(number: number): Place {
  const channelId = String(120_000_000_000_000_001n + BigInt(number));
  return { audience: 'public', channelId, homeId: channelId, guildId, channelName: `room-${number}` };
}

/** A request with what the vendor would bill for it. */
interface BilledRequest extends SentRequest {
  readonly billed: Billed;
}

const places: Readonly<Record<string, Place>> = { guild: channel(0), DM: dm };

type Gap = (random: () => number) => number;

const rhythms: Readonly<Record<string, Gap>> = {
  'one after the other': (random) => (20 + 40 * random()) * 1000,
  'every ten minutes': () => 10 * minuteMs,
  'hours apart': (random) => (1.5 + 5 * random()) * hourMs,
};

/**
 * What the input of the whole bot's requests costs beside that of the same requests without a cache, in a simulation of the vendor's cache and of time. The
 * texts are made by seed, and as long as talk on Discord usually is; in DMs there is a notebook of usual size. The floor reads all that was sent before.
 */
export async function benchBill(bench: Bench): Promise<void> {
  for (const [rhythmName, gap] of Object.entries(rhythms)) {
    for (const [placeName, place] of Object.entries(places)) {
      const name = `20 turns ${rhythmName}, ${placeName}`;
      const ask = (toolShare: number) =>
        Promise.all(seeds.map((seed) => conversation(seed, place, gap, toolShare)));
      const turns = await ask(0);
      const later = turns.map((each) => each.slice(3));
      const kinds = { '': turns, ', from the fourth on': later, ', a third with tools': await ask(1 / 3) };
      for (const [kind, runs] of Object.entries(kinds))
        tell(
          bench,
          name + kind,
          runs.map((each) => each.flat()),
        );
    }
  }
  tell(bench, 'a month of 50 people', [await month()]);
}

/** The requests of 20 turns of one person, with all background work, by turn. */
async function conversation(
  seed: number,
  place: Place,
  gap: Gap,
  toolShare: number,
): Promise<readonly (readonly BilledRequest[])[]> {
  const random = seeded(seed);
  const { bot, requests } = billedBot(random, toolShare);
  const turns: (readonly BilledRequest[])[] = [];
  await prepare(bot, random, alice, place);
  for (let turn = 0; turn < 20; turn += 1) {
    const begin = requests.length;
    await bot.say(alice, place, words(random, 4, 25));
    await bot.passUntil(bot.now() + gap(random));
    turns.push(requests.slice(begin));
  }
  return turns;
}

/**
 * A month of 50 people, half of them in DMs and half in five channels: a third chat in bursts, a third write every ten minutes for an hour
 * a day, a third once in hours. An answer in five begins with a look into memory.
 */
async function month(): Promise<readonly BilledRequest[]> {
  const random = seeded(monthSeed);
  const { bot, requests } = billedBot(random, monthToolShare);
  const begin = bot.now();
  const said = Array.from({ length: 50 }, (_, index) => {
    const talker = { id: String(140_000_000_000_000_101n + BigInt(index)), name: `Person ${index}` };
    const channelId = String(150_000_000_000_000_101n + BigInt(index));
    const place: Place = index % 2 === 0 ? { ...dm, channelId, homeId: channelId } : channel(1 + (index % 5));
    const times = timesIn[index % timesIn.length]?.(random) ?? [];
    return times.map((time) => ({ at: begin + time, talker, place }));
  }).flat();
  for (const { talker, place } of new Map(said.map((each) => [each.talker.id, each])).values())
    await prepare(bot, random, talker, place);
  for (const { at, talker, place } of said.toSorted((a, b) => a.at - b.at)) {
    await bot.passUntil(at);
    await bot.say(talker, place, words(random, 4, 25));
  }
  return requests;
}

const days = Array.from({ length: 30 }, (_, day) => day * dayMs);

/** When people write in a month, in milliseconds from its beginning. */
const timesIn: readonly ((random: () => number) => readonly number[])[] = [
  function inBursts(random) {
    return days.flatMap((day) =>
      Array.from({ length: 1 + Math.floor(3 * random()) }, () => day + 15 * hourMs * random()).flatMap(
        (begin) => rhythm(begin, 4 + Math.floor(9 * random()), () => (20 + 70 * random()) * 1000),
      ),
    );
  },
  function everyTenMinutes(random) {
    return days.flatMap((day) =>
      rhythm(day + 14 * hourMs * random(), 7, () => (8 + 4 * random()) * minuteMs),
    );
  },
  function onceInHours(random) {
    return days.flatMap((day) => rhythm(day + 3 * hourMs * random(), 4, () => (1.5 + 3 * random()) * hourMs));
  },
];

/** So many times, the first at `begin`. */
function rhythm(begin: number, count: number, gap: () => number): readonly number[] {
  let at = begin - gap();
  return Array.from({ length: count }, () => (at += gap()));
}

function billedBot(random: () => number, toolShare: number) {
  const cache = new VendorCache();
  const requests: BilledRequest[] = [];
  const bot = createBilledBot({ random, toolShare }, (request) =>
    requests.push({ ...request, billed: cache.bill(request.body, request.at) }),
  );
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

const unit = 'of uncached';

/** Tells of the requests of each run; the first shares are those of what is asked for people. */
function tell(bench: Bench, name: string, runs: readonly (readonly BilledRequest[])[]): void {
  const chats = runs.map((requests) => requests.filter(({ purpose }) => purpose === 'chat'));
  for (const read of [0.1, 0.05])
    bench.tell(
      [`${name}, reads at ${read}`, unit],
      chats.map((chat) => billOf(chat, read) / sumOf(chat, tokensOf)),
      chats.map((chat) => floorOf(chat, read) / sumOf(chat, tokensOf)),
    );
  const ours = runs.map((requests) => dollarsOf(requests) / dollarsOf(requests.map(uncached)));
  bench.tell(['  with background work, at list prices', unit], ours);
}

function sumOf(requests: readonly BilledRequest[], tokens: (billed: Billed) => number): number {
  return requests.reduce((sum, { billed }) => sum + tokens(billed), 0);
}

function tokensOf({ read, written5m, written1h, plain }: Billed): number {
  return read + written5m + written1h + plain;
}

/** What the requests cost, in tokens of plain input. */
function billOf(requests: readonly BilledRequest[], ofRead: number): number {
  return sumOf(
    requests,
    ({ read, written5m, written1h, plain }) => read * ofRead + written5m * 1.25 + written1h * 2 + plain,
  );
}

/** What they would cost if nothing had to be written to be read. */
function floorOf(requests: readonly BilledRequest[], ofRead: number): number {
  return sumOf(requests, (billed) => billed.known * ofRead + tokensOf(billed) - billed.known);
}

function uncached(request: BilledRequest): BilledRequest {
  const plain = tokensOf(request.billed);
  return { ...request, billed: { read: 0, written5m: 0, written1h: 0, plain, known: 0 } };
}

function dollarsOf(requests: readonly BilledRequest[]): number {
  return requests.reduce((sum, { body, billed: { read, written5m, written1h, plain } }) => {
    const usage = {
      inputTokens: plain,
      outputTokens: 0,
      cacheReadTokens: read,
      cacheWriteTokens: written5m + written1h,
      cacheHourTokens: written1h,
    };
    return sum + (callCost(body.model, usage) ?? Number.NaN);
  }, 0);
}
