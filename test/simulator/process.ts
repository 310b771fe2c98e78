import type { ButtonInteraction } from 'discord.js';

import type { BotPorts } from '../../src/bot/bot-ports.ts';
import { createBot, type Bot } from '../../src/bot/create-bot.ts';
import { readConfig, type Config } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { catchUpWindowMs, type IncomingMessage, type ReplyPort } from '../../src/core/chat.ts';
import type { CommandReply } from '../../src/core/commands.ts';
import type { ModelClient } from '../../src/core/model.ts';
import { hasMoreReaders } from '../../src/core/place.ts';
import { readCommandButton } from '../../src/discord/command-buttons.ts';
import { createHistory } from '../../src/discord/history.ts';
import { createOffers } from '../../src/discord/interactions/offers.ts';
import { createDirectMessages, createReplies } from '../../src/discord/replies/replies.ts';
import { splitFooter } from '../../src/discord/replies/split-reply.ts';
import { createAnthropicClient } from '../../src/model/anthropic/anthropic-client.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import type { Logger } from '../../src/core/logger.ts';
import { replace } from './clock.ts';
import type { ProcessLife, SimulatedDisk } from './disk.ts';
import type { Vendor } from './vendor.ts';
import { botId, type World, type WorldMessage } from './world.ts';

const dataDir = '/data';

/** The processes of a machine by their numbers, as `process.kill(pid, 0)` tells. */
export class ProcessTable {
  #last = 1000;
  readonly #alive = new Set<number>();
  readonly #restore: () => void;

