import { once } from 'node:events';

import { Client, GatewayIntentBits, Partials, type Message } from 'discord.js';
import { onTestFinished } from 'vitest';

import {
  startTestSandbox,
  type TestSandboxOptions,
  type TestSandbox,
} from '../../support/sandbox/test-sandbox.ts';

export const botIntents = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.GuildMessageTyping,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.MessageContent,
];

/** A sandbox that ends with the test. */
export async function openSandbox(options: TestSandboxOptions = {}): Promise<TestSandbox> {
  const server = await startTestSandbox(options);
  onTestFinished(() => server.close());
  return server;
}

/** The real discord.js client for a sandbox, not logged in; it ends with the test. */
function newClient(server: TestSandbox, intents: readonly GatewayIntentBits[] = botIntents): Client {
  const client = new Client({
    intents: [...intents],
    partials: [Partials.Channel, Partials.Message, Partials.Reaction],
    rest: { api: server.apiUrl, retries: 1 },
    // Identifying twice within five seconds is slowed down by the client; a test need not wait for it.
    ws: { buildIdentifyThrottler: () => Promise.resolve({ waitForIdentify: () => Promise.resolve() }) },
    allowedMentions: { parse: [] },
  });
  onTestFinished(() => client.destroy());
  return client;
}

export interface RunningBot {
  readonly server: TestSandbox;
  readonly client: Client<true>;
  /** Every message event, the bot's own included, in the order of arrival. */
  readonly seen: Message[];
}

/** A sandbox with the real client logged in to it. */
export async function runBot(
  options: TestSandboxOptions & { readonly intents?: readonly GatewayIntentBits[] } = {},
): Promise<RunningBot> {
  const { intents, ...serverOptions } = options;
  const server = await openSandbox(serverOptions);
  const client = newClient(server, intents);
  const seen: Message[] = [];
  client.on('messageCreate', (message) => {
    seen.push(message);
  });
  const ready = once(client, 'clientReady');
  await client.login(server.token);
  await ready;
  if (!client.isReady()) throw new Error('The client said that it is ready, and is not');
  return { server, client, seen };
}

/** The texts of what the bot has seen from people. */
export function textsFromPeople(seen: readonly Message[]): readonly string[] {
  return seen.filter(({ author }) => !author.bot).map(({ content }) => content);
}
