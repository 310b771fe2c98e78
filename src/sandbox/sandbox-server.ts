import type { IncomingHttpHeaders } from 'node:http';

import { controlRoutes } from './control/control-http.ts';
import { createLocalControl, type SandboxControl } from './control/local-control.ts';
import { Gateway, type EarlyFrames, type RawFrame } from './gateway/gateway.ts';
import { SessionStarts, type ShardingOptions } from './gateway/sharding.ts';
import { createCdnFaults, createFaults } from './rest/faults.ts';
import { RateLimits } from './rest/rate-limits.ts';
import type { RestContext } from './rest/rest-context.ts';
import { apiPath, createRestServer } from './rest/rest-server.ts';
import { createDefaultWorld } from './world/default-world.ts';
import type { PrivilegedIntents } from './world/entities.ts';
import type { Clock } from './world/snowflakes.ts';
import type { WorldEvent } from './world/world.ts';

export interface SandboxOptions {
  /** 0, which is what is taken if nothing is said, for any free port. */
  readonly port?: number;
  readonly token?: string;
  readonly now?: Clock;
  /** The bot belongs to a team that Alice owns, instead of to Alice. */
  readonly ownedByTeam?: boolean;
  /** Too many requests within a time are refused as Discord does; off if nothing is said. */
  readonly rateLimits?: boolean;
  /** Privileged intents that are switched off for the bot: identifying with one is refused. */
  readonly disallowedIntents?: readonly (keyof PrivilegedIntents)[];
  /** What is asked of a bot that runs in shards; if nothing is said, one is enough. */
  readonly sharding?: ShardingOptions;
  /** Changes events and answers into what another server would send; may change what it is given. */
  readonly sends?: (body: unknown) => unknown;
}

/** A running sandbox: the control, and what only its own process can have. */
export interface SandboxServer extends SandboxControl {
  /** `http://127.0.0.1:<port>`; also the address of attachments. */
  readonly url: string;
  /** What a Discord library takes as its API address. */
  readonly apiUrl: string;
  readonly token: string;
  /** Tells of everything that happens, synchronously. Returns how to unsubscribe. */
  subscribe(listener: (event: WorldEvent) => void): () => void;
  /** Sends the connected clients something as it is, whether Discord would or not. */
  sendRaw(frame: RawFrame): void;
  /** The same for the next client that identifies, sooner than Discord would. */
  sendEarly(frames: EarlyFrames): void;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

export const defaultSandboxToken = 'sandbox-token';

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];
const notMeantForUs = `The sandbox answers to ${loopbackNames.join(', ')} with its own port only, and to no page of elsewhere`;

/**
 * Whether a request names this server and comes from no other page: a browser here would also carry out what a page of
 * elsewhere asks of it, under any name that leads here.
 */
function isMeantForUs({ host, origin }: IncomingHttpHeaders, url: string): boolean {
  const { port } = new URL(url);
  const hosts = loopbackNames.map((name) => `${name}:${port}`);
  const isOurs = origin === undefined || hosts.some((name) => origin === `http://${name}`);
  return isOurs && host !== undefined && hosts.includes(host.toLowerCase());
}

/** The bot's typing requests that are kept. */
const keptTyping = 10_000;

/**
 * Starts a small Discord on 127.0.0.1: REST v10, gateway v10, attachments, and the control under `/sandbox`.
 * @throws {Error} when the port is taken.
 */
export async function startSandboxServer(options: SandboxOptions = {}): Promise<SandboxServer> {
  const now = options.now ?? (() => new Date());
  const token = options.token ?? defaultSandboxToken;
  const disallowed = new Set(options.disallowedIntents);
  const world = createDefaultWorld({
    now,
    ownedByTeam: options.ownedByTeam ?? false,
    privileged: {
      messageContent: !disallowed.has('messageContent'),
      guildMembers: !disallowed.has('guildMembers'),
      presences: !disallowed.has('presences'),
    },
  });
  const { sharding = {}, sends = (body) => body } = options;
  const starts = new SessionStarts(now, sharding);
  let url = '';
  const urls = () => ({ gateway: `${url.replace(/^http/, 'ws')}/gateway`, cdn: url });
  const context: RestContext = {
    world,
    token,
    faults: createFaults(),
    cdnFaults: createCdnFaults(),
    rateLimits: new RateLimits(now, options.rateLimits ?? false),
    requests: [],
    downloads: [],
    sends,
    gatewayFacts: () => ({ shards: sharding.shards ?? 1, session_start_limit: starts.limit }),
    urls,
  };
  const typing: { readonly channelId: string; readonly at: string }[] = [];
  const gateway = new Gateway({
    world,
    token,
    guildsPerShard: sharding.guildsPerShard ?? 2500,
    starts,
    urls,
    sends,
  });
  world.subscribe((event) => {
    if (event.type !== 'typing-started') return;
    typing.push({ channelId: event.channel.id, at: event.at.toISOString() });
    if (typing.length > keptTyping) typing.shift();
  });
  const app = createRestServer(context);
  const { control, calls } = createLocalControl({
    ...context,
    gateway,
    typing,
    addresses: () => ({ url, apiUrl: url + apiPath, gatewayUrl: urls().gateway, token }),
  });
  controlRoutes(app, calls);
  app.addHook('onRequest', (request, reply, done) => {
    if (isMeantForUs(request.headers, url)) done();
    else reply.code(403).send({ error: notMeantForUs });
  });
  gateway.listenOn(app.server, (headers) => isMeantForUs(headers, url));
  url = await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });

  return {
    ...control,
    url,
    apiUrl: url + apiPath,
    token,
    subscribe: (listener) => world.subscribe(listener),
    sendRaw: (frame) => gateway.sendRaw(frame),
    sendEarly: (frames) => gateway.sendEarly(frames),
    async close() {
      gateway.close();
      await app.close();
    },
  };
}