  constructor() {
    const isAlive = (pid: number): boolean => this.#alive.has(pid);
    this.#restore = replace(process, {
      pid: 0,
      kill(pid: number) {
        if (!isAlive(pid)) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
        return true;
      },
    });
  }

  /** A new process has a number of its own, which it sees until the next one starts. */
  begin(): number {
    this.#last += 1;
    this.#alive.add(this.#last);
    Object.defineProperty(process, 'pid', { value: this.#last, configurable: true });
    return this.#last;
  }

  end(pid: number): void {
    this.#alive.delete(pid);
  }

  restore(): void {
    this.#restore();
  }
}

export interface Machine {
  readonly processes: ProcessTable;
  readonly world: World;
  readonly disk: SimulatedDisk;
  readonly vendor: Vendor;
  readonly logger: Logger;
  /** Sees every request to the model before it leaves. */
  readonly requested: (request: Parameters<ModelClient['complete']>[0]) => void;
  /** Told when the bot comes to read a message. */
  readonly read: (message: WorldMessage) => void;
}

const never = (): Promise<never> => new Promise(() => {});

/**
 * One process of the bot, from start to end: everything that `createBot` connects, with the real store, model
 * client, replies, history and offers over the simulated disk, vendor and Discord. It also plays the gateway.
 */
export class BotProcess {
  #pid: number | undefined;
  readonly #machine: Machine;
  #bot: Bot | undefined;
  #parts: Parts | undefined;
  readonly #caughtUp = new Map<string, Promise<void>>();
  #stopping = false;
  #isCutOff = false;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** From its start to its end. */
  get isAlive(): boolean {
    return this.#pid !== undefined;
  }

  get bot(): Bot | undefined {
    return this.#bot;
  }

  /** Whether it does what it is told. */
  get isUp(): boolean {
    return this.isAlive && this.#bot !== undefined && !this.#stopping;
  }

  /** Whether Discord's events reach it. */
  get hears(): boolean {
    return this.isUp && !this.#isCutOff;
  }

  /** The connection to Discord's gateway breaks; what happens meanwhile is not told later. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  /** It is connected again, by a new session, and looks for what it missed. */
  reconnect(): void {
    this.#isCutOff = false;
    this.#caughtUp.clear();
    void this.#catchUpEverywhere();
  }

  /** Rejects where the process would end with an error. */
  async start(env: Readonly<Record<string, string>>): Promise<void> {
    this.#pid = this.#machine.processes.begin();
    const { config } = readConfig({
      DISCOCLAW_DATA_DIR: dataDir,
      DISCOCLAW_WORKSPACE_DIR: '/workspace',
      DISCOCLAW_TIMEZONE: 'UTC',
      ANTHROPIC_API_KEY: 'sk-simulated',
      ...env,
    });
    const parts = await connect(config, this.#machine, { isAlive: () => this.isAlive });
    if (!this.isAlive) return;
    this.#parts = parts;
    const { bot } = parts;
    this.#bot = bot;
    parts.store.removeLeftovers().catch(() => undefined);
    const { channels } = this.#machine.world;
    const guildIds = () => [...new Set([...channels.values()].flatMap(({ guildId }) => guildId ?? []))];
    void bot.startRetention({ ids: guildIds, areKnown: () => true });
    void this.#catchUpEverywhere();
  }

  /** Ends it in order. */
  async stop(): Promise<void> {
    const { bot, store } = this.#parts ?? {};
    this.#stopping = true;
    await bot?.drain(6500);
    await store?.close();
    this.kill();
  }

  /** It is gone from one moment to the next. */
  kill(): void {
    if (this.#pid !== undefined) this.#machine.processes.end(this.#pid);
    this.#pid = undefined;
  }

  /** A message has come in, for the bot or not. */
  async message(message: WorldMessage, isForBot: boolean): Promise<void> {
    const parts = this.#parts;
    if (!this.hears || parts === undefined) return;
    const { world } = this.#machine;
    const { history, recent, bot } = parts;
    const chat = world.chatMessage(message);
    const place = world.placeOf(message.channelId);
    history.seen(chat);
    const command = isForBot ? bot.commands.parse(message.text, botId) : undefined;
    if (place.guildId !== undefined && command === undefined)
      bot.handlers.onUserMessage({
        guildId: place.guildId,
        channelId: message.channelId,
        messageId: message.id,
        authorId: message.authorId,
      });
    if (!isForBot) return;
    await this.#before(message.channelId);
    if (recent.wasDeleted(message.id)) return;
    this.#machine.read(message);
    const incoming: IncomingMessage = {
      ...chat,
      text: recent.latest(message.id)?.text ?? chat.text,
      place: world.placeOf(message.channelId),
      isOwner: message.authorId === world.people[0]?.id,
      ...(command !== undefined && { command }),
    };
    await bot.handlers.message(incoming);
  }

  async edited(message: WorldMessage): Promise<void> {
    const parts = this.#parts;
    if (!this.hears || parts === undefined) return;
    this.#machine.read(message);
    const { id: messageId, channelId, authorId, text } = message;
    const isCommand = parts.bot.commands.parse(text, botId) !== undefined;
    await parts.bot.handlers.edited({ channelId, messageId, authorId, text, isCommand });
  }

  async deleted(channelId: string, messageIds: readonly string[]): Promise<void> {
    if (this.hears) await this.#parts?.bot.handlers.deleted(channelId, messageIds);
  }

  async channelsDeleted(channelIds: readonly string[]): Promise<void> {
    if (this.hears) await this.#bot?.channelsDeleted(channelIds);
  }

  async reacted(channelId: string, messageId: string, userId: string, emoji: string): Promise<void> {
    if (!this.hears) return;
    await this.#before(channelId);
    await this.#parts?.bot.handlers.reacted(channelId, messageId, userId, emoji);
  }

  /** A command that only its person sees the answer of; `undefined` where nothing comes back. */
  async slash(personId: string, channelId: string, line: string): Promise<CommandReply | undefined> {
    const parts = this.#parts;
    if (!this.hears || parts === undefined) return undefined;
    const { world } = this.#machine;
    const command = parts.bot.commands.parse(`!${line}`, botId);
    if (command === undefined) throw new RangeError(`No command: ${line}`);
    const place = world.placeOf(channelId);
    await parts.bot.recovery.finishChanges();
    const person = world.person(personId);
    const id = world.nextId();
    const reply = await parts.bot.handlers.command({
      id,
      command,
      speaker: { id: personId, name: person.name, isOwner: personId === world.people[0]?.id },
      place,
      ephemeral: true,
      at: new Date().toISOString(),
    });
    await reply.onReplied?.(true);
    return this.isAlive ? reply : never();
  }

  /** A person presses a button under a message. */
  async press(personId: string, message: WorldMessage, customId: string): Promise<CommandReply | undefined> {
    const parts = this.#parts;
    if (!this.hears || parts === undefined) return undefined;
    const button = readCommandButton(customId);
    if (button !== undefined) {
      if (button.personId !== personId || button.line === '') return undefined;
      if (button.takes === 'all') message.components = [];
      return this.slash(personId, message.channelId, button.line);
    }
    const interaction = {
      customId,
      user: { id: personId },
      update: (change: { readonly components?: readonly object[] }) => {
        if (change.components) message.components = change.components;
        return Promise.resolve();
      },
      editReply: () => Promise.resolve(),
      reply: () => Promise.resolve(),
      followUp: () => Promise.resolve(),
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that an offer asks of it
    await parts.offers.click(interaction as unknown as ButtonInteraction);
    return undefined;
  }

  idle(): Promise<void> {
    return this.#bot?.idle() ?? Promise.resolve();
  }

  /** What was missed in a channel is told first, and what a kill left undone is finished [G3a]. */
  #before(channelId: string): Promise<void> {
    const known = this.#caughtUp.get(channelId);
    if (known !== undefined) return known;
    const work = this.#catchUp(channelId).catch((error: unknown) =>
      this.#machine.logger.warn('catch-up', { error }),
    );
    this.#caughtUp.set(channelId, work);
    return work;
  }

  async #catchUpEverywhere(): Promise<void> {
    for (const { id: channelId, isGone } of this.#machine.world.channels.values()) {
      if (!this.hears) return;
      if (isGone) {
        await this.#bot?.channelsDeleted([channelId]);
        continue;
      }
      await this.#before(channelId);
      await this.#bot?.recovery.sessions(channelId, new AbortController().signal);
    }
  }

  async #catchUp(channelId: string): Promise<void> {
    const parts = this.#parts;
    if (parts === undefined) return;
    const { world } = this.#machine;
    const { bot } = parts;
    const standing = new Map(world.standing(channelId).map((message) => [message.id, message]));
    const remembered = await bot.remembered(channelId, world.channel(channelId).messages.at(-300)?.id ?? '0');
    const gone = remembered.flatMap(({ ids }) => ids).filter((id) => !standing.has(id));
    if (gone.length > 0) await bot.handlers.deleted(channelId, gone);
    for (const { ids, isOwn } of remembered) {
      const message = standing.get(ids[0] ?? '');
      if (!isOwn && message?.isEdited === true) await this.edited(message);
    }
    await bot.recovery.channel(channelId);
    const answered = new Set([...standing.values()].flatMap(({ answers }) => answers ?? []));
    for (const message of standing.values()) {
      const isYoung = Date.now() - message.at < catchUpWindowMs;
      if (message.authorId === botId || !isYoung || !this.isForBot(message)) continue;
      const { id, authorId: userId } = message;
      if (answered.has(id) && !(await bot.recovery.isUnfinished({ id, channelId, userId }))) continue;
      void this.message(message, true).catch(() => undefined);
    }
  }

  /** Whether a message is addressed to the bot: all in DMs, elsewhere those that name it. */
  isForBot({ channelId, text }: WorldMessage): boolean {
    return (
      this.#machine.world.channel(channelId).kind === 'dm' ||
      text.startsWith(`<@${botId}>`) ||
      text.startsWith('!')
    );
  }
}

