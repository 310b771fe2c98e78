import type { CommandButton } from '../../src/core/reply.ts';
import type { CommandReply } from '../../src/core/commands.ts';
import type { CommandCall } from '../../src/core/message.ts';
import type { VirtualClock } from './clock.ts';
import type { BotProcess } from './process.ts';
import type { Promises } from './promises.ts';
import {
  isPersonal,
  type MachineStep,
  type PersonalStep,
  type ReminderStep,
  type Step,
  type WordStep,
} from './steps.ts';
import { mayBeTold, wordPattern, type SaidWord } from './truth.ts';
import { accessRoles, botId, type Door, type World, type WorldChannel, type WorldMessage } from './world.ts';

const minuteMs = 60_000;
/** What a command or an answer may take while everything is calm: the model's two minutes, Discord's retries, and what waits before it. */
export const patienceMs = 6 * minuteMs;

/** Longer than a prompt may still be made of what was there before. */
const graceMs = 12_000;

const goesOnIn = 'lobby';

const doors: readonly Door[] = ['everyone', ['staff'], ['crew'], ['staff', 'crew'], ['guest', 'staff']];
const roles = ['staff', 'crew', 'guest'];

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Sydney', 'Asia/Kolkata', 'UTC'];
const moments: readonly (readonly [words: string, minutes: number])[] = [
  ['in 1 minute', 1],
  ['in 5 minutes', 5],
  ['in 40 minutes', 40],
  ['in 3 hours', 180],
  ['in 30 hours', 1800],
];

/** What a proxy does with a message that it copies. */
const proxyWays = ['copies first', 'deletes first', 'has no record'] as const;
/** What somebody has remembered after a change that they undo. */
const laterItem = 'Something later';

type Of<Kind> = Extract<Step, { readonly kind: Kind }>;

/** What people need to act. */
export interface Stage {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly promises: Promises;
  /** The bot's process of now. */
  readonly process: () => BotProcess;
  readonly isDiskCalm: () => boolean;
  /** The files of a person's memory that undo brings back byte for byte, each with what it says. */
  readonly notesOf: (personId: string) => string;
  readonly restart: () => Promise<void>;
  readonly event: (text: string) => void;
  /** Something that people do not wait for. */
  readonly inBackground: (work: Promise<unknown>) => void;
}

/** Milliseconds for which the gateway may tell of a message again. */
const repeatedMs = 300_000;

