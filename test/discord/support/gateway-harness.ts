import { onTestFinished } from 'vitest';
import { type Client, Events } from 'discord.js';

import type {
  BotHandlers,
  ChatMessage,
  CommandCall,
  IncomingMessage,
  MessageEdit,
  RememberedMessage,
} from '../../../src/core/message.ts';
import type {
  Choice,
  CommandDefinition,
  CommandHandlers,
  CommandReply,
  CommandRequest,
  CompletionRequest,
  MenuRequest,
} from '../../../src/core/commands.ts';
import { RecentChanges } from '../../../src/core/changes.ts';
import type { ChannelGuild } from '../../../src/core/place.ts';
import { type Shards, allShards } from '../../../src/core/processes.ts';
import { compareSnowflakes } from '../../../src/core/snowflake.ts';
import {
  type AccessSettings,
  createAccess,
  createLockedOut,
  withOwners,
} from '../../../src/discord/access.ts';
import { askDefinition } from '../../../src/commands/ask-command.ts';
import { createDiscordClient, fetchApplication } from '../../../src/discord/client.ts';
import type { GatewayError } from '../../../src/discord/gateway-error.ts';
import { type DiscordPortsOptions, createDiscordPorts } from '../../../src/discord/discord-ports.ts';
import { startGateway } from '../../../src/discord/gateway.ts';
import type { IntakeOptions } from '../../../src/discord/intake.ts';
import type { OnMalformed } from '../../../src/discord/shard.ts';
import {
  type TestSandboxOptions,
  type TestSandbox,
  startTestSandbox,
} from '../../support/sandbox/test-sandbox.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** Handlers that write down what reaches them, in one list. */
class RecordingHandlers implements BotHandlers, CommandHandlers {
  readonly messages: IncomingMessage[] = [];
  readonly commands: CommandRequest[] = [];
  readonly menus: MenuRequest[] = [];
  readonly completions: CompletionRequest[] = [];
  readonly edits: MessageEdit[] = [];
  /** In the order of arrival: `message <text>`, `edited <text>`, `deleted <ids>`. */
  readonly events: string[] = [];
  /** What a slash command is answered with. */
  commandAnswer: () => Promise<string> = () => Promise.resolve('Here you are.');
  commandButtons: CommandReply['buttons'];
  /** What a button may open in its place. */
  commandForm: CommandReply['form'];
  /** How long a message is worked on. */
  work: (message: IncomingMessage) => Promise<void> = () => Promise.resolve();

  message(message: IncomingMessage): Promise<void> {
    this.messages.push(message);
    this.events.push(`message ${message.text}`);
    return this.work(message);
  }

  async asked({ id }: IncomingMessage, state: 'begun' | 'dropped'): Promise<void> {
    this.events.push(`ask ${id} ${state}`);
  }

  async lockedOut(): Promise<void> {}

  async unanswerable({ id }: { readonly id: string }): Promise<void> {
    this.events.push(`unanswerable ${id}`);
  }

  async command(request: CommandRequest): Promise<CommandReply> {
    this.commands.push(request);
    const form = this.commandForm === undefined ? {} : { form: this.commandForm };
    return {
      text: await this.commandAnswer(),
      buttons: this.commandButtons,
      ...form,
    };
  }

  async menu(request: MenuRequest): Promise<CommandReply> {
    this.menus.push(request);
    return { text: await this.commandAnswer() };
  }

  complete(request: CompletionRequest): Promise<readonly Choice[]> {
    this.completions.push(request);
    return Promise.resolve([{ name: 'tea · 1a2b', value: '1a2b' }]);
  }

  async edited(edit: MessageEdit): Promise<void> {
    const { text, isCommand } = edit;
    this.edits.push(edit);
    this.events.push(isCommand ? `edited into a command ${text}` : `edited ${text}`);
  }

  async deleted(_channelId: string, messageIds: readonly string[]): Promise<void> {
    this.events.push(`deleted ${messageIds.join(' ')}`);
  }

  async reacted(_channelId: string, messageId: string, userId: string, emoji: string): Promise<void> {
    this.events.push(`${emoji} on ${messageId} by ${userId}`);
  }

  get texts(): string[] {
    return this.messages.map(({ text }) => text);
  }
}

export interface RunOptions {
  readonly shards?: Shards;
  readonly server?: TestSandbox;
  readonly sandbox?: TestSandboxOptions;
  readonly access?: Partial<AccessSettings>;
  /** Default: nobody. */
  readonly addedAccess?: () => Promise<readonly string[]>;
  /** Without, nothing is a copy. */
  readonly proxied?: DiscordPortsOptions['proxied'];
  /** Whether it has caught up when the test begins; so it is where nothing is said. */
  readonly settles?: false;
  /** The bot was active there a moment ago, or when it is said. */
  readonly knownChannels?: readonly (string | { readonly id: string; readonly activeAt: number })[];
  /** Channels that were found to be deleted. */
  readonly gone?: Set<string>;
  /** Where known channels belong that Discord does not tell of. */
  readonly guildOf?: (channelId: string) => ChannelGuild;
  readonly recover?: (channelId: string) => Promise<void>;
  /** Whether a message's reply was only begun. */
  readonly isUnfinished?: (message: { readonly id: string }) => boolean;
  /** Nothing is set where not given. */
  readonly answerModes?: IntakeOptions['answerModes'];
  /** Of every guild; none where not given. */
  readonly memberRole?: () => string | undefined;
  readonly clock?: () => Date;
  readonly hidden?: ReadonlySet<string>;
  /** Of every channel. */
  readonly remembered?: readonly RememberedMessage[];
}

