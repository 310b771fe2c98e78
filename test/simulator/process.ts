import { Collection, DiscordAPIError, type ButtonInteraction, type Client, type Message } from 'discord.js';

import type { BotPorts } from '../../src/bot/bot-ports.ts';
import { createBot, type Bot } from '../../src/bot/create-bot.ts';
import { readConfig, type Config } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import {
  catchUpWindowMs,
  type CommandCall,
  type IncomingMessage,
  type VoiceRecording,
} from '../../src/core/message.ts';
import type { ReplyPort } from '../../src/core/reply.ts';
import { sleep } from '../../src/core/time.ts';
import type { CommandReply } from '../../src/core/commands.ts';
import type { ModelClient } from '../../src/core/model.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { hasMoreReaders } from '../../src/core/place.ts';
import { createAccess, decideIntake, type Visitor } from '../../src/discord/access.ts';
import { createOffers, readCommandButton } from '../../src/discord/buttons.ts';
import { createHistory } from '../../src/discord/history.ts';
import { createProxies } from '../../src/discord/proxied.ts';
import { createReminderPost } from '../../src/discord/replies/reminder-post.ts';
import { createDirectMessages, createReplies } from '../../src/discord/replies/replies.ts';
import { splitFooter } from '../../src/discord/replies/split-reply.ts';
import { createAnthropicClient } from '../../src/model/anthropic/anthropic-client.ts';
import { withFallback } from '../../src/model/fallback.ts';
import { createBotSettings } from '../../src/memory/settings/bot-settings.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import type { Logger } from '../../src/core/logger.ts';
import { replace } from './clock.ts';
import type { ProcessLife, SimulatedDisk } from './disk.ts';
import type { Vendor } from './vendor.ts';
import { accessRoles, apiError, botId, type World, type WorldMessage } from './world.ts';