type Parts = Awaited<ReturnType<typeof connect>>;

const clock = (): Date => new Date();

/** Everything of a process, each part over the simulated edge below it. */
async function connect(config: Config, machine: Machine, life: ProcessLife) {
  const { disk, vendor, world, logger, requested } = machine;
  const store = await createFileStore({
    ...config.storage,
    clock,
    logger,
    fileSystem: disk.fileSystem(life),
  });
  const client = createAnthropicClient({
    apiKey: 'sk-simulated',
    concurrency: config.model.concurrency,
    queueLimit: 50,
    idleTimeoutMs: config.model.idleTimeoutMs,
    totalTimeoutMs: config.model.totalTimeoutMs,
    fetch: vendor.fetch(life),
    logger,
  });
  const model: ModelClient = {
    isOffline: false,
    complete(request, options) {
      requested(request);
      return client.complete(request, options);
    },
  };
  const recent = new RecentChanges();
  const outbox = createOutbox({ store, changes: recent });
  const api = world.api(life);
  const history = createHistory({
    fetchNewest: async (channelId, limit) => {
      await api.messagesAfter(channelId, '0');
      return world
        .standing(channelId)
        .slice(-limit)
        .map((message) => world.chatMessage(message));
    },
    hiddenIn: outbox.hiddenIn,
    isCommand: (text): boolean => bot.commands.parse(text, botId) !== undefined,
    recent,
    logger,
  });
  const seen = (messageId: string): void => {
    const message = world.message(messageId);
    if (message !== undefined) history.seen(world.chatMessage(message));
  };
  const replies: ReplyPort = createReplies({
    api,
    botId: () => botId,
    clock,
    logger,
    onSent: ({ id }) => seen(id),
    onEdited: ({ id, content, channel_id: channelId }) =>
      recent.note({ kind: 'edited', channelId, messageId: id, text: splitFooter(content).text }),
    onRemoved: (channelId, id) => recent.note({ kind: 'deleted', channelId, messageIds: [id] }),
  });
  const offers = createOffers({ api: { ...api, editMessage: api.editMessage }, recent, logger });
  const ports: BotPorts = {
    store,
    model,
    outbox,
    recent,
    replies,
    directMessages: createDirectMessages(api, () => botId),
    ownerIds: () => [],
    offers,
    reactions: { add: () => {}, remove: () => {}, refuse: () => {} },
    history,
    hasAccess: async () => true,
    presentPlace: (place) => {
      const present = world.placeOf(place.channelId);
      return Promise.resolve(hasMoreReaders(place, present) ? present : place);
    },
    server: {
      hasSeveral: () => true,
      standing: (_guildId, userId) =>
        Promise.resolve(userId === world.people[0]?.id ? 'administrator' : 'none'),
      role: () => undefined,
      titleOf: (guildOrMention) => guildOrMention,
    },
    channels: {
      placeOf: (channelId) =>
        Promise.resolve(
          world.channels.get(channelId)?.isGone === false ? world.placeOf(channelId) : undefined,
        ),
      personMay: (capability, channelId, userId) => {
        const channel = world.channels.get(channelId);
        return Promise.resolve(
          capability === 'read' && channel !== undefined && world.canRead(userId, channel),
        );
      },
    },
    attachments: { open: () => Promise.resolve([]) },
    readAttachment: () => Promise.resolve('unavailable'),
    readReplied: () => Promise.resolve('gone'),
    readChannel: () => Promise.resolve({ kind: 'none' }),
    clock,
    logger,
  };
  const bot: Bot = createBot(config, ports);
  return { store, recent, history, offers, bot };
}
