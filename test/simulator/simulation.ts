import { createHash, type Hash } from 'node:crypto';

// First, since it changes what others find when they are loaded.
import { VirtualClock } from './clock.ts';
import { SimulatedDisk } from './disk.ts';
import { patienceMs, People } from './people.ts';
import { BotProcess, ProcessTable, type Machine } from './process.ts';
import { lateMs, Promises, undoMs, type Breach } from './promises.ts';
import { createRandom, seedOf, type Random } from './random.ts';
import { forgottenBy, modelScript, poisons } from './script.ts';
import { createSteps, isOfMachine, type Step } from './steps.ts';
import { Vendor } from './vendor.ts';
import type { Logger } from '../../src/core/logger.ts';
import { Sky } from './weather.ts';
import { accessRoles, awayGuild, calmDiscord, homeGuild, World, type WorldChannel } from './world.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
/** By the seed modulo eight. */
const starts: Readonly<Record<number, string>> = {
  1: '2026-10-24T20:00Z',
  3: '2026-03-02T23:40Z',
  5: '2026-03-28T20:00Z',
  7: '2026-03-02T23:40Z',
};

export interface SimulationOptions {
  readonly seed: number;
  readonly people: number;
  /** What happens, in place of what the seed would make up. */
  readonly scene?: readonly Step[];
  readonly steps: number;
  /** Told of everything that happens, a line each. */
  readonly trace?: (line: string) => void;
}

export interface SimulationResult {
  readonly hash: string;
  readonly scene: readonly Step[];
  readonly steps: number;
  /** Simulated milliseconds. */
  readonly elapsedMs: number;
  /** How often it was looked at whether each promise holds. */
  readonly tried: ReadonlyMap<string, number>;
  readonly failure?: Breach & { readonly step: number };
}

