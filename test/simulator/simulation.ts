import { createHash, type Hash } from 'node:crypto';

// First, since it changes what others find when they are loaded.
import { VirtualClock } from './clock.ts';
import type { CommandButton } from '../../src/core/chat.ts';
import type { CommandReply } from '../../src/core/commands.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import type { MessagesBody } from '../support/model-server.ts';
import { calmDisk, SimulatedDisk, type DiskMood } from './disk.ts';
import { BotProcess, ProcessTable, type Machine } from './process.ts';
import { createRandom, seedOf, type Random } from './random.ts';
import { modelScript } from './script.ts';
import { randomStep, type Step, type Weather } from './steps.ts';
import { echoPattern, mayBeTold, unechoed, wordOf, wordPattern, type SaidWord } from './truth.ts';
import { calmVendor, Vendor, type VendorMood } from './vendor.ts';
import {
  botId,
  calmDiscord,
  World,
  type DiscordMood,
  type WorldChannel,
  type WorldMessage,
} from './world.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
/** How long a change can be undone [K5]. */
const undoMs = 10 * minuteMs;
/** What a command or an answer may take while everything is calm: the model's two minutes, Discord's retries, and what waits before it. */
const patienceMs = 6 * minuteMs;
/** After a change of who reads along, what was on its way may still arrive. */
const graceMs = 5 * secondMs;

/** A promise that was not kept. */
class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
  readonly promise: string;
  constructor(promise: string, detail: string) {
    super(`${promise}: ${detail}`);
    this.promise = promise;
  }
}

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
  readonly failure?: { readonly promise: string; readonly detail: string; readonly step: number };
  readonly counts: Readonly<Record<string, number>>;
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