/** `malformed`: what came that nobody can use, by type. `ids`: by name, of channels and people. */
export type RunningGateway = Awaited<ReturnType<typeof runGateway>>;

const memoryCommand: CommandDefinition = {
  name: 'memory',
  description: 'Memory',
  subcommands: {
    show: { description: 'Show' },
    import: { description: 'Import', options: { file: { kind: 'attachment', description: 'Which' } } },
    remember: {
      description: 'Remember',
      options: { text: { kind: 'text', description: 'What', autocomplete: true } },
    },
  },
};

const noProxies = { appIds: [], pluralKitUrl: 'http://127.0.0.1:9' };

/** Everybody has access, everywhere. */
const openToAll: AccessSettings = {
  ownerIds: [],
  access: 'everyone',
  allowedUserIds: [],
  allowedRoleIds: [],
  allowedBotIds: [],
  channelIds: [],
  autoReplyChannelIds: [],
};

export async function openSandbox(options: TestSandboxOptions = {}): Promise<TestSandbox> {
  const server = await startTestSandbox(options);
  onTestFinished(() => server.close());
  return server;
}

/** The project's client for a sandbox, not logged in. */
export function newClient(
  { apiUrl }: Pick<TestSandbox, 'apiUrl'>,
  logger = new RecordingLogger(),
  options: {
    readonly onMalformed?: OnMalformed;
    readonly shards?: Shards;
  } = {},
): Client {
  // Identifying twice within five seconds is slowed down by the client; a test need not wait for it.
  const identifying = { waitForIdentify: () => Promise.resolve() };
  const client = createDiscordClient({ apiUrl, logger, identifying, ...options });
  onTestFinished(() => client.destroy());
  return client;
}

function clock(): Date {
  return new Date();
}

function parseCommand(text: string): CommandCall | undefined {
  const words = /^!memory\b\s*(?<words>.*)$/u.exec(text)?.groups?.['words'];
  return words === undefined ? undefined : { name: 'memory', subcommand: words, options: {} };
}

/** The real client, logged in to a sandbox, with handlers that record. It ends with the test. */
export async function runGateway(options: RunOptions = {}) {
  const server = options.server ?? (await openSandbox(options.sandbox));
  const { shards = allShards } = options;
  const logger = new RecordingLogger();
  const malformed: string[] = [];
  const client = newClient(server, logger, { onMalformed: (type) => malformed.push(type), shards });
  const handlers = new RecordingHandlers();
  const lost: GatewayError[] = [];
  const recent = new RecentChanges();
  const {
    proxies,
    asks,
    dmOf,
    places,
    history,
    replies,
    offers,
    reactions,
    presentPlace,
    readReplied,
    readChannel,
    actions,
  } = createDiscordPorts({
    client,
    shards,
    access: { ...openToAll, ...options.access },
    proxied: options.proxied ?? noProxies,
    hiddenIn: () => Promise.resolve((messageId) => options.hidden?.has(messageId) ?? false),
    isCommand: (text) => parseCommand(text) !== undefined,
    memberRole: async () => options.memberRole?.(),
    noteGone: (channelId) => void options.gone?.add(channelId),
    recent,
    clock: options.clock ?? clock,
    logger,
  });
  const application = await fetchApplication(client, server.token);
  const settings = withOwners({ ...openToAll, ...options.access }, application);
  const gateway = await startGateway({
    connection: {
      client,
      shards,
      token: server.token,
      onLost: (error) => lost.push(error),
      applicationId: application.id,
    },
    access: {
      settings,
      people: createAccess(settings, { client, readAdded: options.addedAccess ?? (async () => []), logger }),
      wasLetIn: () => Promise.resolve(false),
      lockedOut: createLockedOut(),
    },
    commands: { definitions: [memoryCommand, askDefinition], menuNames: ['Remember this'], parseCommand },
    discord: { places, reactions, offers, proxies, history, asks, dmOf },
    channels: {
      answerModes: options.answerModes ?? {
        answerMode: async () => undefined,
        recentAnswerMode: () => undefined,
      },
      knownChannels: () =>
        Promise.resolve(
          (options.knownChannels ?? []).map((known) =>
            typeof known === 'string' ? { id: known, activeAt: Date.now() } : known,
          ),
        ),
      guildOf: (channelId) => Promise.resolve(options.guildOf?.(channelId) ?? { kind: 'unknown' }),
      isGone: async (channelId) => options.gone?.has(channelId) ?? false,
      recover: options.recover ?? (() => Promise.resolve()),
      resume: () => Promise.resolve(),
      remembered: (_channelId, since) =>
        Promise.resolve(
          (options.remembered ?? []).filter(({ ids }) => ids.some((id) => compareSnowflakes(id, since) >= 0)),
        ),
      isUnfinished: async (message) => options.isUnfinished?.(message) ?? false,
    },
    handlers,
    recent,
    clock,
    logger,
  });
  if (options.settles !== false) await gateway.idle();
  const { channels, people } = await server.info();
  return {
    server,
    client,
    gateway,
    handlers,
    history,
    replies,
    asks,
    offers,
    actions,
    presentPlace,
    readReplied,
    readChannel,
    logger,
    lost,
    malformed,
    ids: { ...channels, ...people },
    /** Every event until now has arrived and was handled. */
    settled: async (): Promise<void> => {
      await server.delivered();
      await gateway.idle();
    },
  };
}

/** Resolves when the client has begun a new session or gone on with the old one. */
export function connectedAgain(client: Client): Promise<void> {
  return new Promise((resolve) => {
    client.once(Events.ShardResume, () => resolve());
    client.once(Events.ShardReady, () => resolve());
  });
}

export function textsOf(messages: readonly ChatMessage[]): string[] {
  return messages.map(({ text }) => text);
}
