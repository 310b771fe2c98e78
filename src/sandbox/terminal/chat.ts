import { closest, distance } from 'fastest-levenshtein';

import type { ChannelView, PersonView } from '../control/control-views.ts';
import type { SandboxInfo } from '../control/local-control.ts';
import { SandboxError } from '../control/sandbox-control.ts';
import type { SandboxServer } from '../sandbox-server.ts';
import { requireWords, type ActionResult, type Scene } from './chat-action.ts';
import { chatActions, chatCommands, helpText, whoText, type ChatView } from './chat-texts.ts';
import { giveSlashCommand } from './interaction-actions.ts';
import { findPlace, placeName } from './places.ts';
import type { Names } from './readable.ts';
import type { Transcript } from './transcript.ts';

interface ChatOptions {
  readonly sandbox: SandboxServer;
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
  #channels: readonly ChannelView[];

  private constructor(options: ChatOptions, info: SandboxInfo, channels: readonly ChannelView[]) {
    this.#options = options;
    this.#info = info;
    this.#speaker = info.owner;
    this.#channels = channels;
    this.#place = findPlace('#general', channels, info.owner.name);
  }

  /** Begins as the bot's owner in #general. @throws {SandboxError} where the sandbox has no such channel. */
  static async open(options: ChatOptions): Promise<Chat> {
    const [info, channels] = await Promise.all([options.sandbox.info(), options.sandbox.channels()]);
    return new Chat(options, info, channels);
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
      if (command !== undefined) return await this.#runCommand(command, rest);
      const text = line.trim();
      if (text !== '') await this.#say(text);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      this.#options.transcript.problem(error.message);
    }
    return true;
  }

  /** @throws {SandboxError} when the place is unknown, or the speaker cannot see it. */
  async go(reference: string): Promise<void> {
    const { sandbox } = this.#options;
    const isOwnDm = ['dm', '@dm', `@${this.#info.bot.name.toLowerCase()}`].includes(reference.toLowerCase());
    const dm = isOwnDm ? await sandbox.openDm({ person: this.#speaker.id }) : undefined;
    this.#channels = await sandbox.channels();
    this.#place = dm ?? findPlace(reference, this.#channels, this.#speaker.name);
  }

  /** Who is told what happens, by the names that everything has now. */
  async reader(): Promise<{ readonly viewerId: string; readonly names: Names }> {
    this.#channels = await this.#options.sandbox.channels();
    return { viewerId: this.#speaker.id, names: this.#names };
  }

  async #runCommand(command: string, rest: string): Promise<boolean> {
    const { sandbox, transcript } = this.#options;
    switch (command.toLowerCase()) {
      case 'as':
        await this.#speakAs(rest);
        break;
      case 'go':
        if (rest === '')
          throw new SandboxError('Where to? /go #channel, /go @dm, or /go and the name of a thread');
        await this.go(rest);
        transcript.note(`You are ${this.position}.`);
        break;
      case 'who':
        transcript.tell(whoText(await this.#view()));
        break;
      case 'help':
        transcript.tell(helpText(await this.#view(), await sandbox.commands()));
        break;
      case 'demo':
        await this.#options.demonstrate();
        transcript.note(`Nothing of this is kept. You are ${this.position}.`);
        break;
      case 'quit':
        return false;
      default:
        await this.#finish(await this.#act(command.toLowerCase(), command, rest));
    }
    return true;
  }

  /** An action of the chat, else a slash command of the bot's. */
  async #act(name: string, asTyped: string, rest: string): Promise<ActionResult> {
    const action = chatActions[name];
    if (action !== undefined) return await action.act(this.#scene, rest);
    const commands = (await this.#options.sandbox.commands()).filter(({ type }) => type === 'slash');
    if (commands.some((candidate) => candidate.name === name)) {
      return await giveSlashCommand(this.#scene, `${asTyped} ${rest}`.trim());
    }
    const names = [...chatCommands(this.#info), ...commands.map((candidate) => `/${candidate.name}`)];
    // Of equally near ones the bot's, which stand last.
    const near = closest(`/${name}`, names.toReversed());
    const isSlip = name.length > slipLetters && distance(`/${name}`, near) <= slipLetters;
    const choice = isSlip ? `. Did you mean ${near}?` : `; there are ${names.join(', ')}.`;
    throw new SandboxError(`There is no /${asTyped}${choice} To say this line, put a space before it.`);
  }

  async #finish({ echo, tell, goTo, expectsAnswer }: ActionResult): Promise<void> {
    const { transcript, echoes, afterActing } = this.#options;
    if (tell !== undefined) transcript.tell(tell);
    if (echo !== undefined && echoes) {
      const line = { place: this.#placeName, name: this.#speaker.name, isBot: false, text: echo.text };
      if (echo.kind === 'said') transcript.said({ ...line, remark: echo.remark });
      else transcript.note(`${line.place}  ${line.name} ${line.text}`);
    }
    if (tell === undefined) await afterActing(expectsAnswer === true);
    if (goTo === undefined) return;
    await this.go(goTo);
    transcript.note(`You are ${this.position}.`);
  }

  async #say(text: string): Promise<void> {
    await this.#options.sandbox.say({ as: this.#speaker.id, in: this.#place.id, text });
    await this.#finish({ echo: { kind: 'said', text }, expectsAnswer: true });
  }

  async #speakAs(reference: string): Promise<void> {
    const names = Object.keys(this.#info.people).join(', ');
    requireWords(reference, `As whom? /as NAME; there are ${names}`);
    const wanted = reference.replace(/^@/, '').toLowerCase();
    const found = Object.entries(this.#info.people).find(([name]) => name.toLowerCase() === wanted);
    if (found === undefined) {
      throw new SandboxError(`There is nobody ${JSON.stringify(reference)} to speak as; there are ${names}`);
    }
    const [name, id] = found;
    this.#speaker = { id, name };
    // Everybody has a DM of their own; in a channel one stays.
    if (this.#place.kind === 'dm') await this.go('@dm');
    this.#options.transcript.note(`You are ${this.position}.`);
    if (!this.#place.seenBy.includes(name)) {
      this.#options.transcript.problem(`${name} cannot see ${this.#placeName}; /go somewhere else`);
    }
  }

  async #view(): Promise<ChatView> {
    this.#channels = await this.#options.sandbox.channels();
    return {
      info: this.#info,
      channels: this.#channels,
      speaker: this.#speaker.name,
      place: this.#placeName,
    };
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

/** A command that differs by so many letters is probably meant; two swapped letters count as two. */
const slipLetters = 2;
