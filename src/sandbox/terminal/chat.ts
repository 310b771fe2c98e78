import { ApplicationCommandType } from 'discord-api-types/v10';
import { closest, distance } from 'fastest-levenshtein';

import type { People, SandboxInfo } from '../people/people.ts';
import type { ChannelView, PersonView } from '../people/views.ts';
import type { Command } from '../world/entities.ts';
import { SandboxError } from '../world/world.ts';
import { commands, giveSlashCommand, requireWords, type Outcome, type Scene } from './commands.ts';
import type { Names } from './readable.ts';
import type { Transcript } from './transcript.ts';

interface ChatOptions {
  readonly sandbox: People;
  readonly transcript: Transcript;
  /** What people say is shown too; a terminal shows it already. */
  readonly echoes: boolean;
  /** Called after everything that people do; resolves when the next line may come. */
  readonly afterActing: (expectsAnswer: boolean) => Promise<void>;
  /** Plays the demonstration, in a world of its own. */
  readonly demonstrate: () => Promise<void>;
}

/** One chat: somebody, somewhere, whose lines are messages or commands of the chat. */
export class Chat {
  readonly #options: ChatOptions;
  readonly #info: SandboxInfo;
  #speaker: Pick<PersonView, 'id' | 'name'>;
  #place: ChannelView;
  #channels: readonly ChannelView[] = [];

  private constructor(options: ChatOptions, info: SandboxInfo, place: ChannelView) {
    this.#options = options;
    this.#info = info;
    this.#speaker = info.owner;
    this.#place = place;
  }

  /** Begins as the bot's owner in #general. @throws {SandboxError} where the sandbox has no such channel. */
  static async open(options: ChatOptions): Promise<Chat> {
    const info = await options.sandbox.info();
    const chat = new Chat(options, info, await options.sandbox.place({ as: info.owner.id, in: '#general' }));
    await chat.reader();
    return chat;
  }

  /** Who speaks where: `alice in #general`. */
  get position(): string {
    return `${this.#speaker.name} in ${this.#placeName}`;
  }

  isHere(channelId: string): boolean {
    return channelId === this.#place.id;
  }

  /** Takes a line, and tells what is wrong with it. Resolves with whether the chat goes on. */
  async take(line: string): Promise<boolean> {
    try {
      const [, command, rest = ''] = /^\/(\S*)\s*([^]*?)\s*$/u.exec(line) ?? [];
      if (command !== undefined) return await this.#run(command, rest);
      const text = line.trim();
      if (text === '') return true;
      await this.#options.sandbox.say({ as: this.#speaker.id, in: this.#place.id, text });
      await this.#finish({ echo: { kind: 'said', text }, expectsAnswer: true });
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      this.#options.transcript.problem(error.message);
    }
    return true;
  }

  /** @throws {SandboxError} when the place is unknown, or the speaker cannot see it. */
  async go(reference: string): Promise<void> {
    const { sandbox } = this.#options;
    const isOwnDm = ['@dm', `@${this.#info.bot.name.toLowerCase()}`].includes(reference.toLowerCase());
    this.#place = await sandbox.place({ as: this.#speaker.id, in: isOwnDm ? 'dm' : reference });
    this.#channels = await sandbox.channels();
  }