/** Runs one simulation from its seed. The same options give the same events. */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = new Simulation(options);
  try {
    return await simulation.run();
  } finally {
    simulation.end();
  }
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #clock: VirtualClock;
  readonly #disk: SimulatedDisk;
  readonly #world: World;
  readonly #vendor: Vendor;
  readonly #sky: Sky;
  readonly #machine: Machine;
  readonly #promises: Promises;
  readonly #people: People;
  readonly #events: Hash = createHash('sha256');
  readonly #background = new Set<Promise<unknown>>();
  #random: Random;
  #process: BotProcess;
  /** When the process began to start. */
  #startedAt = 0;
  readonly #surprised = (error: unknown): void => {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#promises.broken('no surprise', detail);
  };

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = createRandom(seedOf(options.seed, -1));
    // Some lives see midnight, and in some clocks are put forward or back in Europe.
    const start = new Date(starts[options.seed % 8] ?? '2026-03-02T08:00Z');
    this.#clock = new VirtualClock(seedOf(options.seed, -2), start);
    const random = (): Random => this.#random;
    this.#disk = new SimulatedDisk(this.#clock, random);
    this.#world = new World(this.#clock, random, (message, channel) => {
      this.#event(`shown ${message.id} ${message.text}`);
      this.#promises.shown(message, channel);
      this.#process.hearsItself(message);
    });
    this.#promises = new Promises(this.#clock, this.#world, this.#disk, (moment) =>
      this.#sky.diskIsCalmSince(moment),
    );
    this.#vendor = new Vendor(this.#clock, random, (body, luck) => {
      const answer = modelScript(body, luck, this.#sky.model);
      for (const word of forgottenBy(answer)) this.#promises.mayForget(word);
      if (poisons(answer, body)) this.#promises.tries('only what a person said becomes theirs');
      return answer;
    });
    this.#sky = new Sky({ clock: this.#clock, disk: this.#disk, world: this.#world, vendor: this.#vendor });
    this.#machine = {
      processes: new ProcessTable(),
      world: this.#world,
      disk: this.#disk,
      vendor: this.#vendor,
      logger: this.#logger(),
      requested: (request) => {
        this.#event(
          `request ${request.purpose} ${request.userId} ${JSON.stringify(request.messages).length}`,
        );
        this.#promises.requested(request);
      },
      read: (message) => this.#promises.read(message),
    };
    this.#process = new BotProcess(this.#machine);
    this.#people = new People({
      clock: this.#clock,
      world: this.#world,
      promises: this.#promises,
      process: () => this.#process,
      isDiskCalm: () => this.#sky.diskIsCalmSince(this.#clock.now),
      notesOf: (personId) => this.#notesOf(personId),
      restart: () => this.#restart(),
      event: (text) => this.#event(text),
      inBackground: (work) => this.#inBackground(work),
    });
    this.#populate();
    process.on('unhandledRejection', this.#surprised);
  }

  end(): void {
    process.off('unhandledRejection', this.#surprised);
    this.#process.kill();
    this.#machine.processes.restore();
    this.#clock.uninstall();
  }

  async run(): Promise<SimulationResult> {
    const { seed, steps, scene } = this.#options;
    const made: Step[] = [];
    const nextStep = createSteps(createRandom(seedOf(seed, -3)));
    const count = scene?.length ?? steps;
    try {
      await this.#start();
      await this.#people.letGoOn();
      while (made.length < count && this.#promises.breach === undefined) {
        const step = scene?.[made.length] ?? nextStep();
        this.#random = createRandom(step.luck);
        this.#event(`${made.length} ${JSON.stringify(step)}`);
        made.push(step);
        await this.#do(step);
        await this.#pass(step.pauseMs);
      }
      if (this.#promises.breach === undefined) await this.#quiet();
    } catch (error) {
      this.#surprised(error);
    }
    const { breach } = this.#promises;
    if (breach !== undefined) this.#event(`broken: ${breach.promise}: ${breach.detail}`);
    return {
      hash: this.#events.digest('hex'),
      scene: made,
      steps: made.length,
      elapsedMs: this.#clock.elapsed,
      tried: this.#promises.tried,
      ...(breach !== undefined && { failure: { ...breach, step: made.length - 1 } }),
    };
  }

  #populate(): void {
    const [home, away] = [homeGuild, awayGuild];
    const text = (id: number, name: string, guildId: string, door: WorldChannel['door']) =>
      this.#world.open({ id: `60000000000000000${id}`, name, kind: 'text', guildId, door });
    const general = text(1, 'general', home, 'everyone');
    text(2, 'dev', home, 'everyone');
    const staff = text(3, 'staff', home, ['staff']);
    const thread = { guildId: home, door: [] };
    this.#world.open({ ...thread, id: '600000000000000004', name: 'plans', kind: 'thread', parent: general });
    this.#world.open({
      ...thread,
      id: '600000000000000005',
      name: 'secret',
      kind: 'private-thread',
      parent: staff,
    });
    text(6, 'lobby', away, 'everyone');
    text(7, 'den', away, ['crew']);
    for (let index = 0; index < this.#options.people; index += 1) {
      const id = String(500000000000000001n + BigInt(index));
      const roles = ['staff', 'crew', 'guest'].filter(
        (_, at) => (index >> at) % 2 === 0 || this.#random.chance(0.3),
      );
      const guildIds = new Set(index % 5 === 4 ? [away] : index % 3 === 2 ? [home] : [home, away]);
      this.#world.people.push({
        id,
        name: `person${index}`,
        roles: new Set([...roles, ...Object.values(accessRoles)]),
        guildIds,
        accessChangedAt: 0,
      });
      this.#world.open({
        id: String(600000000000000101n + BigInt(index)),
        name: '',
        kind: 'dm',
        personId: id,
      });
    }
  }

  async #do(step: Step): Promise<void> {
    if (!isOfMachine(step)) return this.#people.do(step);
    switch (step.kind) {
      case 'weather':
        this.#sky.turn(step.weather, this.#random);
        if (this.#sky.isRough) this.#promises.excuseWhere(() => true);
        return undefined;
      case 'pass':
        return this.#pass(step.ms);
      case 'cut-off':
        return this.#cutOff(step.ms);
      case 'idle':
        return this.#pass(step.ms);
      case 'away':
        if (step.luck % 2 === 0) await this.#passUntilReminder();
        await this.#kill();
        await this.#pass(step.ms);
        this.#inBackground(this.#start());
        return undefined;
      case 'quiet':
        return this.#quiet();
      case 'kill':
      case 'power-loss':
        await this.#kill();
        this.#promises.tries(step.kind === 'kill' ? 'a kill takes nothing' : 'a loss of power takes nothing');
        if (step.kind === 'power-loss') {
          this.#sky.calmDisk();
          this.#disk.losePower();
        }
        this.#inBackground(this.#start());
        return undefined;
      case 'restart':
        return this.#restart();
      case 'second-start':
        return this.#startSecond();
      case 'late-start':
        return this.#startLate(step);
    }
  }

  #notesOf(personId: string): string {
    const isNote = (path: string): boolean =>
      path.endsWith('.md') && path.includes(`/${personId}/`) && !path.includes('/former/');
    const notes = [...this.#disk.files()].filter(([path]) => isNote(path));
    return notes
      .map(([path, content]) => `${path}\n${content.toString()}`)
      .toSorted()
      .join('\n');
  }

  // Processes

  async #start(): Promise<void> {
    const made = new BotProcess(this.#machine);
    this.#process = made;
    this.#startedAt = this.#clock.now;
    const started = made.start({
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '3',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_RATE_PER_MINUTE: '0',
      DISCOCLAW_REFLECTION_IDLE_MINUTES: '2',
      DISCOCLAW_FALLBACK_MODEL: this.#options.seed % 2 === 0 ? 'claude-haiku-4-5' : '',
    });
    if (!(await this.#clock.runUntilSettled(started, patienceMs))) {
      // A process that was killed meanwhile never ends its start.
      if (made.isAlive) this.#promises.broken('starts', 'a start does not end');
      return;
    }
    try {
      await started;
    } catch (error) {
      this.#event(`start failed: ${String(error)}`);
      if (!made.isAlive) return;
      // With a disk that was healthy all the time there is no reason.
      if (this.#sky.diskIsCalmSince(this.#startedAt)) throw error;
      await this.#kill();
    }
  }

  /** It is gone from one moment to the next, with all that waited in it. */
  async #kill(): Promise<void> {
    this.#process.kill();
    this.#clock.dropTimers();
    await this.#clock.settle();
    this.#clock.dropTimers();
    this.#background.clear();
    this.#promises.excuseWhere(() => true);
  }

  async #restart(): Promise<void> {
    const limitMs = this.#sky.diskIsCalmSince(this.#clock.now) ? 30 * secondMs : patienceMs;
    if (!(await this.#clock.runUntilSettled(this.#process.stop(), limitMs)))
      this.#promises.broken('stops in time', `the process does not stop within ${limitMs} ms`);
    await this.#kill();
    return this.#start();
  }

  /** Another process of the same folder gives up, and the first one takes no harm. */
  async #startSecond(): Promise<void> {
    if (!this.#process.isUp) return;
    const second = new BotProcess(this.#machine);
    const outcome = second.start({}).then(
      () => 'starts',
      () => 'gives up',
    );
    const isSettled = await this.#clock.runUntilSettled(outcome, patienceMs);
    // Where the disk takes nothing, either starts without the folder, which it asks for again.
    if (isSettled && (await outcome) === 'starts' && this.#sky.diskIsCalmSince(this.#startedAt))
      this.#promises.broken('one process a folder', 'a second process started on the same folder');
    second.kill();
  }

  /** The process has just posted a reminder, and was not answered yet. */
  async #passUntilReminder(): Promise<void> {
    const { reminders } = this.#promises;
    const { posted } = reminders;
    await this.#clock.run(
      45 * minuteMs,
      () => reminders.posted > posted || this.#promises.breach !== undefined,
    );
  }

  /** The process ends while Discord takes no answer, and stays away until what it had to say is old [G3e]. */
  async #startLate({ luck, pauseMs }: Step): Promise<void> {
    this.#world.mood = { ...calmDiscord, failsPercent: 100 };
    const step = { luck, pauseMs, person: luck, channel: luck };
    await this.#people.do({ ...step, kind: 'remember' });
    await this.#people.do({ ...step, kind: 'say' });
    await this.#pass(8 * secondMs);
    await this.#kill();
    await this.#pass(lateMs + minuteMs);
    this.#world.mood = calmDiscord;
    this.#inBackground(this.#start());
  }

  /** The gateway loses the bot for a while. */
  async #cutOff(ms: number): Promise<void> {
    const process = this.#process;
    process.cutOff();
    this.#promises.excuseWhere(() => true);
    await this.#pass(ms);
    process.reconnect();
  }

  #inBackground(work: Promise<unknown>): void {
    const done: Promise<unknown> = work
      .catch((error: unknown) => this.#surprised(error))
      .finally(() => this.#background.delete(done));
    this.#background.add(done);
  }

  // Time and weather

  async #pass(ms: number): Promise<void> {
    await this.#clock.run(ms, () => this.#promises.breach !== undefined);
  }

  /** Everything comes to rest, and what was promised is looked at. */
  async #quiet(): Promise<void> {
    this.#sky.turn('calm', this.#random);
    await this.#clock.runUntilSettled(Promise.all(this.#background), patienceMs);
    if (!this.#process.isUp) await this.#start();
    const process = this.#process;
    await this.#clock.runUntilSettled(Promise.all(this.#background), patienceMs);
    if (this.#background.size > 0)
      this.#promises.broken('everything ends', `${this.#background.size} handlers still run`);
    await this.#rest(process);
    this.#promises.checkAnswered();
    const restsSince = this.#clock.now;
    // What can be undone no more has left the disk; the disk is looked at once its own work is done.
    await this.#pass(undoMs + 2 * minuteMs);
    await this.#rest(process);
    // Of what a disk stood in the way of, some is looked for an hour later.
    if (this.#sky.diskIsCalmSince(this.#startedAt)) this.#promises.reminders.checkCome(restsSince);
    this.#promises.checkDisk();
    await this.#people.lookAtMemory();
  }

  async #rest(process: BotProcess): Promise<void> {
    if (!(await this.#clock.runUntilSettled(process.idle(), 60 * minuteMs)))
      this.#promises.broken('queues drain', 'the bot does not come to rest within an hour');
  }

  // Bookkeeping

  /** A trace has what the bot warns of. */
  #logger(): Logger {
    const tell = (event: string, { error, ...data }: Readonly<Record<string, unknown>> = {}): void => {
      if (this.#options.trace === undefined) return;
      const cause = error instanceof Error ? (error.stack ?? error.message) : '';
      this.#options.trace(`${this.#clock.elapsed} log ${event} ${JSON.stringify(data)} ${cause}`);
    };
    return { debug: () => {}, info: () => {}, warn: tell, error: tell };
  }

  #event(text: string): void {
    this.#events.update(`${this.#clock.elapsed} ${text}\n`);
    this.#options.trace?.(`${this.#clock.elapsed} ${text}`);
  }
}