const dataDir = '/data';
/** Milliseconds that the server for voice messages takes. */
const heardAfterMs = 700;

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

  /** A new process has a number of its own. */
  begin(): number {
    this.#last += 1;
    this.#alive.add(this.#last);
    this.#show();
    return this.#last;
  }

  end(pid: number): void {
    this.#alive.delete(pid);
    this.#show();
  }

  /** What is read as one's own number is that of the newest that runs. */
  #show(): void {
    const value = [...this.#alive].at(-1);
    if (value !== undefined) Object.defineProperty(process, 'pid', { value, configurable: true });
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
    this.#parts?.history.forget(() => true);
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
    this.#parts?.killed.abort();
    if (this.#pid !== undefined) this.#machine.processes.end(this.#pid);
    this.#pid = undefined;
  }

  /** A message has come in, for the bot or not. */
  message(message: WorldMessage, isForBot: boolean): Promise<void> {
    const { world } = this.#machine;
    const { channelId, authorId: userId } = message;
    if (message.proxy !== undefined) return this.#takeCopy(message);
    const { guildId } = world.channel(channelId);
    const roleIds = guildId === undefined ? undefined : world.rolesIn(guildId, userId);
    return this.#take(message, isForBot, { userId, guildId, roleIds });
  }

  /** The gateway tells the bot of its own messages too, perhaps before what sent them. */
  hearsItself(message: WorldMessage): void {
    if (this.hears) this.#parts?.history.seen(this.#machine.world.chatMessage(message, () => undefined));
  }

  /** As `discord/intake.ts`: by nobody without a record, and one that was missed is in no history before. */
  async #takeCopy(copy: WorldMessage, isMissed = false): Promise<void> {
    const parts = this.#parts;
    if (!this.hears || parts === undefined) return;
    const { world } = this.#machine;
    if (!isMissed) parts.history.seen(world.chatMessage(copy, parts.proxies.accountOf));
    const { channelId } = copy;
    const found = await parts.proxies.resolve(asDiscordHasIt(copy), parts.killed.signal);
    if (found === undefined) return;
    await this.deleted(channelId, [found.originalId]);
    const { guildId } = world.channel(channelId);
    await this.#take(copy, true, { userId: found.message.author.id, guildId });
  }

  /** As `discord/intake.ts`: what it knows of roles came with the message, or is asked for. */
  async #take(message: WorldMessage, isForBot: boolean, visitor: Visitor): Promise<void> {
    const parts = this.#parts;
    if (!this.hears || parts === undefined) return;
    const { world } = this.#machine;
    const { history, recent, bot, people, arrivals } = parts;
    const { id, channelId, authorId, text } = message;
    const chat = world.chatMessage(message, parts.proxies.accountOf);
    const { guildId, parentId } = world.placeOf(channelId);
    history.seen(chat);
    const isTalking = history.isTalkingWith(authorId, channelId, id);
    const hasAccess = people.of(visitor);
    const answerMode =
      isForBot || guildId === undefined
        ? undefined
        : await bot.memory.placeSettings.answerMode({ guildId, channelId, parentId });
    const goesOn = answerMode === 'conversation' && isTalking;
    if (!isForBot && !goesOn) return;
    await this.#before(channelId);
    let handled: Promise<void> | undefined;
    await arrivals.run(channelId, async () => {
      const decision = decideIntake(
        {
          channelId,
          parentId,
          isDm: guildId === undefined,
          isOwnThread: false,
          managesServer: authorId === world.people[0]?.id,
          authorId,
          hasAccess: await hasAccess,
          authorKind: 'human',
          isSystem: false,
          text,
          hasEnclosures: chat.shown !== undefined,
          isEdited: false,
          mentionsBot: text.includes(`<@${botId}>`),
          repliesToBot: false,
          answerMode,
          goesOn,
        },
        { ...parts.policy, parseCommand: (line) => bot.commands.parse(line, botId) },
      );
      if (decision.kind !== 'turn' && decision.kind !== 'command') return;
      if (recent.wasDeleted(id)) return;
      this.#machine.read(message);
      const incoming: IncomingMessage = {
        ...chat,
        text: recent.latest(id)?.text ?? chat.text,
        place: world.placeOf(channelId),
        isOwner: authorId === world.people[0]?.id,
        command: decision.kind === 'command' ? decision.command : undefined,
        voice: message.spoken === undefined ? undefined : recordingOf(message),
        isProxied: message.proxy === undefined ? undefined : true,
      };
      handled = bot.handlers.message(incoming);
    });
    await handled;
  }

  async edited(message: WorldMessage): Promise<void> {
    const parts = this.#parts;
    if (!this.hears || parts === undefined) return;
    this.#machine.read(message);
    const { id: messageId, channelId, text, proxy } = message;
    const authorId = proxy === undefined ? message.authorId : parts.proxies.accountOf(messageId);
    const isCommand = parts.bot.commands.parse(text, botId) !== undefined;
    await parts.bot.handlers.edited({ channelId, messageId, authorId, text, isCommand });
  }

  async deleted(channelId: string, messageIds: readonly string[]): Promise<void> {
    if (!this.hears) return;
    await this.#parts?.bot.handlers.deleted(channelId, messageIds);
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
  async slash(
    personId: string,
    channelId: string,
    line: string | CommandCall,
  ): Promise<CommandReply | undefined> {
    const parts = this.#parts;
    if (!this.hears || parts === undefined) return undefined;
    const { world } = this.#machine;
    const command = typeof line === 'string' ? parts.bot.commands.parse(`!${line}`, botId) : line;
    if (command === undefined) throw new RangeError(`No command: ${JSON.stringify(line)}`);
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
        await this.#bot?.channelsDeleted([channelId], channelId);
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
      if (message.authorId === botId || !isYoung) continue;
      if (!this.isForBot(message)) {
        parts.history.seen(world.chatMessage(message, parts.proxies.accountOf));
        continue;
      }
      const { id, authorId: userId } = message;
      if (answered.has(id) && !(await bot.recovery.isUnfinished({ id, channelId, userId }))) continue;
      const { guildId } = world.channel(channelId);
      const taken =
        message.proxy === undefined
          ? this.#take(message, true, { userId, guildId })
          : this.#takeCopy(message, true);
      void taken.catch(() => undefined);
    }
  }

  /** Whether a message is addressed to the bot: all in DMs, elsewhere those that name it. */
  isForBot({ channelId, text }: WorldMessage): boolean {
    return (
      this.#machine.world.channel(channelId).kind === 'dm' ||
      text.includes(`<@${botId}>`) ||
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
  const watched: ModelClient = {
    isOffline: false,
    complete(request, options) {
      requested(request);
      return client.complete(request, options);
    },
  };
  const { fallback } = config.model;
  const patienceMs = config.model.totalTimeoutMs / 2;
  const model = withFallback(watched, { fallback, patienceMs, now: () => performance.now(), logger });
  const recent = new RecentChanges();
  const outbox = createOutbox({ store, changes: recent });
  const api = world.api(life);
  const history = createHistory({
    fetchNewest: async (channelId, limit) => {
      await api.messagesAfter(channelId, '0');
      return world
        .standing(channelId)
        .slice(-limit)
        .filter(({ id, proxy }) => proxy === undefined || proxies.accountOf(id) !== undefined)
        .map((message) => world.chatMessage(message, proxies.accountOf));
    },
    hiddenIn: outbox.hiddenIn,
    isCommand: (text): boolean => bot.commands.parse(text, botId) !== undefined,
    recent,
    logger,
  });
  const seen = (messageId: string): void => {
    const message = world.message(messageId);
    if (message !== undefined) history.seen(world.chatMessage(message, proxies.accountOf));
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
  const policy = {
    ownerIds: [world.people[0]?.id ?? ''],
    access: 'allowlist',
    allowedUserIds: [],
    allowedRoleIds: Object.values(accessRoles),
    allowedBotIds: [],
    channelIds: [],
    autoReplyChannelIds: [],
    managerCommands: [],
    keptCommands: [],
  } as const;
  const people = createAccess(policy, {
    client: clientOf(world, api),
    readAdded: async () => (await createBotSettings(store).read()).letIn,
    logger,
  });
  const offers = createOffers({ api, recent, logger });
  const ports: BotPorts = {
    keeping: { store, outbox, recent },
    discord: {
      replies,
      directMessages: createDirectMessages(api, () => botId),
      reminders: createReminderPost(api, (userId, channelId) =>
        Promise.resolve(
          world.channels.get(channelId)?.isGone === false && world.canRead(userId, world.channel(channelId)),
        ),
      ),
      offers,
      reactions: { add: () => {}, remove: () => {}, refuse: () => {} },
      history,
      presentPlace: (place) => {
        const present = world.placeOf(place.channelId);
        return Promise.resolve(hasMoreReaders(place, present) ? present : place);
      },
      server: {
        hasSeveral: () => true,
        permissionLevel: (_guildId, userId) =>
          Promise.resolve(userId === world.people[0]?.id ? 'administrator' : 'none'),
        role: () => undefined,
        titleOf: (guildOrMention) => guildOrMention,
      },
      channels: {
        placeOf: (channelId) =>
          Promise.resolve(
            world.channels.get(channelId)?.isGone === false ? world.placeOf(channelId) : undefined,
          ),
      },
      attachments: {
        open: () => Promise.resolve([]),
        read: ({ url }) => Promise.resolve(Buffer.from(world.message(url)?.spoken ?? '')),
      },
      readReplied: () => Promise.resolve('gone'),
      readChannel: () => Promise.resolve({ kind: 'none' }),
    },
    model: {
      client: model,
      async transcribe({ bytes }, _userId, signal) {
        await sleep(heardAfterMs, signal);
        return Buffer.from(bytes).toString();
      },
    },
    time: { clock },
    ownerIds: [],
    logger,
  };
  const bot: Bot = createBot(config, ports);
  const proxies = createProxies({
    appIds: config.discord.proxied.appIds,
    async readRecord(copyId, signal) {
      await sleep(Number(BigInt(copyId) % 1500n), signal);
      return world.message(copyId)?.proxy?.record;
    },
    authorOf: () => undefined,
  });
  const arrivals = createKeyedQueue();
  return {
    store,
    recent,
    history,
    offers,
    bot,
    people,
    policy,
    arrivals,
    proxies,
    killed: new AbortController(),
  };
}

/** All that proxies ask of a copy. */
function asDiscordHasIt({ id, channelId, authorId, text }: WorldMessage): Message {
  const copy = {
    id,
    channelId,
    content: text,
    author: { id: authorId, username: 'somebody', bot: false },
    member: null,
    embeds: [],
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return copy as unknown as Message;
}

function recordingOf({ id, spoken = '' }: WorldMessage): VoiceRecording {
  return { name: 'voice-message.ogg', size: spoken.length, url: id, seconds: 3 };
}

/** All that access asks of the client. */
function clientOf(world: World, { request }: ReturnType<World['api']>): Client {
  const guild = (id: string) => ({
    id,
    roles: { cache: byName(Object.values(accessRoles)) },
    members: {
      // The library tries again what fails by itself.
      async fetch({ user }: { readonly user: string }): Promise<object> {
        for (;;)
          try {
            return await request(() => {
              const roles = world.rolesIn(id, user);
              if (roles === undefined) throw apiError(404, 10007, 'Unknown Member');
              return { roles: { cache: byName(roles) } };
            });
          } catch (error) {
            if (!(error instanceof DiscordAPIError) || error.status !== 500) throw error;
          }
      },
    },
  });
  const cache = new Collection(Object.keys(accessRoles).map((id) => [id, guild(id)]));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return { guilds: { cache } } as unknown as Client;
}

function byName(names: readonly string[]): Collection<string, { readonly name: string }> {
  return new Collection(names.map((name) => [name, { name }]));
}