/** What people do: they write, give commands, press buttons, change their minds; with what they may expect of it. */
export class People {
  readonly #stage: Stage;
  readonly #world: World;
  readonly #promises: Promises;
  /** Of people who have set one. */
  readonly #zones = new Map<string, string>();

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#world = stage.world;
    this.#promises = stage.promises;
  }

  get #process(): BotProcess {
    return this.#stage.process();
  }

  async do(step: Exclude<Step, MachineStep>): Promise<void> {
    if (isPersonal(step)) return this.#personal(step);
    if ('word' in step) {
      const { id } = pickAt(this.#world.people, step.person);
      const said = this.#promises.wordOf(id, step.word);
      return said && this.#aboutWord(step, id, said);
    }
    switch (step.kind) {
      case 'chat':
        return this.#say(step, 'I really love', false);
      case 'say':
        return this.#say(step, 'I really love', true);
      case 'say-much':
        return this.#say(step, `${'And so on. '.repeat(150)}I really love`, true);
      case 'remember':
        return this.#remember(step);
      case 'remember-slash': {
        const { id } = pickAt(this.#world.people, step.person);
        return this.#rememberIn(id, this.#channelFor(id, step.channel));
      }
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
        return this.#turnDoor(step);
      case 'delete-thread':
        return this.#deleteThread(step);
      case 'confide':
        return this.#confide(step);
      case 'access':
        return this.#changeAccess(step);
      case 'proxy':
        return this.#writeByProxy(step);
      case 'voice':
        return this.#speak(step);
      case 'role': {
        const { roles: own } = pickAt(this.#world.people, step.person);
        const role = pickAt(roles, step.role);
        if (!own.delete(role)) own.add(role);
        pickAt(this.#world.people, step.person).rolesChangedAt = this.#stage.clock.now;
        return undefined;
      }
      case 'remind':
        return this.#remind(step);
      case 'reminder-later':
      case 'reminder-move':
      case 'reminder-remove':
        return this.#changeReminder(step);
      case 'zone':
        return this.#changeZone(step);
      case 'long-talk':
        return this.#talkLong(step);
      case 'look-back':
        return this.#waitForLookingBack(step);
    }
  }

  /** What a person is shown of what is kept about them, in their DM or elsewhere. */
  async show(personId: string, channel = this.#dmOf(personId)): Promise<string | undefined> {
    return (await this.#ask(personId, channel, 'memory show'))?.text;
  }

  /** The owner has one channel where a conversation goes on without a mention [G2]. */
  async letGoOn(): Promise<void> {
    const [owner] = this.#world.people;
    const channel = [...this.#world.channels.values()].find(({ name }) => name === goesOnIn);
    if (owner !== undefined && channel !== undefined)
      await this.#ask(owner.id, channel, 'settings answer conversation channel');
  }

  /** Everything that was promised to people, and that they can look at by themselves. */
  async lookAtMemory(): Promise<void> {
    for (const reset of this.#promises.takeResets()) {
      const { personId, channelId } = reset;
      const channel = this.#world.channel(channelId);
      const shown = this.#world.canRead(personId, channel) ? await this.show(personId, channel) : undefined;
      if (shown !== undefined) this.#promises.checkReset(reset, shown);
    }
    for (const { id } of this.#world.people) {
      const shown = this.#promises.due(id).length === 0 ? undefined : await this.show(id);
      if (shown !== undefined) this.#promises.checkKept(id, shown);
      const heard = this.#promises.onlyHeard(id).length === 0 ? undefined : await this.show(id);
      if (heard !== undefined) this.#promises.checkHeard(id, itemsOf(heard));
      for (const word of this.#promises.answeredWords(id)) {
        const found = await this.#ask(id, this.#dmOf(id), `memory search ${word}`);
        if (found !== undefined) this.#promises.checkFound(word, found.text);
      }
      for (const word of this.#promises.othersWords(id)) {
        const found = await this.#ask(id, this.#dmOf(id), `memory search ${word}`, {
          elsewhere: 'assistant',
        });
        if (found !== undefined) this.#promises.checkElsewhere(id, JSON.stringify(found.data));
      }
    }
  }

  #channelFor(personId: string, index: number): WorldChannel {
    return pickAt(
      [...this.#world.channels.values()].filter((channel) => this.#world.canRead(personId, channel)),
      index,
    );
  }

  /** In a server. */
  #roomFor(personId: string, index: number): WorldChannel | undefined {
    const rooms = [...this.#world.channels.values()].filter(
      (room) => room.kind !== 'dm' && this.#world.canRead(personId, room),
    );
    return rooms.length === 0 ? undefined : pickAt(rooms, index);
  }

  #dmOf(personId: string): WorldChannel {
    for (const channel of this.#world.channels.values()) if (channel.personId === personId) return channel;
    throw new RangeError(`No DM of ${personId}`);
  }

  // Talking

  #say(step: Pick<PersonalStep, 'person' | 'channel'>, text: string, isForBot: boolean): void {
    const person = pickAt(this.#world.people, step.person);
    let channel = this.#channelFor(person.id, step.channel);
    // Whatever is said in a DM is for the bot.
    if (!isForBot && channel.kind === 'dm') {
      const room = this.#roomFor(person.id, step.channel);
      if (room === undefined) return;
      channel = room;
    }
    this.#sayIn(
      person.id,
      channel,
      isForBot ? text : `${'And so on. '.repeat(step.channel % 10 === 0 ? 40 : 0)}${text}`,
      isForBot,
    );
  }

  #sayIn(personId: string, channel: WorldChannel, text: string, isForBot = true): WorldMessage {
    const mention = isForBot && channel.kind !== 'dm' ? `<@${botId}> ` : '';
    const message = this.#world.write(
      channel.id,
      personId,
      `${mention}${text} ${this.#promises.nextWord()}.`,
    );
    this.#promises.said(personId, channel.id, message.id);
    if (isForBot) this.#promises.asked(message, !this.#process.hears);
    else this.#promises.overheard(message, (channel.parent ?? channel).name === goesOnIn);
    this.#stage.inBackground(this.#process.message(message, isForBot));
    return message;
  }

  /** In a voice message. */
  #speak(step: { readonly person: number }): void {
    const { id } = pickAt(this.#world.people, step.person);
    const dm = this.#dmOf(id);
    const spoken = `I really love ${this.#promises.nextWord()}.`;
    const message = this.#world.write(dm.id, id, '', { spoken });
    this.#promises.said(id, dm.id, message.id);
    this.#promises.asked(message, !this.#process.hears);
    this.#stage.inBackground(this.#process.message(message, true));
  }

  /** A proxy posts somebody's message again and deletes it [G2a]. */
  async #writeByProxy(step: Of<'proxy'>): Promise<void> {
    const way = pickAt(proxyWays, step.order);
    const { hears } = this.#process;
    const { id } = pickAt(this.#world.people, step.person);
    const room = this.#roomFor(id, step.channel);
    if (room === undefined) return;
    const said = `<@${botId}> I really love ${this.#promises.nextWord()}.`;
    const original = this.#world.write(room.id, id, `T: ${said}`);
    this.#promises.said(id, room.id, original.id);
    this.#promises.asked(original, true);
    this.#stage.inBackground(this.#process.message(original, true));
    const isMoved = way !== 'has no record';
    const remove = (): void => {
      if (original.isDeleted) return;
      if (!isMoved) this.#promises.messageGone(original, 'delete');
      original.isDeleted = true;
      this.#stage.inBackground(this.#process.deleted(room.id, [original.id]));
    };
    const post = (): WorldMessage => {
      const record = isMoved ? { originalId: original.id, accountId: id } : undefined;
      const copy = this.#world.write(room.id, id, said, { proxy: { record } });
      this.#promises.saidAgain(original);
      this.#stage.inBackground(this.#process.message(copy, true));
      return copy;
    };
    const wait = async (): Promise<void> => void (await this.#stage.clock.run(step.order % 2000));
    await wait();
    if (way === 'deletes first') {
      remove();
      await wait();
    }
    const copy = post();
    if (way !== 'deletes first') {
      await wait();
      remove();
    }
    if (isMoved) this.#promises.moved(original, copy, !hears || !this.#process.hears);
    else this.#promises.mustNotAnswer(copy, () => true);
  }

  /** A role that lets people talk with the bot is given to somebody, or taken away [G1]. */
  #changeAccess({ person, role }: { readonly person: number; readonly role: number }): void {
    const somebody = pickAt(this.#world.people, person);
    const letsIn = pickAt(Object.values(accessRoles), role);
    if (!somebody.roles.delete(letsIn)) somebody.roles.add(letsIn);
    somebody.accessChangedAt = this.#stage.clock.now;
    // Of what waits, nobody can tell whether the bot looked before.
    this.#promises.excuseWhere(({ authorId }) => authorId === somebody.id);
  }

  /** Several questions and answers, until a summary of them is under way. */
  async #talk(personId: string, channel: WorldChannel, luck: number): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) {
      this.#sayIn(personId, channel, 'I really love');
      await this.#stage.clock.run(3000);
    }
    await this.#stage.clock.run(luck % 3000);
  }

  /** A talk so long that its prompts show a summary of the beginning; then its person takes some of it back, or has everything erased, and goes on [A4]. */
  async #talkLong({ person, channel }: { readonly person: number; readonly channel: number }): Promise<void> {
    const { id } = pickAt(this.#world.people, person);
    const place = this.#channelFor(id, channel);
    const other = this.#world.people.find((each) => each.id !== id && this.#world.canRead(each.id, place));
    const said: WorldMessage[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      if (other !== undefined && place.kind !== 'dm') this.#sayIn(other.id, place, 'And so on:', false);
      said.push(this.#sayIn(id, place, 'I really love'));
      await this.#stage.clock.run(6000);
    }
    if (channel % 2 === 0) await this.#personal({ kind: 'erase', person, channel: 1 });
    // What may be in the summary, and need not be where the window begins.
    else for (const message of said.slice(-6, -3)) if (!message.isDeleted) this.#delete(message);
    await this.#stage.clock.run(graceMs);
    this.#sayIn(id, place, 'I really love');
    await this.#stage.clock.run(6000);
  }

  /** Two talks in a DM on which the bot looks back, and a word after the second [A3]. */
  async #waitForLookingBack({ person }: { readonly person: number }): Promise<void> {
    const { id } = pickAt(this.#world.people, person);
    for (let turn = 0; turn < 9; turn += 1) {
      this.#sayIn(id, this.#dmOf(id), 'I really love');
      await this.#stage.clock.run(turn % 4 === 3 ? 3 * minuteMs : 6000);
    }
  }

  /** A room is closed for a talk, and opened again while the bot still answers. */
  async #confide(step: Of<'confide'>): Promise<void> {
    const { id, roles: own } = pickAt(this.#world.people, step.person);
    const channel = this.#channelFor(id, step.channel);
    const role = [...own][step.door % Math.max(1, own.size)];
    const room = channel.parent ?? channel;
    if (room.kind !== 'text' || role === undefined) return;
    this.#turn(room, [role]);
    this.#rememberIn(id, channel);
    this.#sayIn(id, channel, 'I really love');
    await this.#stage.clock.run(step.door % 10_000);
    this.#sayIn(id, channel, 'I really love');
    await this.#stage.clock.run(50);
    this.#sayIn(id, channel, 'I really love');
    await this.#stage.clock.run(50);
    this.#turn(room, 'everyone');
  }

  #remember(step: { readonly person: number; readonly channel: number }): void {
    const person = pickAt(this.#world.people, step.person);
    const channel = this.#channelFor(person.id, step.channel);
    const { text, day } = this.#preference(person.id);
    const message = this.#world.write(channel.id, person.id, `!memory remember ${text}`);
    this.#asksToKeep(this.#promises.said(person.id, channel.id, message.id), day);
    this.#promises.asked(message, true);
    this.#stage.inBackground(this.#process.message(message, true));
  }

  #rememberIn(personId: string, channel: WorldChannel): void {
    const { text, day } = this.#preference(personId);
    const said = this.#promises.said(personId, channel.id);
    this.#asksToKeep(said, day);
    const answered = async (): Promise<void> => {
      const reply = await this.#process.slash(personId, channel.id, `memory remember ${text}`);
      if (reply?.text.startsWith('Remembered') === true) this.#promises.acknowledged(said);
    };
    this.#stage.inBackground(answered());
  }

  /** What somebody says next; in the evening mostly about that day [D7]. */
  #preference(personId: string): { readonly text: string; readonly day?: string } {
    const text = `I prefer ${this.#promises.nextWord()}`;
    const now = new Date(this.#stage.clock.now);
    // Days of others are told by their own clocks.
    const isEvening = now.getUTCHours() === 23 && now.getUTCMinutes() < 55 && !this.#zones.has(personId);
    return isEvening ? { text: `${text} today`, day: now.toISOString().slice(0, 10) } : { text };
  }

  /** What is asked for in public is for everywhere [V1]. */
  #asksToKeep(said: SaidWord, day: string | undefined): void {
    if (day !== undefined) said.day = day;
    if (said.places[0]?.audience === 'public') said.scope = 'everywhere';
  }

  // Commands

  /** Gives a command and waits for its answer, which only its person sees. */
  async #ask(
    personId: string,
    channel: WorldChannel,
    line: string,
    { call, elsewhere }: { readonly call?: CommandCall; readonly elsewhere?: string } = {},
  ): Promise<CommandReply | undefined> {
    const process = this.#process;
    const { hears } = process;
    const answer = process.slash(personId, channel.id, call ?? line, elsewhere);
    if (!(await this.#stage.clock.runUntilSettled(answer, patienceMs))) {
      const isHeard = hears && process === this.#process && process.hears;
      if (isHeard && this.#stage.isDiskCalm()) this.#promises.broken('commands are answered', line);
      return undefined;
    }
    const reply = await answer;
    if (reply !== undefined) {
      this.#stage.event(`reply ${line} ${reply.text}`);
      this.#promises.replied(personId, line, reply);
    }
    return reply;
  }

  /** Gives a command and presses the first of its buttons that is for the same. */
  async #askAndConfirm(
    personId: string,
    line: string,
    meanwhile?: () => void,
  ): Promise<CommandReply | undefined> {
    const dm = this.#dmOf(personId);
    const asked = await this.#ask(personId, dm, line);
    meanwhile?.();
    const button = asked?.buttons?.find((each) => each.line?.startsWith('memory confirm ') === true);
    return button?.line === undefined ? undefined : this.#ask(personId, dm, button.line);
  }

  async #aboutWord(
    { kind, channel }: Pick<WordStep, 'kind' | 'channel'>,
    personId: string,
    said: SaidWord,
  ): Promise<void> {
    const dm = this.#dmOf(personId);
    const { word } = said;
    // What a person wants to be rid of is noted until it is done, and can be undone no more [K5], in a pause too.
    if (/forget|purge/u.test(kind)) this.#promises.reminders.unsettle(word);
    if (/forget|purge/u.test(kind) && said.isOffRecord) {
      said.isOffRecord = false;
      said.mayBeOffRecord = true;
    }
    switch (kind) {
      case 'forget': {
        const room = channel % 3 === 0 ? this.#channelFor(personId, channel) : dm;
        const isReached = mayBeTold(said, personId, this.#world.placeOf(room.id));
        const isLeft = !isReached && !said.isUncertain && said.isAcknowledged;
        if (isReached) said.isUncertain = true;
        const reply = await this.#ask(personId, room, `memory forget ${word}`);
        const isForgotten = reply?.text.startsWith('Deprecated ') === true;
        if (isForgotten && isLeft)
          this.#promises.broken('forget takes what may be seen there', `${word}: ${reply.text}`);
        // Notes say it too: what they are told of, they take as well.
        if (reply?.text.includes('`!memory purge') === true)
          return this.#aboutWord({ kind: 'purge', channel }, personId, said);
        if (isForgotten) this.#promises.gone(said, room === dm ? 'forget' : 'forget-elsewhere', false);
        return;
      }
      case 'purge': {
        said.isUncertain = true;
        const reply = await this.#askAndConfirm(personId, `memory purge ${word}`);
        if (reply?.text.startsWith('Erased') === true) this.#promises.gone(said, 'purge', true);
        return;
      }
      case 'search':
        await this.#ask(personId, this.#channelFor(personId, channel), `memory search ${word}`);
        return;
      case 'forget-and-undo':
      case 'forget-all-and-undo':
      case 'hide-and-undo':
      case 'pin-and-undo':
      case 'edit-and-undo':
        return this.#changeAndUndo(kind.replace('-and-undo', ''), personId, word, channel);
      case 'share':
      case 'hide':
      case 'pin':
      case 'edit-item': {
        const id = await this.#itemId(personId, word);
        if (id === undefined) return;
        if (kind === 'edit-item') return this.#editItem(personId, id, said);
        if (kind === 'share') said.scope = 'everywhere';
        const reply = await this.#ask(personId, dm, `memory ${kind} ${id}`);
        // Neither a kill nor a later hand of the bot's makes it wider again.
        // The message that it was noticed in stays as it is.
        if (kind === 'hide' && reply?.text.includes(word) === true && said.messageId === undefined)
          said.hiddenAt = this.#stage.clock.now;
      }
    }
  }

  async #editItem(personId: string, id: string, said: SaidWord): Promise<void> {
    const dm = this.#dmOf(personId);
    said.isUncertain = true;
    const next = this.#promises.said(personId, dm.id);
    next.scope = said.scope;
    next.places.push(...said.places);
    await this.#ask(personId, dm, `memory edit ${id} I prefer ${next.word}`);
  }

  /** The id of the item that says a word, as its owner is shown it. */
  async #itemId(personId: string, word: string): Promise<string | undefined> {
    const shown = await this.show(personId);
    const line = shown?.split('\n').find((each) => each.includes(word));
    return / id (?<id>[0-9a-f]{8,})/u.exec(line ?? '')?.groups?.['id'];
  }

  /** Whatever is changed and undone is as it was [K5], at once, after another change, after a restart, and just before it is too late. */
  async #changeAndUndo(change: string, personId: string, word: string, luck: number): Promise<void> {
    const { clock, isDiskCalm, notesOf, restart } = this.#stage;
    const when = pickAt(['at once', 'after a change', 'after a restart', 'late'], luck);
    let process = this.#process;
    if (!isDiskCalm() || !process.hears) return;
    if (!(await clock.runUntilSettled(process.idle(), 30 * minuteMs))) return;
    const id = await this.#itemId(personId, word);
    if (id === undefined && change !== 'forget-all') return;
    const line = {
      forget: `memory forget ${word}`,
      // What most messages say, and many items.
      'forget-all': `memory forget all ${luck % 3 === 0 ? 'love' : 'prefer'}`,
      hide: `memory hide ${id}`,
      pin: `memory pin ${id}`,
      edit: `memory edit ${id} Something else entirely`,
    }[change];
    const dm = this.#dmOf(personId);
    const before = await this.show(personId);
    const notes = notesOf(personId);
    const day = new Date(clock.now).getUTCDate();
    const reply = await this.#ask(personId, dm, line ?? '');
    const undo = undoLine(reply?.buttons ?? []);
    if (undo === undefined) return;
    if (when === 'after a change') await this.#ask(personId, dm, `memory remember ${laterItem}`);
    else if (when === 'late') await clock.run(9 * minuteMs);
    else if (when === 'after a restart') {
      await restart();
      process = this.#process;
    }
    const undone = await this.#ask(personId, dm, undo);
    const notesAfter = notesOf(personId);
    if (when === 'after a change') await this.#ask(personId, dm, `memory forget "${laterItem}"`);
    const after = await this.show(personId);
    if (before === undefined || undone === undefined || after === undefined || process !== this.#process)
      return;
    this.#promises.tries('undo restores');
    const told = `${line}, then, ${when}, ${undo} (${undone.text})`;
    // At midnight some become over, and so the last.
    if (itemsOf(before) !== itemsOf(after) && day === new Date(clock.now).getUTCDate())
      this.#promises.broken('undo restores', `${told}:\n--- before\n${before}\n--- after\n${after}`);
    // Later the bot may have looked back.
    if (when !== 'late' && notes !== notesAfter)
      this.#promises.broken('undo restores', `${told}:\n--- before\n${notes}\n--- after\n${notesAfter}`);
  }

  async #personal({
    kind,
    person: index,
    channel: place,
  }: Pick<PersonalStep, 'kind' | 'person' | 'channel'>): Promise<void> {
    const { id } = pickAt(this.#world.people, index);
    const ask = (line: string): Promise<CommandReply | undefined> =>
      this.#ask(id, this.#channelFor(id, place), `memory ${line}`);
    switch (kind) {
      case 'undo':
        // What it takes back is known to nobody here.
        this.#promises.unsettle(id, true);
        await ask('undo');
        return;
      case 'reset':
        if (place % 2 === 0) await this.#talk(id, this.#channelFor(id, place), place);
        if ((await ask('reset rolling'))?.text.startsWith('Rolling summary of') === true)
          this.#promises.wasReset(id, this.#channelFor(id, place).id);
        return;
      case 'pause-here':
        this.#promises.offRecordHere(id, this.#channelFor(id, place).id);
        await ask('pause here');
        return;
      case 'pause': {
        const askedAt = this.#stage.clock.now;
        const reply = await ask('pause');
        if (reply?.text.startsWith('Paused: ') === true) this.#promises.setOffRecord(id, true, askedAt);
        // What a disk refused may stand there all the same [S2].
        else this.#promises.losesTrackOfPauses(id);
        return;
      }
      case 'resume': {
        const askedAt = this.#stage.clock.now;
        const reply = await ask('resume');
        if (/^(?:Resumed|Nothing is paused)/u.test(reply?.text ?? ''))
          this.#promises.setOffRecord(id, false, askedAt);
        else this.#promises.losesTrackOfPauses(id);
        return;
      }
      case 'erase': {
        let { now } = this.#stage.clock;
        // It takes what is said at the last moment too.
        const done = await this.#askAndConfirm(id, 'memory erase', () => {
          ({ now } = this.#stage.clock);
          if (place % 2 === 0) this.#sayIn(id, this.#channelFor(id, place), 'I really love');
        });
        this.#promises.losesTrackOfPauses(id);
        this.#promises.erased(id, now, done?.text.startsWith('Erased') === true);
        // Nobody says something new in the same millisecond.
        await this.#stage.clock.run(1);
        return;
      }
      case 'review': {
        const { buttons = [] } = (await ask('review')) ?? {};
        const { line } = buttons[place % Math.max(1, buttons.length)] ?? {};
        if (line === undefined) return;
        // What it changes or takes back is known to nobody here.
        this.#promises.unsettle(id, line.startsWith('memory review undo'));
        await this.#ask(id, this.#channelFor(id, place), line);
        return;
      }
      case 'mode-auto':
      case 'mode-ask':
      case 'mode-off': {
        const reply = await ask(kind.replace('-', ' '));
        this.#promises.setMode(id, kind === 'mode-off' && reply?.text.startsWith('Mode `off`') === true);
        return;
      }
      case 'show':
      case 'export':
      case 'panel':
        await ask(kind);
        return;
      case 'why':
        await ask(kind);
        await ask('answers');
    }
  }

  // Reminders

  /** Somebody asks to be reminded: by the slash command, by a written one, or in plain words. */
  async #remind({ person, channel: index, order }: Of<'remind'>): Promise<void> {
    const { id } = pickAt(this.#world.people, person);
    const channel = this.#channelFor(id, index);
    const [when, minutes] = pickAt(moments, order);
    const way = pickAt(['slash', 'written', 'plain'] as const, order >> 3);
    const isSlash = way === 'slash';
    const isDaily = isSlash && order % 2 === 0;
    const where = isSlash && order % 3 === 0 ? 'dm' : 'here';
    const word = this.#promises.nextWord();
    const others =
      order % 7 === 0 && way !== 'plain' ? ` @everyone <@${pickAt(this.#world.people, person + 1).id}>` : '';
    const text = {
      slash: `call ${word}${others}`,
      written: `!remind ${when}: call ${word}${others}`,
      plain: `${channel.kind === 'dm' ? '' : `<@${botId}> `}Remind me ${when} to call ${word}.`,
    }[way];
    const message = isSlash ? undefined : this.#world.write(channel.id, id, text);
    const said = this.#promises.said(id, channel.id, message?.id);
    const inMs = minutes * minuteMs;
    const zone = new Set([this.#zones.get(id) ?? 'UTC']);
    this.#promises.reminders.asked({ said, channelId: channel.id, where, inMs, isDaily, zones: zone });
    if (message !== undefined) {
      this.#promises.asked(message, way === 'written' || !this.#process.hears);
      this.#stage.inBackground(this.#process.message(message, true));
      return;
    }
    const options = { when, what: text, where, ...(isDaily && { repeat: 'daily' }) };
    const reply = await this.#ask(id, channel, `remind ${text}`, {
      call: { name: 'remind', subcommand: '', options },
    });
    if (reply !== undefined) this.#promises.reminders.told(reply.text);
  }

  /** Somebody looks for one in their list, and does something about it. */
  async #changeReminder({ kind, person, reminder: index }: ReminderStep): Promise<void> {
    const { id } = pickAt(this.#world.people, person);
    const all = this.#promises.reminders.of(id);
    if (all.length === 0) return;
    const { said } = pickAt(all, index);
    const dm = this.#dmOf(id);
    const listed = await this.#ask(id, dm, 'reminders');
    const line = listed?.text.split('\n').find((each) => each.includes(said.word));
    const [, reminderId] = / id (\w+)$/u.exec(line ?? '') ?? [];
    const wish = kind.replace('reminder-', '');
    if (reminderId === undefined) return;
    const [when] = pickAt(moments, index >> 4);
    const command = `reminders ${wish} ${reminderId}${/later|move/u.test(wish) ? ` ${when}` : ''}`;
    await this.#aboutReminder(said.word, command, () => this.#ask(id, dm, command));
  }

  async #aboutReminder(
    word: string,
    command: string,
    give: () => Promise<CommandReply | undefined>,
  ): Promise<CommandReply | undefined> {
    const { reminders } = this.#promises;
    reminders.unsettle(word);
    const reply = await give();
    const gone = reply && reminders.changed(word, command, reply.text);
    // What a message said stands there still.
    if (gone !== undefined && gone.messageId === undefined) this.#promises.gone(gone, 'reminder', true);
    return reply;
  }

  async #changeZone({ person, zone: index }: Of<'zone'>): Promise<void> {
    const { id } = pickAt(this.#world.people, person);
    const zone = pickAt(zones, index);
    this.#zones.set(id, zone);
    this.#promises.zoneChanged(id, zone);
    await this.#ask(id, this.#dmOf(id), `memory timezone ${zone}`);
  }

  // What stands on Discord

  /** A person presses one of the buttons that stand under the bot's latest messages. */
  #press(step: { readonly message: number; readonly button: number }): void {
    const offered = this.#latest(20, (each) => each.authorId === botId && each.components.length > 0);
    if (offered.length === 0) return;
    const message = pickAt(offered, step.message);
    const ids = [...JSON.stringify(message.components).matchAll(/"custom_id":"(?<id>(?:[^"\\]|\\.)*)"/gu)];
    if (ids.length === 0) return;
    const customId = String(JSON.parse(`"${pickAt(ids, step.button).groups?.['id'] ?? ''}"`));
    const personId = /\d{17,20}/u.exec(customId)?.[0];
    if (personId === undefined || !this.#world.people.some(({ id }) => id === personId)) return;
    // What it does is known to nobody here.
    this.#promises.unsettle(personId, /undo|^offer/u.test(customId));
    if (/memory (?:share|panel-do)/u.test(customId)) this.#promises.shared(personId);
    if (/pause|resume|confirm|undo|panel-do/u.test(customId)) this.#promises.losesTrackOfPauses(personId);
    const pressed = async (): Promise<void> => {
      const press = (): Promise<CommandReply | undefined> => this.#process.press(personId, message, customId);
      const [command] = /reminders (?:done|later|remove).*/u.exec(customId) ?? [];
      const words = command === undefined ? [] : (message.text.match(wordPattern) ?? []);
      const [word] = words;
      for (const each of words) this.#promises.reminders.unsettle(each);
      const reply =
        command !== undefined && word !== undefined && words.length === 1
          ? await this.#aboutReminder(word, command, press)
          : await press();
      if (reply !== undefined) this.#promises.replied(personId, customId, reply);
    };
    this.#stage.inBackground(pressed());
  }

  #latest(ofEach: number, isMeant: (message: WorldMessage) => boolean): readonly WorldMessage[] {
    return [...this.#world.channels.values()]
      .filter(({ isGone }) => !isGone)
      .flatMap(({ messages }) => messages.slice(-ofEach))
      .filter((message) => !message.isDeleted && isMeant(message));
  }

  #touch(kind: 'edit' | 'delete' | 'repeat' | 'stop-sign', index: number): void {
    const recent = this.#latest(8, ({ authorId }) => authorId !== botId);
    if (recent.length === 0) return;
    const message = pickAt(recent, index);
    const { channelId, id, authorId, text } = message;
    // What a proxy has copied stays: with its deletion it would be moved, not gone.
    if (text.startsWith('T: ') && (kind === 'edit' || kind === 'delete')) return;
    switch (kind) {
      case 'repeat':
        // Discord tells again what it has just told.
        if (this.#stage.clock.now - message.at > repeatedMs) return;
        this.#stage.inBackground(this.#process.message(message, this.#process.isForBot(message)));
        return;
      case 'stop-sign':
        this.#promises.excuse(id);
        this.#stage.inBackground(this.#process.reacted(channelId, id, authorId, '🛑'));
        return;
      case 'delete':
        this.#delete(message);
        return;
      case 'edit':
        if (text.startsWith('!') || message.spoken !== undefined) return;
        // Nobody can tell whose a copy without a record is, nor so whose words it is changed to.
        if (message.proxy !== undefined && message.proxy.record === undefined) return;
        this.#promises.messageGone(message, 'edit');
        this.#world.edit(
          message,
          `${text.startsWith('<@') ? `<@${botId}> ` : ''}I really love ${this.#promises.nextWord()}.`,
        );
        this.#promises.said(authorId, channelId, id);
        this.#stage.inBackground(this.#process.edited(message));
    }
  }

  #delete(message: WorldMessage): void {
    this.#promises.messageGone(message, 'delete');
    message.isDeleted = true;
    message.deletedAt = this.#stage.clock.now;
    const deleted = this.#process.deleted(message.channelId, [message.id]);
    const { hears } = this.#process;
    const isHeard = async (): Promise<void> => {
      await deleted;
      if (hears && this.#stage.isDiskCalm()) this.#promises.reminders.messageGone(message.id);
    };
    this.#stage.inBackground(isHeard());
  }

  #deleteAnswer(index: number): void {
    const answers = this.#latest(8, ({ authorId }) => authorId === botId);
    if (answers.length === 0) return;
    const message = pickAt(answers, index);
    this.#promises.excuse(message.answers ?? '');
    this.#delete(message);
  }

  #turnDoor({ channel, door }: { readonly channel: number; readonly door: number }): void {
    const rooms = [...this.#world.channels.values()].filter(({ kind }) => kind === 'text');
    // Mostly where something is going on.
    const latest = this.#latest(1, ({ authorId }) => authorId !== botId).toSorted((a, b) => a.at - b.at);
    const talk = this.#world.channels.get(latest.at(-1)?.channelId ?? '');
    const busy = rooms.find((each) => each === talk || each === talk?.parent);
    const room = channel % 3 > 0 && busy !== undefined ? busy : pickAt(rooms, channel);
    this.#turn(room, pickAt(doors, door));
  }

  #turn(room: WorldChannel, door: Door): void {
    this.#world.turnDoor(room, door);
    // An answer that was made for fewer readers is kept back.
    this.#promises.excuseWhere(({ channelId }) => {
      const { id, parent } = this.#world.channel(channelId);
      return id === room.id || parent?.id === room.id;
    });
  }

  /** A thread is deleted, and another one opened. */
  #deleteThread({ channel, door }: { readonly channel: number; readonly door: number }): void {
    const channels = [...this.#world.channels.values()].filter(({ isGone }) => !isGone);
    const threads = channels.filter(({ kind }) => kind === 'thread' || kind === 'private-thread');
    const thread = pickAt(threads, channel);
    thread.isGone = true;
    this.#promises.channelGone(thread.id);
    this.#stage.inBackground(this.#process.channelsDeleted([thread.id]));
    const parent = pickAt(
      channels.filter(({ kind }) => kind === 'text'),
      door,
    );
    this.#world.open({
      id: this.#world.nextId(),
      name: `${thread.name}+`,
      kind: thread.kind,
      parent,
      ...(parent.guildId !== undefined && { guildId: parent.guildId }),
    });
  }
}

/** Without the summary, which is rewritten when it is next due, and what an earlier undoing left where it was interrupted. */
function itemsOf(shown = ''): string {
  const lines = shown.replace(/\n\nRolling summary:.*/su, '').split('\n');
  return lines.filter((line) => line.startsWith('- [') && !line.includes(laterItem)).join('\n');
}

function pickAt<T>(list: readonly T[], index: number): T {
  const picked = list[index % list.length];
  if (picked === undefined) throw new RangeError('Nothing to pick from');
  return picked;
}

function undoLine(buttons: readonly CommandButton[]): string | undefined {
  return buttons.find(({ line }) => line?.startsWith('memory undo') === true)?.line;
}
