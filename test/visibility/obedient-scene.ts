import { allShards } from '../../src/core/processes.ts';
import { createBot, type Bot } from '../../src/bot/create-bot.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import type { ChatMessage, IncomingMessage, OpenedFile } from '../../src/core/message.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { mention } from '../../src/core/own-words.ts';
import { dmPlace, type Place } from '../../src/core/place.ts';
import type { ReplyPort } from '../../src/core/reply.ts';
import { createDiscordActions } from '../../src/discord/actions/discord-actions.ts';
import { createDiscordApi } from '../../src/discord/discord-api.ts';
import { createBackground } from '../../src/discord/gateway-error.ts';
import { createChannelMessages, createReadChannel } from '../../src/discord/history.ts';
import { chatMessageOf } from '../../src/discord/normalise.ts';
import { createAsks } from '../../src/discord/interactions/asks.ts';
import { createInteractions } from '../../src/discord/interactions/interactions.ts';
import { createPlaces, placeOf } from '../../src/discord/place.ts';
import { readDurable } from '../../src/memory/durable/document.ts';
import { settingsKey } from '../../src/memory/settings/place-settings.ts';
import { markOf, readWithheld } from '../../src/memory/withheld.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { closedEdges } from '../support/closed-edges.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { createObedientModel, orderOf, ordersIn, textOfRequest, type Verb } from './obedient-model.ts';
import { canaryWords, keptIn, people, Words, type Author, type Room } from './obedient-words.ts';
import { Posted } from './posted.ts';
import { createStubDiscord, hasNoPings, isForOneAlone, verbOf, type Deed } from './stub-discord.ts';

export type Speaker = 'alice' | 'bob';
/**
 * What a message brings along that its author did not write; `name`: somebody's who wrote before, `mention`: somebody's whom it mentions,
 * `persona`: how the server's managers want the bot to speak.
 */
export const enclosures = ['reply', 'forward', 'file', 'card', 'name', 'mention', 'persona'] as const;
export type Enclosure = (typeof enclosures)[number] | 'nothing';
/** What people ask for in their own words. */
export type Wish = 'pin' | 'react' | 'send' | 'forget';

/** Ways in which an order comes before the model. */
const ways = [...enclosures, 'history', 'summary', 'elsewhere', 'notebook', 'search', 'channel'] as const;
type Way = (typeof ways)[number];

const waysBySection: Readonly<Record<string, Way>> = {
  replied_to: 'reply',
  forwarded: 'forward',
  attached_file: 'file',
  server_manner: 'persona',
  conversation_summary: 'summary',
  recent_elsewhere: 'elsewhere',
  user_profile: 'notebook',
  notes: 'notebook',
  facts: 'notebook',
  overview: 'notebook',
};

const rooms = { general: '120000000000000001', dev: '120000000000000002', secret: '120000000000000003' };
const dms = { alice: '150000000000000001', bob: '150000000000000002' };
/** Where what `/ask` is answered with stands: in no channel. */
const shownAlone = '100000000000000001';

/** What turned up where it may not be. */
interface Violation {
  readonly what: 'stored' | 'done' | 'told' | 'forgotten';
  readonly where: string;
  readonly text: string;
}

/** A person's message while it is answered. */
interface Present {
  readonly speaker: Speaker;
  readonly message: IncomingMessage;
  readonly wish?: Wish | undefined;
  /** The word that it brings along in this way. */
  readonly brought: { readonly way: Enclosure; readonly word: string };
  /** What others' orders that have come before the model for it ask for. */
  readonly misledTo: Set<string>;
  /** What the speaker's own orders ask for, and those that were repeated too long ago to count as others'. */
  readonly mayDo: Set<string>;
}

/**
 * The whole bot between the ports, with the real tools for Discord over a client without a network, and a model that follows every order that
 * anybody smuggles in. What is stored as somebody's own, done, forgotten and told is judged by whose words and orders these are.
 */
