import type { ChannelView, PersonView } from '../control/control-views.ts';
import type { SandboxInfo } from '../control/sandbox-control.ts';
import { SandboxError } from '../control/sandbox-error.ts';
import type { SandboxServer } from '../sandbox-server.ts';
import type { Message } from '../world/entities.ts';
import type { Utterance } from './bot-feed.ts';
import { chatCommands, helpText, whoText } from './chat-texts.ts';
import type { ChatView } from './chat-texts.ts';
import { findPlace, placeName } from './places.ts';
import { readSlashLine } from './slash-line.ts';
import type { Transcript } from './transcript.ts';

export interface ChatOptions {
  readonly sandbox: SandboxServer;
  readonly transcript: Transcript;
  /** What people say is shown too; a terminal shows it already. */
  readonly echoes: boolean;
  /** Called after each message and slash command; resolves when the next line may come. */
  readonly afterSpeaking: () => Promise<void>;
}

/** One chat: somebody, somewhere, whose lines are messages or commands of the chat. Begins as Alice in #general. */
export class Chat {
  readonly #options: ChatOptions;
  readonly #info: SandboxInfo;
  #speaker: Pick<PersonView, 'id' | 'name'>;
  #place: ChannelView;
  #placeName: string;

  private constructor(options: ChatOptions, info: SandboxInfo, place: ChannelView) {
    this.#options = options;
    this.#info = info;
    this.#speaker = info.owner;
    this.#place = place;
    this.#placeName = placeName(place, [], info.owner.name);
  }

  /** Begins as the bot's owner in #general. @throws {SandboxError} where the sandbox has no such channel. */
  static async open(options: ChatOptions): Promise<Chat> {
    const [info, channels] = await Promise.all([options.sandbox.info(), options.sandbox.channels()]);
    return new Chat(options, info, findPlace('#general', channels, info.owner.name));
  }

  /** Who speaks where: `alice in #general`. */
  get position(): string {
    return `${this.#speaker.name} in ${this.#placeName}`;
  }

  isHere(channelId: string): boolean {
    return channelId === this.#place.id;
  }

  /** Takes a line; what is wrong with it is told, and the chat stays as it was. Resolves with whether the chat goes on. */
  async take(line: string): Promise<boolean> {
    try {
      const [, command, rest = ''] = /^\/(\S*)\s*([^]*?)\s*$/u.exec(line) ?? [];
      if (command !== undefined) return await this.#obey(command, rest);
      if (line.trim() !== '') await this.say(line.trim());
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      this.#options.transcript.problem(error.message);
    }
    return true;
  }

  /** @throws {SandboxError} where the speaker cannot write here. */
  async say(text: string): Promise<void> {
    await this.#options.sandbox.say({ as: this.#speaker.id, in: this.#place.id, text });
    this.#echo(text);
    await this.#options.afterSpeaking();
  }

  /** @throws {SandboxError} when the place is unknown, or the speaker cannot see it. */
  async go(reference: string): Promise<void> {
    const { sandbox } = this.#options;
    const isOwnDm = ['dm', '@dm', `@${this.#info.bot.name.toLowerCase()}`].includes(reference.toLowerCase());
    const place = isOwnDm
      ? await sandbox.openDm({ person: this.#speaker.id })
      : findPlace(reference, await sandbox.channels(), this.#speaker.name);
    this.#place = place;
    this.#placeName = placeName(place, await sandbox.channels(), this.#speaker.name);
  }

  /** Shows what the bot wrote, with the place of each message. */
  async show(utterances: readonly Utterance[]): Promise<void> {
    const { sandbox, transcript } = this.#options;
    const channels = await sandbox.channels();
    for (const { message, isCorrection, onlyFor } of utterances) {
      const channel = channels.find(({ id }) => id === message.channelId);
      const remarks = [
        isCorrection ? 'edited' : '',
        onlyFor === undefined ? '' : `only ${this.#nameOf(onlyFor)} sees this`,
      ].filter((remark) => remark !== '');
      transcript.said({
        place: channel === undefined ? 'somewhere' : placeName(channel, channels, this.#speaker.name),
        name: this.#info.bot.name,
        isBot: true,
        text: this.#readable(message, channels),
        remark: remarks.length === 0 ? undefined : remarks.join('; '),
      });
    }
  }

  async #obey(command: string, rest: string): Promise<boolean> {
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
      case 'quit':
        return false;
      default:
        await this.#slash(command, rest);
    }
    return true;
  }

  async #speakAs(reference: string): Promise<void> {
    const wanted = reference.replace(/^@/, '').toLowerCase();
    const found = Object.entries(this.#info.people).find(([name]) => name.toLowerCase() === wanted);
    if (found === undefined) {
      const names = Object.keys(this.#info.people).join(', ');
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

  async #slash(name: string, rest: string): Promise<void> {
    const { sandbox } = this.#options;
    const commands = await sandbox.commands();
    const command = commands.find((candidate) => candidate.name === name.toLowerCase());
    if (command === undefined) {
      const names = [...chatCommands, ...commands.map((candidate) => `/${candidate.name}`)].join(', ');
      throw new SandboxError(
        `There is no /${name}; there are ${names}. To say this line, put a space before it.`,
      );
    }
    const line = readSlashLine(command, rest);
    await sandbox.slash({ as: this.#speaker.id, in: this.#place.id, ...line });
    this.#echo(`/${name} ${rest}`);
    await this.#options.afterSpeaking();
  }

  #echo(text: string): void {
    if (!this.#options.echoes) return;
    const { name } = this.#speaker;
    this.#options.transcript.said({ place: this.#placeName, name, isBot: false, text });
  }

  async #view(): Promise<ChatView> {
    const channels = await this.#options.sandbox.channels();
    return { info: this.#info, channels, speaker: this.#speaker.name, place: this.#placeName };
  }

  /** As Discord shows it: mentions as names, attachments named. */
  #readable(message: Message, channels: readonly ChannelView[]): string {
    const text = message.text
      .replaceAll(/<@!?(\d+)>/g, (_, id: string) => `@${this.#nameOf(id)}`)
      .replaceAll(/<#(\d+)>/g, (whole, id: string) => {
        const channel = channels.find((candidate) => candidate.id === id);
        return channel === undefined ? whole : `#${channel.name}`;
      });
    return [text, ...message.attachments.map(({ name }) => `[file ${name}]`)].join('\n').trim();
  }

  #nameOf(userId: string): string {
    const { bot, people } = this.#info;
    if (userId === bot.id) return bot.name;
    return Object.entries(people).find(([, id]) => id === userId)?.[0] ?? userId;
  }
}