  /** Who is told what happens, by the names that everything has now. */
  async reader(): Promise<{ readonly viewerId: string; readonly names: Names }> {
    this.#channels = await this.#options.sandbox.channels();
    return { viewerId: this.#speaker.id, names: this.#names };
  }

  async #run(command: string, rest: string): Promise<boolean> {
    const { sandbox, transcript } = this.#options;
    const name = command.toLowerCase();
    switch (name) {
      case 'as':
        await this.#speakAs(rest);
        break;
      case 'go':
        requireWords(rest, 'Where to? /go #channel, /go @dm, or /go and the name of a thread');
        await this.go(rest);
        transcript.note(`You are ${this.position}.`);
        break;
      case 'help':
        this.#channels = await sandbox.channels();
        transcript.tell(this.#help());
        break;
      case 'demo':
        await this.#options.demonstrate();
        transcript.note(`Nothing of this is kept. You are ${this.position}.`);
        break;
      case 'quit':
        return false;
      default: {
        const known = commands[name];
        await this.#finish(
          known === undefined
            ? await this.#commandOfBot(name, command, rest)
            : await known.act(this.#scene, rest),
        );
      }
    }
    return true;
  }

  /** @throws {SandboxError} for a command that neither the chat nor the bot has, with what is probably meant. */
  async #commandOfBot(name: string, asTyped: string, rest: string): Promise<Outcome> {
    const registered = (await this.#options.sandbox.commands()).filter(isSlash);
    if (registered.some((candidate) => candidate.name === name))
      return await giveSlashCommand(this.#scene, `${asTyped} ${rest}`.trim());
    const own = this.#rows.map(([usage]) => usage.replace(/ .*/u, ''));
    const names = [...own, ...registered.map((candidate) => `/${candidate.name}`)];
    // Of equally near ones the bot's, which stand last.
    const near = closest(`/${name}`, names.toReversed());
    const isSlip = name.length > slipLetters && distance(`/${name}`, near) <= slipLetters;
    const choice = isSlip ? `. Did you mean ${near}?` : `; there are ${names.join(', ')}.`;
    throw new SandboxError(`There is no /${asTyped}${choice} To say this line, put a space before it.`);
  }

  async #finish({ echo, tell, expectsAnswer }: Outcome): Promise<void> {
    const { transcript, echoes, afterActing } = this.#options;
    if (tell !== undefined) transcript.tell(tell);
    if (echo !== undefined && echoes) {
      const line = { place: this.#placeName, name: this.#speaker.name, isBot: false, text: echo.text };
      if (echo.kind === 'said') transcript.line({ ...line, remark: echo.remark });
      else transcript.note(`${line.place}  ${line.name} ${line.text}`);
    }
    if (tell === undefined) await afterActing(expectsAnswer === true);
  }

  async #speakAs(reference: string): Promise<void> {
    const names = Object.keys(this.#info.people).join(', ');
    requireWords(reference, `As whom? /as NAME; there are ${names}`);
    const needle = reference.replace(/^@/, '').toLowerCase();
    const found = Object.entries(this.#info.people).find(([name]) => name.toLowerCase() === needle);
    if (found === undefined)
      throw new SandboxError(`There is nobody ${JSON.stringify(reference)} to speak as; there are ${names}`);
    const [name, id] = found;
    this.#speaker = { id, name };
    // Everybody has a DM of their own; in a channel one stays.
    if (this.#place.kind === 'dm') await this.go('@dm');
    this.#options.transcript.note(`You are ${this.position}.`);
    if (!this.#place.seenBy.includes(name))
      this.#options.transcript.problem(`${name} cannot see ${this.#placeName}; /go somewhere else`);
  }

  /** Everything that can be typed with a slash, and what it does. */
  get #rows(): readonly (readonly [usage: string, meaning: string])[] {
    return [
      ['/as NAME', `speak as somebody else: ${Object.keys(this.#info.people).join(', ')}`],
      ['/go PLACE', 'go to a #channel, to your @dm with the bot, or to a thread by its name'],
      ['/demo', 'see a short demonstration, which changes nothing here'],
      ...Object.entries(commands).map(
        ([name, { usage, meaning }]) => [`/${name} ${usage}`.trim(), meaning] as const,
      ),
      ['/help', 'this'],
      ['/quit', 'end'],
    ];
  }

  #help(): string {
    const { name: speaker } = this.#speaker;
    const width = Math.max(...this.#rows.map(([command]) => command.length)) + 2;
    const places = this.#channels
      .toSorted((a, b) => Number(a.kind === 'dm') - Number(b.kind === 'dm'))
      .filter(({ kind, name }) => kind !== 'dm' || name === speaker)
      .map((place) => `${placeName(place, this.#channels, speaker)} (${place.seenBy.join(', ')})`);
    return [
      `What you write is said by ${speaker} in ${this.#placeName}; @${this.#info.bot.name} mentions the bot.`,
      ...this.#rows.map(([command, meaning]) => `  ${command.padEnd(width)}${meaning}`),
      '^2 is the message before the newest one, and so on.',
      `Places, and who sees them: ${places.join(', ')}`,
      'To say a line that begins with a slash, put a space before it.',
    ].join('\n');
  }

  get #placeName(): string {
    return placeName(this.#place, this.#channels, this.#speaker.name);
  }

  get #scene(): Scene {
    const { sandbox } = this.#options;
    const names = this.#names;
    return { sandbox, speaker: this.#speaker, place: this.#place, botId: this.#info.bot.id, names };
  }

  get #names(): Names {
    const { bot, people } = this.#info;
    return {
      personOf: (id) =>
        id === bot.id ? bot.name : (Object.entries(people).find(([, known]) => known === id)?.[0] ?? id),
      isBot: (id) => id === bot.id,
      placeOf: (id) => {
        const channel = this.#channels.find((candidate) => candidate.id === id);
        return channel === undefined ? undefined : placeName(channel, this.#channels, this.#speaker.name);
      },
    };
  }
}

function isSlash({ type }: Command): boolean {
  return type === ApplicationCommandType.ChatInput;
}

/** A command that differs by so many letters is probably meant; two swapped letters count as two. */
const slipLetters = 2;

/** As the chat calls a channel: `#general`, `#dev › talk` a thread, `@dm` the speaker's DM, `@bob` Bob's. */
function placeName(channel: ChannelView, channels: readonly ChannelView[], speaker: string): string {
  switch (channel.kind) {
    case 'text':
      return `#${channel.name}`;
    case 'dm':
      return channel.name === speaker ? '@dm' : `@${channel.name}`;
    case 'thread': {
      const parent = channels.find(({ id }) => id === channel.parentId);
      return `#${parent?.name ?? '?'} › ${channel.name}`;
    }
  }
}
