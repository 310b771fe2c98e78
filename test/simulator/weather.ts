import type { VirtualClock } from './clock.ts';
import { calmDisk, type DiskMood, type SimulatedDisk } from './disk.ts';
import type { Random } from './random.ts';
import { calmVendor, type Vendor, type VendorMood } from './vendor.ts';
import { calmDiscord, type DiscordMood, type World } from './world.ts';

/** How the disk, Discord or the model behaves for a while, and how often. */
export const weathers = {
  calm: 5,
  'slow-disk': 2,
  'slow-syncs': 2,
  'full-disk': 1,
  'failing-disk': 1,
  'refusing-disk': 0.5,
  'slow-discord': 1,
  'failing-discord': 2,
  'slow-model': 1,
  'failing-model': 2,
  'lying-model': 2,
  'writing-model': 1,
};

export type Weather = keyof typeof weathers;

/** What the scripted model does beside answering: lies and takes orders from strangers, or fills the notebook. */
export type ModelManner = 'plain' | 'lying' | 'writing';

const minuteMs = 60_000;
/** Bad weather ends by itself. */
const longestMs = 30 * minuteMs;

const diskMoods: Readonly<Partial<Record<Weather, DiskMood>>> = {
  'slow-disk': { slowMs: [1, 900], failsPercent: 0 },
  'slow-syncs': { slowMs: [0, 0], syncMs: [50, 3000], failsPercent: 0 },
  'full-disk': { slowMs: [0, 0], failsPercent: 0, refusesWrites: 'ENOSPC' },
  'failing-disk': { slowMs: [0, 5], failsPercent: 15 },
  'refusing-disk': { slowMs: [0, 0], failsPercent: 0, refusesWrites: 'EROFS' },
};

const discordMoods: Readonly<Partial<Record<Weather, DiscordMood>>> = {
  'slow-discord': { slowMs: [500, 4000], failsPercent: 0, failsLatePercent: 0 },
  'failing-discord': { slowMs: [20, 500], failsPercent: 25, failsLatePercent: 50 },
};

const vendorMoods: Readonly<Partial<Record<Weather, VendorMood>>> = {
  'slow-model': { firstMs: [5000, 25_000], betweenMs: [500, 5000], percent: {} },
  'failing-model': {
    firstMs: [100, 3000],
    betweenMs: [10, 200],
    percent: { drips: 5, refuses: 5, overloaded: 15, stalls: 8, cuts: 12, nonsense: 10, 'too-long': 5 },
  },
};

const manners: Readonly<Partial<Record<Weather, ModelManner>>> = {
  'lying-model': 'lying',
  'writing-model': 'writing',
};

/** The weather over the disk, Discord and the model: of each for itself, so that they meet. */
export class Sky {
  model: ModelManner = 'plain';
  readonly #clock: VirtualClock;
  readonly #disk: SimulatedDisk;
  readonly #world: World;
  readonly #vendor: Vendor;
  #diskCalmSince = 0;

  constructor(under: {
    readonly clock: VirtualClock;
    readonly disk: SimulatedDisk;
    readonly world: World;
    readonly vendor: Vendor;
  }) {
    this.#clock = under.clock;
    this.#disk = under.disk;
    this.#world = under.world;
    this.#vendor = under.vendor;
  }

  /** Whether people may have to wait, or get nothing. */
  get isRough(): boolean {
    return (
      this.#disk.mood !== calmDisk || this.#world.mood !== calmDiscord || this.#vendor.mood !== calmVendor
    );
  }

  diskIsCalmSince(moment: number): boolean {
    return this.#disk.mood === calmDisk && this.#diskCalmSince < moment;
  }

  /** Bad weather comes for a while, or all of it ends. */
  turn(weather: Weather, random: Random): void {
    if (weather === 'calm') {
      this.#clear(this.#disk.mood, this.#world.mood, this.#vendor.mood, this.model);
      return;
    }
    const disk = diskMoods[weather];
    const discord = discordMoods[weather];
    const vendor = vendorMoods[weather];
    const model = manners[weather];
    this.#disk.mood = disk ?? this.#disk.mood;
    this.#world.mood = discord ?? this.#world.mood;
    this.#vendor.mood = vendor ?? this.#vendor.mood;
    this.model = model ?? this.model;
    this.#clock.after(random.int(1000, longestMs), () => this.#clear(disk, discord, vendor, model));
  }

  /** The disk does what it should again, as after a loss of power. */
  calmDisk(): void {
    this.#clear(this.#disk.mood);
  }

  /** Of these, ends what still is. */
  #clear(disk?: DiskMood, discord?: DiscordMood, vendor?: VendorMood, model?: ModelManner): void {
    if (disk !== undefined && disk === this.#disk.mood && disk !== calmDisk) {
      this.#disk.mood = calmDisk;
      this.#diskCalmSince = this.#clock.now;
    }
    if (discord === this.#world.mood) this.#world.mood = calmDiscord;
    if (vendor === this.#vendor.mood) this.#vendor.mood = calmVendor;
    if (model === this.model) this.model = 'plain';
  }
}