interface Asked {
  readonly message: WorldMessage;
  /** Nothing has to come of it. */
  isExcused: boolean;
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #clock: VirtualClock;
  readonly #disk: SimulatedDisk;
  readonly #world: World;
  readonly #vendor: Vendor;
  readonly #machine: Machine;
  readonly #events: Hash = createHash('sha256');
  readonly #counts: Record<string, number> = {};
  readonly #words = new Map<string, SaidWord>();
  readonly #asked = new Map<string, Asked>();
  /** First messages of answers, by what they answer. */
  readonly #answers = new Map<string, Set<string>>();
  /** When a channel's door was last changed, and what may be told there by the door before. */
  readonly #doorsBefore = new Map<string, { readonly door: WorldChannel['door']; readonly until: number }>();
  /** Whom which echo was told, and where: that is theirs to hear again, where what was said there may be. */
  readonly #echoes = new Map<string, Pick<SaidWord, 'ownerId' | 'place' | 'scope'>[]>();
  readonly #paused = new Set<string>();
  readonly #background = new Set<Promise<unknown>>();
  #random: Random;
  #process: BotProcess;
  #failure: SimulationResult['failure'];
  #step = 0;
  #isLying = false;
  #wordCount = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = createRandom(seedOf(options.seed, -1));
    this.#clock = new VirtualClock(seedOf(options.seed, -2), new Date('2026-03-02T08:00:00Z'));
    const random = (): Random => this.#random;
    this.#disk = new SimulatedDisk(this.#clock, random);
    this.#world = new World(this.#clock, random, (message, channel) => this.#shown(message, channel));
    this.#vendor = new Vendor(this.#clock, random, (body, luck) => this.#script(body, luck));
    this.#machine = {
      processes: new ProcessTable(),
      world: this.#world,
      disk: this.#disk,
      vendor: this.#vendor,
      asked: (request) => this.#requested(request),
    };
    this.#process = new BotProcess(this.#machine);
    this.#populate();
  }

  end(): void {
    this.#process.kill();
    this.#machine.processes.restore();
    this.#clock.uninstall();
  }

  async run(): Promise<SimulationResult> {
    const { seed, steps, scene } = this.#options;
    const made: Step[] = [];
    const steering = createRandom(seedOf(seed, -3));
    try {
      await this.#startProcess();
      for (this.#step = 0; this.#step < (scene?.length ?? steps); this.#step += 1) {
        const step = scene?.[this.#step] ?? randomStep(steering);
        made.push(step);
        this.#random = createRandom(step.luck);
        this.#note(`${this.#step} ${JSON.stringify(step)}`);
        await this.#do(step);
        await this.#clock.run(step.pauseMs, () => this.#failure !== undefined);
        this.#assertNoFailure();
      }
      await this.#quiet();
      this.#assertNoFailure();
    } catch (error) {
      this.#failure ??= {
        promise: error instanceof BrokenPromise ? error.promise : 'no surprise',
        detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
        step: this.#step,
      };
    }
    return {
      hash: this.#events.digest('hex'),
      scene: made,
      steps: this.#step,
      elapsedMs: this.#clock.elapsed,
      counts: this.#counts,
      ...(this.#failure !== undefined && { failure: this.#failure }),
    };
  }

  // What happens

  #populate(): void {
    const { people } = this.#options;
    const [home, away] = ['700000000000000001', '700000000000000002'];
    const add = (channel: Omit<WorldChannel, 'messages'>): WorldChannel => {
      const whole = { ...channel, messages: [] };
      this.#world.channels.set(channel.id, whole);
      return whole;
    };
    const general = add({
      id: '600000000000000001',
      name: 'general',
      kind: 'text',
      guildId: home,
      door: 'everyone',
    });
    add({ id: '600000000000000002', name: 'dev', kind: 'text', guildId: home, door: 'everyone' });
    const staff = add({
      id: '600000000000000003',
      name: 'staff',
      kind: 'text',
      guildId: home,
      door: ['staff'],
    });
    add({
      id: '600000000000000004',
      name: 'plans',
      kind: 'thread',
      guildId: home,
      parent: general,
      door: [],
    });
    add({
      id: '600000000000000005',
      name: 'secret',
      kind: 'private-thread',
      guildId: home,
      parent: staff,
      door: [],
    });
    add({ id: '600000000000000006', name: 'lobby', kind: 'text', guildId: away, door: 'everyone' });
    add({ id: '600000000000000007', name: 'den', kind: 'text', guildId: away, door: ['crew'] });
    for (let index = 0; index < people; index += 1) {
      const id = String(500000000000000001n + BigInt(index));
      const roles = ['staff', 'crew', 'guest'].filter(
        (_, at) => (index >> at) % 2 === 0 || this.#random.chance(0.3),
      );
      const guildIds = new Set(index % 5 === 4 ? [away] : index % 3 === 2 ? [home] : [home, away]);
      this.#world.people.push({ id, name: `person${index}`, roles: new Set(roles), guildIds });
      add({ id: String(600000000000000101n + BigInt(index)), name: '', kind: 'dm', personId: id, door: [] });
    }
  }

  async #startProcess(): Promise<void> {
    const made = new BotProcess(this.#machine);
    this.#process = made;
    const started = made.start({
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '3',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_RATE_PER_MINUTE: '0',
    });
    const isStarted = await this.#wait(started, patienceMs);
    if (!isStarted) throw new BrokenPromise('starts', 'a start does not end');
    try {
      await started;
    } catch (error) {
      this.#note(`start failed: ${String(error)}`);
      // With a healthy disk there is no reason.
      if (this.#disk.mood === calmDisk) throw error;
      made.kill();
      this.#clock.dropTimers();
    }
  }

  #wait(work: Promise<unknown>, ms: number): Promise<boolean> {
    return this.#clock.runUntilSettled(work, ms);
  }

  /** Something that people do not wait for. */
  #inBackground(work: Promise<unknown>): void {
    const done: Promise<unknown> = work
      .catch((error: unknown) =>
        this.#fail('no surprise', error instanceof Error ? (error.stack ?? '') : String(error)),
      )
      .finally(() => this.#background.delete(done));
    this.#background.add(done);
  }

  async #do(step: Step): Promise<void> {
    this.#count(step.kind);
    const { people } = this.#world;
    switch (step.kind) {
      case 'say':
        return this.#say(step, true);
      case 'chat':
        return this.#say({ ...step, size: 'short' }, false);
      case 'remember':
        return this.#remember(step);
      case 'forget':
      case 'purge':
      case 'share':
      case 'hide':
      case 'pin':
      case 'edit-item':
      case 'why':
      case 'search':
        return this.#aboutWord(step);
      case 'undo':
      case 'show':
      case 'export':
      case 'reset':
      case 'panel':
      case 'erase':
      case 'pause':
      case 'pause-here':
      case 'resume': {
        const person = pickAt(people, step.person);
        return this.#personal(step.kind, person.id, this.#channelFor(person.id, step.channel));
      }
      case 'mode':
        return this.#command(pickAt(people, step.person).id, undefined, `memory mode ${step.value}`);
      case 'press':
        return this.#press(step);
      case 'edit':
      case 'delete':
      case 'repeat':
      case 'stop-sign':
        return this.#touch(step.kind, step.message);
      case 'delete-answer':
        return this.#deleteAnswer(step.message);
      case 'door':
        return this.#turnDoor(step.channel, step.door);
      case 'change-and-undo':
        return this.#changeAndUndo(step);
      case 'weather':
        return this.#turnWeather(step.weather);
      case 'pass':
        await this.#clock.run(step.ms, () => this.#failure !== undefined);
        return undefined;
      case 'quiet':
        return this.#quiet();
      case 'kill':
      case 'power-loss':
        this.#process.kill();
        this.#clock.dropTimers();
        await this.#clock.settle();
        this.#clock.dropTimers();
        if (step.kind === 'power-loss') this.#disk.losePower();
        // Nobody hears any more of what the dead process was doing.
        this.#background.clear();
        this.#excuseAll();
        this.#inBackground(this.#startProcess());
        return undefined;
      case 'restart': {
        const stopped = this.#process.stop();
        if (!(await this.#wait(stopped, 30 * secondMs)))
          this.#fail('stops in time', 'the process does not stop within 30 seconds');
        this.#process.kill();
        this.#clock.dropTimers();
        this.#background.clear();
        this.#excuseAll();
        return this.#startProcess();
      }
      case 'second-start': {
        if (!this.#process.isUp) return undefined;
        const second = new BotProcess(this.#machine);
        const outcome = await this.#outcome(second.start({}));
        if (outcome === 'resolved')
          this.#fail('one process a folder', 'a second process started on the same folder');
        second.kill();
        return undefined;
      }
    }
  }

  async #outcome(work: Promise<unknown>): Promise<'resolved' | 'rejected' | 'hangs'> {
    const settled = work.then(
      () => 'resolved' as const,
      () => 'rejected' as const,
    );
    return (await this.#wait(settled, patienceMs)) ? settled : 'hangs';
  }

  #channelFor(personId: string, index: number): WorldChannel {
    const open = [...this.#world.channels.values()].filter((channel) =>
      this.#world.canRead(personId, channel),
    );
    return pickAt(open, index);
  }

  #newWord(ownerId: string, channel: WorldChannel, messageId?: string): SaidWord {
    this.#wordCount += 1;
    const said: SaidWord = {
      word: wordOf(this.#wordCount),
      ownerId,
      ...(messageId !== undefined && { messageId }),
      place: this.#world.placeOf(channel.id),
      at: this.#clock.now,
      scope: 'as-said',
      isAcknowledged: false,
      isUncertain: false,
    };
    this.#words.set(said.word, said);
    return said;
  }

  async #say(
    step: { readonly person: number; readonly channel: number; readonly size: 'short' | 'long' },
    isForBot: boolean,
  ): Promise<void> {
    const person = pickAt(this.#world.people, step.person);
    const channel = this.#channelFor(person.id, step.channel);
    const word = wordOf(this.#wordCount + 1);
    const mention = isForBot && channel.kind !== 'dm' ? `<@${botId}> ` : '';
    const padding = step.size === 'long' ? ` ${'and so on '.repeat(150)}` : '';
    const text = `${mention}I really love ${word}.${padding}`;
    const message = this.#world.write(channel.id, person.id, text);
    this.#newWord(person.id, channel, message.id);
    const isHeard = isForBot || channel.kind === 'dm';
    if (isHeard) this.#asked.set(message.id, { message, isExcused: !this.#process.isUp });
    this.#inBackground(this.#process.message(message, isHeard));
    return Promise.resolve();
  }

  async #remember(step: {
    readonly person: number;
    readonly channel: number;
    readonly isSlash: boolean;
  }): Promise<void> {
    const person = pickAt(this.#world.people, step.person);
    const channel = this.#channelFor(person.id, step.channel);
    const word = wordOf(this.#wordCount + 1);
    const line = `memory remember I prefer ${word}`;
    if (!step.isSlash) {
      const message = this.#world.write(channel.id, person.id, `!${line}`);
      const said = this.#newWord(person.id, channel, message.id);
      said.scope =
        channel.kind !== 'dm' && this.#world.placeOf(channel.id).audience === 'public'
          ? 'everywhere'
          : 'as-said';
      this.#inBackground(this.#process.message(message, true));
      return;
    }
    const said = this.#newWord(person.id, channel);
    if (said.place.audience === 'public') said.scope = 'everywhere';
    this.#inBackground(this.#rememberBySlash(said, channel, line));
  }

  async #rememberBySlash(said: SaidWord, channel: WorldChannel, line: string): Promise<void> {
    const answer = await this.#process.slash(said.ownerId, channel.id, line);
    if (answer?.text.startsWith('Remembered') === true) said.isAcknowledged = true;
  }

  /** A word that a person has said, by its number; `undefined` where they have said none. */
  #wordOfPerson(personId: string, index: number): SaidWord | undefined {
    const own = [...this.#words.values()].filter(
      ({ ownerId, gone }) => ownerId === personId && gone === undefined,
    );
    return own.length === 0 ? undefined : pickAt(own, index);
  }

  async #aboutWord(step: Extract<Step, { readonly word: number; readonly channel: number }>): Promise<void> {
    const person = pickAt(this.#world.people, step.person);
    const said = this.#wordOfPerson(person.id, step.word);
    if (said === undefined) return;
    const dm = this.#dmOf(person.id);
    const { word } = said;
    switch (step.kind) {
      case 'forget': {
        said.isUncertain = true;
        const reply = await this.#ask(person.id, dm, `memory forget ${word}`);
        if (reply?.text.startsWith('Deprecated ') === true)
          said.gone = { at: this.#clock.now, isFinal: false, how: 'forget' };
        return;
      }
      case 'purge': {
        said.isUncertain = true;
        const reply = await this.#ask(person.id, dm, `memory purge ${word}`);
        const [button] = reply?.buttons ?? [];
        if (button?.line === undefined || !button.line.startsWith('memory purge')) return;
        const done = await this.#ask(person.id, dm, button.line);
        if (done?.text.startsWith('Erased') === true)
          said.gone = { at: this.#clock.now, isFinal: true, how: 'purge' };
        return;
      }
      case 'share':
      case 'hide':
      case 'pin':
      case 'edit-item': {
        const id = await this.#itemId(person.id, word);
        if (id === undefined) return;
        if (step.kind === 'share') said.scope = 'everywhere';
        if (step.kind === 'edit-item') return this.#editItem(person.id, id, said);
        await this.#ask(person.id, dm, `memory ${step.kind} ${id}`);
        return;
      }
      case 'why':
        return this.#command(person.id, undefined, 'memory why');
      case 'search':
        return this.#command(person.id, this.#channelFor(person.id, step.channel), `memory search ${word}`);
    }
  }

  async #editItem(personId: string, id: string, said: SaidWord): Promise<void> {
    const dm = this.#dmOf(personId);
    said.isUncertain = true;
    const next = this.#newWord(personId, dm);
    await this.#ask(personId, dm, `memory edit ${id} I prefer ${next.word}`);
  }

  /** The id of the item that says a word, as its owner is shown it. */
  async #itemId(personId: string, word: string): Promise<string | undefined> {
    const shown = await this.#ask(personId, this.#dmOf(personId), 'memory show');
    const line = shown?.text.split('\n').find((each) => each.includes(word));
    return / id (?<id>[0-9a-f]{8,})/u.exec(line ?? '')?.groups?.['id'];
  }

  #dmOf(personId: string): WorldChannel {
    for (const channel of this.#world.channels.values()) if (channel.personId === personId) return channel;
    throw new RangeError(`No DM of ${personId}`);
  }

  /** Gives a command and waits for its answer, which only its person sees. */
  async #ask(personId: string, channel: WorldChannel, line: string): Promise<CommandReply | undefined> {
    const { isUp } = this.#process;
    const asked = this.#process;
    const answer = this.#process.slash(personId, channel.id, line);
    const isAnswered = await this.#wait(answer, patienceMs);
    if (!isAnswered) {
      if (isUp && asked === this.#process && asked.isUp) this.#fail('commands are answered', line);
      return undefined;
    }
    const reply = await answer;
    if (reply !== undefined) this.#seen(personId, line, reply);
    return reply;
  }

  async #command(personId: string, channel: WorldChannel | undefined, line: string): Promise<void> {
    await this.#ask(personId, channel ?? this.#dmOf(personId), line);
  }

  /** What a person is shown of memory is their own [V2]. */
  #seen(personId: string, line: string, reply: CommandReply): void {
    this.#event(`reply ${line} ${reply.text}`);
    const texts = [
      reply.text,
      ...(reply.files ?? []).map(({ bytes }) => Buffer.from(bytes).toString('latin1')),
    ];
    for (const text of texts)
      for (const word of text.match(wordPattern) ?? []) {
        const said = this.#words.get(word);
        if (said !== undefined && said.ownerId !== personId && !line.includes(word))
          this.#fail(
            'nobody sees the memory of another',
            `${line} showed ${word} of ${said.ownerId} to ${personId}`,
          );
      }
  }

  async #personal(kind: string, personId: string, channel: WorldChannel): Promise<void> {
    switch (kind) {
      case 'undo':
        // What it takes back is known to nobody here.
        for (const said of this.#words.values())
          if (said.ownerId === personId && said.gone?.isFinal !== true) {
            said.isUncertain = true;
            delete said.gone;
          }
        return this.#command(personId, channel, 'memory undo');
      case 'reset':
        return this.#command(personId, channel, 'memory reset rolling');
      case 'pause-here':
        return this.#command(personId, channel, 'memory pause here');
      case 'pause':
        this.#paused.add(personId);
        return this.#command(personId, channel, 'memory pause');
      case 'resume':
        this.#paused.delete(personId);
        return this.#command(personId, channel, 'memory resume');
      case 'erase':
        return this.#erase(personId);
      default:
        return this.#command(personId, channel, `memory ${kind}`);
    }
  }

  async #erase(personId: string): Promise<void> {
    const dm = this.#dmOf(personId);
    const asked = await this.#ask(personId, dm, 'memory erase');
    const [button] = asked?.buttons ?? [];
    if (button?.line === undefined) return;
    const at = this.#clock.now;
    const done = await this.#ask(personId, dm, button.line);
    this.#paused.delete(personId);
    for (const asking of this.#asked.values())
      if (asking.message.authorId === personId) asking.isExcused = true;
    for (const said of this.#words.values()) {
      if (said.ownerId !== personId || said.at > at || said.gone?.isFinal === true) continue;
      said.isUncertain = true;
      if (done?.text.startsWith('Erased') === true)
        said.gone = { at: this.#clock.now, isFinal: true, how: 'erase' };
    }
  }

  async #press(step: { readonly message: number; readonly button: number }): Promise<void> {
    const offered = [...this.#world.channels.values()]
      .flatMap(({ messages }) => messages.slice(-20))
      .filter(
        ({ authorId, isDeleted, components }) => authorId === botId && !isDeleted && components.length > 0,
      );
    if (offered.length === 0) return;
    const message = pickAt(offered, step.message);
    const ids = [...JSON.stringify(message.components).matchAll(/"custom_id":"(?<id>(?:[^"\\]|\\.)*)"/gu)];
    if (ids.length === 0) return;
    const customId = String(JSON.parse(`"${pickAt(ids, step.button).groups?.['id'] ?? ''}"`));
    const personId = /\d{17,20}/u.exec(customId)?.[0];
    if (personId === undefined || !this.#world.people.some(({ id }) => id === personId)) return;
    // What it does is known to nobody here.
    for (const said of this.#words.values())
      if (said.ownerId === personId && said.gone?.isFinal !== true) {
        said.isUncertain = true;
        if (customId.includes('undo') || customId.startsWith('offer')) delete said.gone;
      }
    if (/memory (?:share|panel-do)/u.test(customId))
      for (const said of this.#words.values()) if (said.ownerId === personId) said.scope = 'everywhere';
    this.#inBackground(this.#pressed(personId, message, customId));
  }

  async #pressed(personId: string, message: WorldMessage, customId: string): Promise<void> {
    const answer = await this.#process.press(personId, message, customId);
    if (answer !== undefined) this.#seen(personId, customId, answer);
  }

  #recentMessage(index: number): WorldMessage | undefined {
    const recent = [...this.#world.channels.values()]
      .flatMap(({ messages }) => messages.slice(-8))
      .filter(({ authorId, isDeleted }) => authorId !== botId && !isDeleted);
    return recent.length === 0 ? undefined : pickAt(recent, index);
  }

  async #touch(kind: 'edit' | 'delete' | 'repeat' | 'stop-sign', index: number): Promise<void> {
    const message = this.#recentMessage(index);
    if (message === undefined) return;
    const asked = this.#asked.get(message.id);
    const said = [...this.#words.values()].filter(({ messageId }) => messageId === message.id);
    switch (kind) {
      case 'repeat':
        this.#inBackground(this.#process.message(message, this.#process.isForBot(message)));
        return;
      case 'stop-sign':
        if (asked !== undefined) asked.isExcused = true;
        this.#inBackground(this.#process.reacted(message.channelId, message.id, message.authorId, '🛑'));
        return;
      case 'delete':
        if (asked !== undefined) asked.isExcused = true;
        message.isDeleted = true;
        for (const each of said) {
          each.isUncertain = true;
          if (!message.text.startsWith('!'))
            each.gone = { at: this.#clock.now, isFinal: true, how: 'delete' };
        }
        this.#inBackground(this.#process.deleted(message.channelId, [message.id]));
        return;
      case 'edit': {
        if (message.text.startsWith('!')) return;
        if (asked !== undefined) asked.isExcused = true;
        const channel = this.#world.channel(message.channelId);
        const next = this.#newWord(message.authorId, channel, message.id);
        const mention = message.text.startsWith('<@') ? `<@${botId}> ` : '';
        this.#world.edit(message, `${mention}I really love ${next.word}.`);
        for (const each of said) {
          each.isUncertain = true;
          each.gone = { at: this.#clock.now, isFinal: true, how: 'edit' };
        }
        this.#inBackground(this.#process.edited(message));
      }
    }
  }

  async #deleteAnswer(index: number): Promise<void> {
    const answers = [...this.#world.channels.values()]
      .flatMap(({ messages }) => messages.slice(-8))
      .filter(({ authorId, isDeleted }) => authorId === botId && !isDeleted);
    if (answers.length === 0) return;
    const message = pickAt(answers, index);
    const asked = this.#asked.get(message.answers ?? '');
    if (asked !== undefined) asked.isExcused = true;
    message.isDeleted = true;
    this.#inBackground(this.#process.deleted(message.channelId, [message.id]));
  }

  async #turnDoor(index: number, door: number): Promise<void> {
    const rooms = [...this.#world.channels.values()].filter(({ kind }) => kind === 'text');
    const room = pickAt(rooms, index);
    const doors: WorldChannel['door'][] = [
      'everyone',
      ['staff'],
      ['crew'],
      ['staff', 'crew'],
      ['guest', 'staff'],
    ];
    this.#doorsBefore.set(room.id, { door: room.door, until: this.#clock.now + graceMs });
    room.door = pickAt(doors, door);
    // An answer that was made for fewer readers is kept back.
    for (const asked of this.#asked.values()) {
      const { kind, parent, id } = this.#world.channel(asked.message.channelId);
      if (kind !== 'dm' && (id === room.id || parent?.id === room.id)) asked.isExcused = true;
    }
  }

  async #turnWeather(weather: Weather): Promise<void> {
    this.#disk.mood = diskMoods[weather] ?? calmDisk;
    this.#world.mood = discordMoods[weather] ?? calmDiscord;
    this.#vendor.mood = vendorMoods[weather] ?? calmVendor;
    this.#isLying = weather === 'lying-model';
    if (weather !== 'calm' && weather !== 'lying-model') this.#excuseAll();
  }

  #excuseAll(): void {
    for (const asked of this.#asked.values()) asked.isExcused = true;
  }

  /** Whatever is changed and undone is as it was [K5]. */
  async #changeAndUndo(step: Extract<Step, { readonly kind: 'change-and-undo' }>): Promise<void> {
    const person = pickAt(this.#world.people, step.person);
    const said = this.#wordOfPerson(person.id, step.word);
    if (said === undefined || this.#disk.mood !== calmDisk || !this.#process.isUp) return;
    const process = this.#process;
    if (!(await this.#wait(process.idle(), 30 * minuteMs))) return;
    const dm = this.#dmOf(person.id);
    const id = await this.#itemId(person.id, said.word);
    if (id === undefined) return;
    const shown = async (): Promise<string | undefined> =>
      (await this.#ask(person.id, dm, 'memory show'))?.text;
    const before = await shown();
    const lines = {
      forget: `memory forget ${said.word}`,
      hide: `memory hide ${id}`,
      pin: `memory pin ${id}`,
      'edit-item': `memory edit ${id} Something else entirely`,
    };
    const reply = await this.#ask(person.id, dm, lines[step.change]);
    const undo = undoLine(reply?.buttons ?? []);
    if (undo === undefined || process !== this.#process) return;
    const undone = await this.#ask(person.id, dm, undo);
    const after = await shown();
    if (
      before !== undefined &&
      after !== undefined &&
      before !== after &&
      undone !== undefined &&
      process === this.#process
    )
      this.#fail(
        'undo restores',
        `${lines[step.change]}, then ${undo} (${undone.text}):\n--- before\n${before}\n--- after\n${after}`,
      );
  }

  // What must hold

  /** Everything has come to rest, and what was promised is looked at. */
  async #quiet(): Promise<void> {
    await this.#turnWeather('calm');
    if (!this.#process.isUp) {
      if (this.#process.isAlive) await this.#wait(Promise.all(this.#background), patienceMs);
      if (!this.#process.isUp) await this.#startProcess();
    }
    const process = this.#process;
    await this.#wait(Promise.all(this.#background), patienceMs);
    if (this.#background.size > 0)
      this.#fail('everything ends', `${this.#background.size} handlers still run`);
    if (!(await this.#wait(process.idle(), 60 * minuteMs)))
      this.#fail('queues drain', 'the bot does not come to rest within an hour');
    this.#assertNoFailure();
    this.#checkAnswered();
    // What can be undone no more has left the disk; the disk is looked at once its own work is done.
    await this.#clock.run(undoMs + 2 * minuteMs, () => this.#failure !== undefined);
    await this.#wait(process.idle(), 60 * minuteMs);
    this.#checkDisk();
    await this.#checkKept();
    this.#assertNoFailure();
  }

  #checkAnswered(): void {
    for (const [id, { message, isExcused }] of this.#asked) {
      this.#asked.delete(id);
      if (isExcused) continue;
      const later = this.#world
        .channel(message.channelId)
        .messages.filter(({ authorId, answers }) => authorId === botId && answers !== undefined);
      const isAnswered = later.some(
        ({ answers }) =>
          BigInt(answers ?? '0') >= BigInt(id) &&
          this.#world.message(answers ?? '')?.authorId === message.authorId,
      );
      if (!isAnswered)
        this.#fail('every message is answered', `${id} of ${message.authorId}: ${message.text.slice(0, 80)}`);
    }
  }

  /** Nothing that is gone for good stands in a byte of the disk [S7]. */
  #checkDisk(): void {
    const onDisk = this.#disk.words(wordPattern);
    for (const said of this.#words.values()) {
      if (said.gone === undefined) continue;
      const { at, isFinal, how } = said.gone;
      if (!isFinal && this.#clock.now - at < undoMs + minuteMs) continue;
      const paths = onDisk.get(said.word);
      if (paths !== undefined)
        this.#fail('what is gone is gone', `${said.word} (${how}) stands in ${paths.join(', ')}`);
      else if (isFinal) this.#words.delete(said.word);
    }
  }

  /** What was acknowledged is there. */
  async #checkKept(): Promise<void> {
    for (const person of this.#world.people) {
      const due = [...this.#words.values()].filter(
        ({ ownerId, isAcknowledged, gone, isUncertain }) =>
          ownerId === person.id && isAcknowledged && gone === undefined && !isUncertain,
      );
      if (due.length === 0) continue;
      const shown = (await this.#ask(person.id, this.#dmOf(person.id), 'memory show'))?.text;
      if (shown === undefined) continue;
      for (const { word } of due)
        if (!shown.includes(word))
          this.#fail('what is acknowledged is kept', `${word} of ${person.id} is not shown`);
    }
  }

  /** A request leaves for the model: nothing in it that may not be told to this person in this place [V2], or that is gone. */
  #requested(request: ModelRequest): void {
    const texts = request.system.map((block) => block.text);
    for (const { content } of request.messages)
      for (const block of content) if ('text' in block) texts.push(block.text);
    const text = texts.join('\n');
    this.#event(`request ${request.purpose} ${request.userId} ${text.length}`);
    if (request.purpose !== 'chat' || request.conversation === undefined) return;
    const [channelId = '', speakerId = ''] = request.conversation.split(':');
    const channel = this.#world.channel(channelId);
    const isFirstRound = !request.messages.some(({ content }) =>
      content.some(({ type }) => type === 'tool_result'),
    );
    if (isFirstRound && text.length > 41_000)
      this.#fail('prompts keep to their budget', `${text.length} characters`);
    for (const word of new Set(text.match(wordPattern)))
      this.#checkTold(word, speakerId, channel, isFirstRound, 'a prompt');
    if (!isFirstRound) return;
    for (const echo of new Set(text.match(echoPattern)))
      this.#checkEcho(echo, speakerId, channel, 'a prompt');
  }

  #checkTold(
    word: string,
    speakerId: string,
    channel: WorldChannel,
    isFirstRound: boolean,
    where: string,
  ): void {
    const said = this.#words.get(word);
    if (said === undefined) return;
    const { messageId } = said;
    const message = messageId === undefined ? undefined : this.#world.message(messageId);
    const standsHere = message?.channelId === channel.id && !message.isDeleted && message.text.includes(word);
    if (
      said.gone !== undefined &&
      isFirstRound &&
      this.#clock.now - said.gone.at > graceMs &&
      !(standsHere && said.gone.how === 'purge')
    ) {
      this.#fail(
        'what is gone is told no more',
        `${word} (${said.gone.how}) in ${where} for ${speakerId} in ${channel.name}`,
      );
      return;
    }
    if (standsHere || !isFirstRound) return;
    if (this.#isAdmitted(said, speakerId, channel)) return;
    this.#fail(
      'nothing is told where it may not',
      `${word} of ${said.ownerId}, said in ${said.place.channelName ?? 'DM'} (${said.place.audience} ${String(said.place.readers)}), in ${where} for ${speakerId} in ${channel.name} (${String(channel.door)})`,
    );
  }

  #checkEcho(echo: string, speakerId: string, channel: WorldChannel, where: string): void {
    const said = this.#words.get(unechoed(echo));
    if (said === undefined || said.scope === 'dm') return;
    const stands = channel.messages.some(({ text, isDeleted }) => !isDeleted && text.includes(echo));
    const heard = this.#echoes.get(echo) ?? [];
    if (stands || [said, ...heard].some((each) => this.#isAdmitted(each, speakerId, channel))) return;
    this.#fail(
      'nothing is told where it may not',
      `${echo} of ${said.ownerId} in ${where} for ${speakerId} in ${channel.name} (${String(channel.door)}); told before ${JSON.stringify(heard.map(({ ownerId, place }) => [ownerId, place.channelName, place.audience, place.readers]))}`,
    );
  }

  #isAdmitted(
    said: Pick<SaidWord, 'ownerId' | 'place' | 'scope'>,
    speakerId: string,
    channel: WorldChannel,
  ): boolean {
    if (mayBeTold(said, speakerId, channel, this.#world.placeOf(channel.id))) return true;
    const room = channel.parent ?? channel;
    const before = this.#doorsBefore.get(room.id);
    if (before === undefined || before.until < this.#clock.now) return false;
    const { door } = room;
    room.door = before.door;
    const wasAdmitted = mayBeTold(said, speakerId, channel, this.#world.placeOf(channel.id));
    room.door = door;
    return wasAdmitted;
  }

  /** A message of the bot's can be read, as it is now. */
  #shown(message: WorldMessage, channel: WorldChannel): void {
    this.#event(`shown ${message.id} ${message.text}`);
    if (message.text.length > 2000) this.#fail('messages fit', `${message.text.length} characters`);
    const { answers } = message;
    if (answers !== undefined) {
      const ids = this.#answers.get(answers) ?? new Set();
      ids.add(message.id);
      this.#answers.set(answers, ids);
      const standing = [...ids].filter((id) => this.#world.message(id)?.isDeleted === false);
      if (standing.length > 1)
        this.#fail('one reply a message', `${answers} is answered by ${standing.join(' and ')}`);
    }
    const speakerId = this.#world.message(answers ?? '')?.authorId;
    if (speakerId === undefined) return;
    const place = this.#world.placeOf(channel.id);
    for (const echo of new Set(message.text.match(echoPattern))) {
      const said = this.#words.get(unechoed(echo));
      if (said === undefined) continue;
      const origin = this.#world.message(said.messageId ?? '');
      if (origin?.channelId !== channel.id) this.#checkEchoShown(said, echo, speakerId, channel, message);
      const told = this.#echoes.get(echo) ?? [];
      told.push({ ownerId: speakerId, place, scope: 'as-said' });
      this.#echoes.set(echo, told);
    }
  }

  #checkEchoShown(
    said: SaidWord,
    echo: string,
    speakerId: string,
    channel: WorldChannel,
    message: WorldMessage,
  ): void {
    const stood = channel.messages.some(({ id, text }) => id !== message.id && text.includes(echo));
    const heard = this.#echoes.get(echo) ?? [];
    if (stood || [said, ...heard].some((each) => this.#isAdmitted(each, speakerId, channel))) return;
    this.#fail(
      'nothing is told where it may not',
      `${echo} of ${said.ownerId} in an answer to ${speakerId} in ${channel.name}`,
    );
  }

  #script(body: MessagesBody, random: Random): ModelAnswer {
    return modelScript(body, random, this.#isLying);
  }

  // Bookkeeping

  #event(text: string): void {
    this.#events.update(`${this.#clock.elapsed} ${text}\n`);
    this.#options.trace?.(`${this.#clock.elapsed} ${text}`);
  }

  #note(text: string): void {
    this.#event(text);
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }

  #fail(promise: string, detail: string): void {
    this.#failure ??= { promise, detail, step: this.#step };
    this.#event(`broken: ${promise}: ${detail}`);
  }

  #assertNoFailure(): void {
    const { promise, detail } = this.#failure ?? {};
    if (promise !== undefined) throw new BrokenPromise(promise, detail ?? '');
  }
}

function pickAt<T>(list: readonly T[], index: number): T {
  const picked = list[index % list.length];
  if (picked === undefined) throw new RangeError('Nothing to pick from');
  return picked;
}

function undoLine(buttons: readonly CommandButton[]): string | undefined {
  return buttons.find(({ line }) => line?.startsWith('memory undo') === true)?.line;
}

const diskMoods: Readonly<Partial<Record<Weather, DiskMood>>> = {
  'slow-disk': { slowMs: [1, 900], failsPercent: 0 },
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
    percent: { refuses: 5, overloaded: 15, stalls: 8, cuts: 12, nonsense: 10, 'too-long': 5 },
  },
};