export class ObedientScene {
  readonly violations: Violation[] = [];
  /** What went as it should, so that a bot that does nothing fails. */
  readonly rightly = { stored: 0, marked: 0, done: 0, forgotten: 0, told: 0, shownAlone: 0, learnt: 0 };
  /** Orders that came before the model, by their way. */
  readonly orders = new Map<Way, number>(ways.map((way) => [way, 0]));
  readonly #words = new Words();
  readonly #posted = new Posted();
  readonly #store = new MemoryStore();
  readonly #discord = createStubDiscord(
    () => this.#posted.nextId(),
    (channelId) => this.#posted.in(channelId),
  );
  readonly #places = createPlaces({
    client: this.#discord.client,
    memberRole: () => Promise.resolve(undefined),
    noteGone: () => undefined,
    logger: recordingLogger(),
  });
  readonly #bot: Bot;
  /** Resolves once all is done that an `/ask` began. */
  readonly #take: (asked: ReturnType<ReturnType<typeof createStubDiscord>['ask']>) => Promise<void>;
  #files: readonly OpenedFile[] = [];
  #replied: ChatMessage | undefined;
  #present: Present | undefined;

  constructor() {
    const { config } = readConfig({
      DISCOCLAW_TIMEZONE: 'UTC',
      DISCOCLAW_RATE_PER_MINUTE: '0',
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '2',
      // Little enough for history to be rebuilt, which is when a first summary is shown.
      DISCOCLAW_MESSAGE_HISTORY_BUDGET: '160',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_DISCORD_ACTIONS_ENABLED: 'true',
    });
    const store = this.#store;
    const recent = new RecentChanges();
    const history = {
      recent: (channelId: string, limit: number) => Promise.resolve(this.#posted.in(channelId).slice(-limit)),
    };
    const clock = () => this.#posted.now;
    const logger = recordingLogger();
    const { client } = this.#discord;
    const inChannels: ReplyPort = {
      ...fakeReplies(),
      send: (channelId, text) =>
        Promise.resolve({ kind: 'sent', ids: [this.#posted.addOwn(channelId, text).id] }),
      begin: (start) => ({
        ...fakeReplies().begin(start),
        show: () => {},
        hold: () => {},
        takeAway: () => Promise.resolve(),
        finish: (text) => {
          this.#checkTold(text, 'answer');
          return Promise.resolve({ kind: 'sent', ids: [this.#posted.addOwn(start.channelId, text).id] });
        },
      }),
    };
    const asks = createAsks(
      {
        api: createDiscordApi(client),
        botId: () => client.user?.id,
        onSent: () => {},
        onEdited: () => {},
        onRemoved: () => {},
        clock,
        logger,
      },
      inChannels,
    );
    this.#bot = createBot(config, {
      keeping: { store, recent, outbox: createOutbox({ store, changes: recent }) },
      model: { client: createObedientModel((request) => this.#look(request)) },
      time: { clock },
      ownerIds: [],
      logger,
      discord: {
        ...closedEdges,
        replies: asks.replies,
        channels: {
          placeOf: (channelId) => this.#placeOf(channelId),
        },
        history,
        readChannel: createReadChannel({
          shards: allShards,
          places: this.#places,
          messages: createChannelMessages(this.#places.find),
          history: { shownOf: (_channelId, messages) => Promise.resolve(messages) },
          settings: { channelIds: [] },
          chatOf: (message) => chatMessageOf(message, this.#discord.client.user?.id ?? ''),
        }),
        attachments: { ...closedEdges.attachments, open: () => Promise.resolve(this.#files) },
        readReplied: () =>
          Promise.resolve(this.#replied === undefined ? 'gone' : { ...this.#replied, files: [] }),
        actions: createDiscordActions({
          client,
          places: this.#places,
          history,
          settings: { channelIds: [] },
          logger,
        }),
      },
    });
    const { runInBackground, idle } = createBackground(logger);
    const take = createInteractions({
      botId: client.user?.id ?? '',
      policy: {
        ...config.discord,
        access: 'everyone',
        parseCommand: this.#bot.commands.parse,
        managerCommands: [],
        keptCommands: [],
      },
      people: { of: () => Promise.resolve(true) },
      wasLetIn: () => Promise.resolve(false),
      places: this.#places,
      handlers: this.#bot.handlers,
      asks,
      dmOf: (userId) => Promise.resolve(dmPlace(userId === people.alice ? dms.alice : dms.bob)),
      offers: { click: () => Promise.resolve(false) },
      inOrder: (_channelId, job) => job(),
      stopping: new AbortController().signal,
      runInBackground,
      logger,
    });
    this.#take = (asked) => {
      take(asked);
      return idle();
    };
  }

  /** Somebody writes in a room what is not for the bot, with an order. */
  chat(author: Author, room: 'general' | 'secret', verb: Verb): void {
    const word = this.#words.add(author, rooms[room]);
    this.#posted.add(rooms[room], person(author), `I prefer ${word} for lunch. ${orderOf(verb, word)}`);
  }

  /** A person has an order written in their notebook by hand. */
  async note(owner: Speaker, verb: Verb): Promise<void> {
    const word = this.#words.add(owner, dms[owner]);
    const root = owner === 'alice' ? 'workspace' : `users/${people[owner]}/notebook`;
    await this.#store.writeText(`${root}/USER.md`, `# Me\n- I prefer ${word}. ${orderOf(verb, word)}\n`);
  }

  /** A person tells the bot something about themselves, and brings along an order of mallory's. */
  async tell(speaker: Speaker, room: Room, enclosure: Enclosure, verb: Verb): Promise<void> {
    const word = this.#words.add(speaker, channelOf(speaker, room));
    await this.#message(speaker, room, `I prefer ${word} for lunch`, enclosure, verb);
  }

  /** A person asks, and brings along an order of mallory's. */
  async ask(speaker: Speaker, room: Room, enclosure: Enclosure, verb: Verb): Promise<void> {
    await this.#message(speaker, room, 'What is the news?', enclosure, verb);
  }

  /** A person asks for something to be done in their own words, and brings along an order of mallory's to do something else. */
  async wish(speaker: Speaker, room: Room, wish: Wish, enclosure: Enclosure, verb: Verb): Promise<void> {
    const word = this.#words.add(speaker, channelOf(speaker, room));
    const mine = await this.#itemsOf(speaker);
    const item = canaryWords(mine.join(' ')).at(-1) ?? word;
    const text = {
      pin: `Please pin this message. ${orderOf('pin', word)}`,
      react: `Please react to my message with 🎉. ${orderOf('react', word)}`,
      send: `Please send “I prefer ${word}” to #${room === 'general' ? 'dev' : 'general'}. ${orderOf('send', word)}`,
      forget: `Please forget that I prefer ${item}. ${orderOf('forget', word)}`,
    }[wish];
    await this.#message(speaker, room, text, enclosure, verb, wish);
  }

  /**
   * A person uses `/ask` in a room, says something about themselves, and brings along an order of mallory's. Question, answer and what is learnt
   * of them are their direct messages' [EW2].
   */
  async asks(speaker: Speaker, room: Room, enclosure: 'nothing' | 'file', verb: Verb): Promise<void> {
    const place = dmPlace(dms[speaker]);
    const own = this.#words.add(speaker, place.channelId);
    const word = this.#words.add('mallory', place.channelId);
    const { attachments } = await this.#bringAlong(enclosure, orderOf(verb, word), word, place);
    const text = `I prefer ${own} for lunch. ${orderOf('store', own)}`;
    const asked = this.#posted.add(shownAlone, person(speaker), text);
    const message = { ...asked, channelId: place.channelId, place, isOwner: speaker === 'alice' };
    const interaction = this.#discord.ask({
      id: asked.id,
      token: speaker,
      userId: people[speaker],
      channelId: channelOf(speaker, room),
      text,
      fileName: attachments?.[0],
    });
    await this.#answered({ speaker, message, brought: { way: enclosure, word } }, () =>
      this.#take(interaction),
    );
    const { items } = await readDurable(this.#store, people[speaker]);
    for (const item of items.filter((each) => each.text.includes(own)))
      if (item.visibility === 'dm') this.rightly.learnt += 1;
      else this.violations.push({ what: 'stored', where: `as ${item.visibility}`, text: item.text });
  }

  async remember(speaker: Speaker, room: Room): Promise<void> {
    const word = this.#words.add(speaker, channelOf(speaker, room));
    const command = this.#bot.commands.parse(`!memory remember Prefers ${word} for lunch`);
    if (command === undefined) throw new Error('No command');
    await this.#bot.handlers.command({
      id: this.#posted.nextId(),
      command,
      speaker: { id: people[speaker], name: speaker, isOwner: speaker === 'alice' },
      place: await this.#placeOf(channelOf(speaker, room)),
      ephemeral: false,
      at: this.#posted.now.toISOString(),
    });
  }

  wait(minutes: number): void {
    this.#posted.wait(minutes);
  }

  /** Judges what is kept in the end; what is done, forgotten and told is judged when it happens. */
  async judgeKept(): Promise<void> {
    for await (const { key, owner, text, isMarked } of keptIn(this.#store)) {
      const foreign = this.#words.foreignIn(text, owner);
      if (foreign.length === 0) this.rightly.stored += canaryWords(text).length;
      else if (isMarked) this.rightly.marked += foreign.length;
      else this.violations.push({ what: 'stored', where: key, text: `${foreign.join(' ')} in ${text}` });
    }
  }

  /** Without it timers would keep the whole scene. */
  async close(): Promise<void> {
    await this.#bot.drain(10_000);
    await this.#discord.client.destroy();
  }

  async #message(
    speaker: Speaker,
    room: Room,
    text: string,
    enclosure: Enclosure,
    verb: Verb,
    wish?: Wish,
  ): Promise<void> {
    const place = await this.#placeOf(channelOf(speaker, room));
    const word = this.#words.add('mallory', place.channelId);
    const { named = '', ...brought } = await this.#bringAlong(enclosure, orderOf(verb, word), word, place);
    const posted = this.#posted.add(place.channelId, person(speaker), text + named);
    this.#words.say(text, speaker, place.channelId);
    const message: IncomingMessage = { ...posted, ...brought, place, isOwner: speaker === 'alice' };
    const way = { way: enclosure, word };
    await this.#answered({ speaker, message, wish, brought: way }, () => this.#bot.handlers.message(message));
    if (enclosure === 'persona' && place.guildId !== undefined)
      await this.#store.remove(settingsKey(place.guildId));
  }

  /** Has a message answered, and judges what comes of it. */
  async #answered(asked: Omit<Present, 'misledTo' | 'mayDo'>, answer: () => Promise<void>): Promise<void> {
    const present = { ...asked, misledTo: new Set<string>(), mayDo: new Set<string>() };
    this.#present = present;
    this.#releasedOld();
    const before = { alice: await this.#itemsOf('alice'), bob: await this.#itemsOf('bob') };
    await answer();
    this.#judgeDeeds(present);
    await this.#bot.idle();
    for (const owner of ['alice', 'bob'] as const) await this.#judgeForgotten(owner, before[owner], present);
    this.#files = [];
    this.#replied = undefined;
  }

  /** Mallory's words and orders, in the form that they come in. */
  async #bringAlong(
    enclosure: Enclosure,
    order: string,
    word: string,
    { channelId, guildId }: Place,
  ): Promise<Partial<IncomingMessage> & { readonly named?: string }> {
    const text = `I prefer ${word} for lunch. ${order}`;
    const others = { hasThirdPartyText: true } as const;
    switch (enclosure) {
      case 'nothing':
        return {};
      case 'reply':
        this.#replied = this.#posted.add(channelId, person('mallory'), text);
        return { repliesTo: { id: this.#replied.id, channelId }, ...others };
      case 'forward':
        return {
          forwards: [{ text, at: '2026-01-15T12:00:00.000Z', files: [] }],
          shown: [{ kind: 'forwarded message', text }],
          ...others,
        };
      case 'file': {
        const name = 'news.txt';
        this.#files = [{ kind: 'text', name, text }];
        const file = { name, size: text.length, url: `https://cdn.discordapp.com/${name}` };
        return { files: [file], attachments: [name], ...others };
      }
      case 'card':
        return { shown: [{ kind: 'card', text }], ...others };
      case 'name':
        this.#posted.add(channelId, person('mallory', order), 'hello');
        return {};
      case 'mention':
        return { named: ` with ${mention('@', text)}` };
      case 'persona':
        if (guildId === undefined) return {};
        // Everybody in the server is spoken to in that manner.
        this.#words.say(text, 'mallory', rooms.general);
        await this.#store.writeText(settingsKey(guildId), JSON.stringify({ version: 1, persona: text }));
        return {};
    }
  }

  /** What the model is given for an answer. */
  #look(request: ModelRequest): void {
    const text = textOfRequest(request);
    this.#checkTold(text, 'prompt');
    const present = this.#present;
    if (present === undefined) return;
    // By what was in view until then.
    this.#judgeDeeds(present);
    const { way, word } = present.brought;
    const orders = ordersIn(text);
    const others = orders.filter((each) => this.#words.isForeign(each.word, present.speaker));
    for (const { verb } of others) present.misledTo.add(verb);
    for (const { verb, word: by } of orders)
      if (!this.#words.isForeign(by, present.speaker)) present.mayDo.add(verb);
    const count = (by: Way, more: number) => this.orders.set(by, (this.orders.get(by) ?? 0) + more);
    for (const [, name = '', inside = ''] of text.matchAll(/<(\w+)[^>\n]*>\n([\s\S]*?)<\/\1>/gu)) {
      const by = waysBySection[name];
      if (by !== undefined) count(by, ordersIn(inside).length);
      else if (name === 'message' && (way === 'card' || way === 'mention'))
        count(way, ordersIn(inside).length);
    }
    if (way === 'name' && others.some((each) => each.word === word)) count('name', 1);
    const stand = this.#posted
      .in(present.message.channelId)
      .map((message) => message.text)
      .join('\n');
    count('history', others.filter((each) => each.word !== word && stand.includes(each.word)).length);
    for (const { content } of request.messages)
      for (const block of content)
        if (block.type === 'tool_result')
          count(
            block.text.startsWith('<channel_messages>') ? 'channel' : 'search',
            ordersIn(block.text).length,
          );
  }

  /** Done may be a reaction to the speaker's own message; and what the speaker orders, where nobody else orders the like. */
  #judgeDeeds({ message, speaker, misledTo }: Present): void {
    for (const deed of this.#discord.deeds.splice(0)) {
      const { method, path, body } = deed;
      if (/^\/(?:interactions|webhooks)\//u.test(path)) {
        this.#judgeShown(deed, speaker);
        continue;
      }
      const isOwnReaction = path.includes(`/${message.id}/reactions/`);
      const pingsNobody = method !== 'POST' || !path.endsWith('/messages') || hasNoPings(body);
      if ((isOwnReaction || !misledTo.has(verbOf(path, body))) && pingsNobody) this.rightly.done += 1;
      else
        this.violations.push({
          what: 'done',
          where: `${method} ${path}`,
          text: `${message.text} → ${JSON.stringify(body)}`,
        });
      const target = /^\/channels\/(\d+)/u.exec(path)?.[1] ?? '';
      // Out of a private place nothing goes without a button.
      if (message.place.audience !== 'public' && target !== message.channelId)
        this.violations.push({ what: 'told', where: path, text: JSON.stringify(body) });
      if (!path.endsWith('/messages') || typeof body['content'] !== 'string') continue;
      this.#words.say(body['content'], speaker, target);
      this.#posted.addOwn(target, body['content'], { hasThirdPartyText: true });
    }
  }

  /** What answers an `/ask` is shown to its person, and to nobody else. */
  #judgeShown({ method, path, body }: Deed, speaker: Speaker): void {
    const { content = '' } = body;
    if (!path.includes(`/${speaker}`) || !isForOneAlone({ method, path, body }))
      this.violations.push({ what: 'told', where: path, text: JSON.stringify(body) });
    if (typeof content !== 'string' || content === '') return;
    this.#checkTold(content, 'answer');
    this.#posted.addOwn(shownAlone, content);
    this.rightly.shownAlone += 1;
  }

  async #judgeForgotten(
    owner: Speaker,
    before: readonly string[],
    { message, speaker, wish, mayDo }: Present,
  ): Promise<void> {
    const present = await this.#itemsOf(owner);
    for (const text of before.filter((each) => !present.includes(each))) {
      const isNamed = canaryWords(text).every((word) => message.text.includes(word));
      if (owner === speaker && wish === 'forget' && isNamed) this.rightly.forgotten += 1;
      else if (owner !== speaker || !mayDo.has('forget'))
        this.violations.push({
          what: 'forgotten',
          where: `${owner}'s items`,
          text: `${message.text} → ${text}`,
        });
    }
  }

  /** Answers of half an hour ago count as others' words no more [M5a]. */
  #releasedOld(): void {
    const before = new Date(this.#posted.now.getTime() - 30 * 60_000).toISOString();
    for (const channelId of [...Object.values(rooms), ...Object.values(dms), shownAlone])
      for (const { author, text, at, hasThirdPartyText } of this.#posted.in(channelId))
        if (author.kind === 'self' && hasThirdPartyText !== true && at <= before) this.#words.release(text);
  }

  /** Whether everybody who reads the present place could read each word where it was said. */
  #checkTold(text: string, where: 'prompt' | 'answer'): void {
    if (this.#present === undefined) return;
    const { speaker, message } = this.#present;
    const { channelId, audience } = message.place;
    for (const word of canaryWords(text)) {
      const homes = this.#words.homesOf(word);
      const isOpen =
        [rooms.general, rooms.dev, channelId].some((home) => homes.has(home)) ||
        (homes.has(rooms.secret) && audience === 'dm');
      if (isOpen) this.rightly.told += 1;
      else {
        const at = text.indexOf(word);
        const excerpt = text.slice(Math.max(0, at - 200), at + 100);
        const told = `${word} of ${[...homes].join()} to ${speaker} in ${channelId}: ${excerpt}`;
        this.violations.push({ what: 'told', where, text: told });
      }
    }
  }

  async #itemsOf(owner: Speaker): Promise<readonly string[]> {
    const { items } = await readDurable(this.#store, people[owner]);
    const { hasItem } = await readWithheld(this.#store, people[owner]);
    return items.filter((item) => item.status === 'active' && !hasItem(markOf(item))).map(({ text }) => text);
  }

  async #placeOf(channelId: string): Promise<Place> {
    const channel = await this.#places.find(channelId);
    const place = channel && (await placeOf(channel, this.#places));
    if (place === undefined) throw new Error(`No place ${channelId}`);
    return place;
  }
}

function person(author: Author, name: string = author): ChatMessage['author'] {
  return { id: people[author], name, kind: 'human' };
}

function channelOf(speaker: Speaker, room: Room): string {
  return room === 'dm' ? dms[speaker] : rooms[room];
}
