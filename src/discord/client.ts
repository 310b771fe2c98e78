import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

import {
  ApplicationFlags,
  Client,
  DefaultRestOptions,
  Events,
  GatewayIntentBits,
  IntentsBitField,
  Options,
  Partials,
  PermissionsBitField,
  RESTJSONErrorCodes,
  Status,
  type APIApplication,
  type IIdentifyThrottler,
  type RateLimitData,
} from 'discord.js';

import type { CommandDefinition } from '../core/commands.ts';
import type { Logger } from '../core/logger.ts';
import { allShards, type Shards } from '../core/processes.ts';
import { createDiscordApi } from './discord-api.ts';
import {
  durationInWords,
  GatewayError,
  gatewayErrorOf,
  gatewayErrorOfClose,
  waitOf,
} from './gateway-error.ts';
import { unlessAborted, type Clock } from '../core/time.ts';
import { usableAnswer } from './payloads.ts';
import { commandsToRegister, isEntryPoint } from './interactions/register-commands.ts';
import { deniedIn, lacksEssentials, missingPermissions, requiredIntents } from './permissions.ts';
import { hasErrorCode, sendUntilTaken } from './refusals.ts';
import { guardedSharding, withGuild, wrap, type OnMalformed } from './shard.ts';

/** The discord.js client, not logged in [G3a]. `apiUrl` is that of another Discord-compatible server. */
export function createDiscordClient(options: {
  readonly apiUrl?: string | undefined;
  readonly logger: Logger;
  readonly onMalformed?: OnMalformed;
  /** Milliseconds that Discord's clock is ahead, in whole seconds. Must not throw. */
  readonly onDate?: (aheadMs: number) => void;
  /** Default: all in one [X3]. */
  readonly shards?: Shards;
  /** Default: one shard in five seconds of each rate-limit key. */
  readonly identifying?: IIdentifyThrottler;
}): Client {
  const { apiUrl, logger, shards = allShards, identifying } = options;
  const { onMalformed = noteMalformed, onDate = () => undefined } = options;
  // Without the error's message, which may repeat what it was about.
  function noteMalformed(type: string, error?: unknown): void {
    const thrownAt = /^[ \t]+at .*/mu.exec(Object(error).stack ?? '')?.[0].trim();
    logger.debug('unusable data from Discord', { type, thrownAt });
  }
  /** Limits that the client kept before Discord answered 429. */
  const isForeseen = new WeakSet<RateLimitData>();
  const ask = usableRequest((thread) => withGuild(client, thread));
  const client: Client = new Client({
    intents: requiredIntents.map(({ intent }) => GatewayIntentBits[intent]),
    partials: [Partials.Channel],
    // Whatever the library sends pings nobody.
    allowedMentions: { parse: [], repliedUser: false },
    // Of others, no events are let in.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      GuildMemberManager: { maxSize: 500, keepOverLimit: ({ id }) => id === client.user?.id },
      UserManager: { maxSize: 2000, keepOverLimit: ({ id }) => id === client.user?.id },
      MessageManager: 0,
      ReactionManager: 0,
      ReactionUserManager: 0,
      ThreadMemberManager: { maxSize: 0, keepOverLimit: ({ id }) => id === client.user?.id },
    }),
    shards: shards.ids,
    shardCount: shards.count,
    sweepers: Options.DefaultSweeperSettings,
    rest: {
      rejectOnRateLimit: (limit) => {
        if (!isForeseen.has(limit)) logger.warn('Discord answered 429: too many requests', shownLimit(limit));
        // The wait before login is told, and ends when the bot is stopped [O7].
        return !client.isReady() && waitOf(limit) > loginPatienceMs;
      },
      api: apiUrl?.replace(/(?<!\/)\/+$/u, '').replace(/\/v\d+$/u, '') ?? DefaultRestOptions.api,
      async makeRequest(url, init) {
        const response = await ask(url, init).catch((error: unknown) => {
          // The library asks again without a word [O7].
          if (!client.isReady() && init.signal?.aborted === true) logger.warn('Discord does not answer');
          throw error;
        });
        const date = Date.parse(response.headers.get('date') ?? '');
        if (!Number.isNaN(date)) onDate(date - Date.now());
        return response;
      },
    },
    ws: {
      ...(identifying !== undefined && { buildIdentifyThrottler: () => Promise.resolve(identifying) }),
      buildStrategy: guardedSharding({
        client: () => client,
        onMalformed,
        intents: () => client.options.intents.bitfield,
        asksForFewer: () => withoutContent(client, logger),
      }),
    },
  });
  // The library would forget the token after one refusal; the gateway tells whether it holds.
  wrap(client.rest, 'setToken', (setToken) => (token) => {
    if (token !== null || client.token === null) setToken(token);
    return client.rest;
  });
  wrap(client.rest, 'queueRequest', (queue) => (request) => {
    const route = String(Reflect.get(Object(request), 'fullRoute'));
    if (!/^\/(?:interactions|webhooks)\//u.test(route)) return queue(request);
    return answerInteraction(async () => queue(request), route);
  });
  client.on('error', (error) => logger.error('the Discord client reported an error', { error }));
  client.on('warn', (warning) => logger.warn('the Discord client warned', { warning }));
  const ofShard = (shard: number) => (shards.count > 1 ? { shard } : {});
  const saidAt = new Map<string, number>();
  /** What recurs is logged once a minute [O7]. */
  function isTimeFor(line: string): boolean {
    const now = performance.now();
    if (now - (saidAt.get(line) ?? -Infinity) < linesApartMs) return false;
    saidAt.set(line, now);
    return true;
  }
  client.on('shardError', (error, shard) => {
    // What ends the bot is told in its last line [O2].
    if (client.isReady() && gatewayErrorOf(error).isPassing && isTimeFor(`failed ${shard}`))
      logger.warn('the gateway connection failed', { ...ofShard(shard), error });
  });
  client.on('shardReconnecting', (shard) => {
    if (isTimeFor(`reconnecting ${shard}`)) logger.info('reconnecting to Discord', ofShard(shard));
  });
  client.on('shardResume', (shard, replayed) => {
    logger.info('the gateway session was resumed', { ...ofShard(shard), replayed });
  });
  client.rest.on('rateLimited', (limit) => {
    isForeseen.add(limit);
    logger.info('rate limited by Discord', shownLimit(limit));
  });
  return client;
}

/** Between tries to acknowledge an interaction, for which Discord waits 3 seconds. */
const acknowledgingPausesMs = [300, 600, 1000];

/** What answers an interaction is for its person alone, or takes the place of what they pressed [G3e]. */
async function answerInteraction(send: () => Promise<unknown>, route: string): Promise<unknown> {
  if (!route.startsWith('/interactions/')) return sendUntilTaken(send);
  let failed = 0;
  return sendUntilTaken(
    () =>
      send().catch((error: unknown) => {
        // An earlier try was taken, though its answer was lost.
        if (failed > 0 && hasErrorCode(error, RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged))
          return;
        failed += 1;
        throw error;
      }),
    acknowledgingPausesMs,
  );
}

/** From here a wrong clock is reported and corrected [O7]. */
const wrongClockMs = 60_000;

export function createDiscordTime(clock: Clock, logger: Logger) {
  let correctionMs = 0;
  let wasLogged = false;
  return {
    note(aheadMs: number): void {
      const isWrong = Math.abs(aheadMs) > wrongClockMs;
      correctionMs = isWrong ? aheadMs : 0;
      if (!isWrong || wasLogged) return;
      wasLogged = true;
      logger.warn(
        `this machine's clock is ${durationInWords(Math.abs(aheadMs))} ${aheadMs > 0 ? 'behind' : 'ahead of'} Discord's: have it set by the network (timedatectl set-ntp true)`,
      );
    },
    clock: (): Date => new Date(clock().getTime() + correctionMs),
  };
}

const linesApartMs = 60_000;

const loginPatienceMs = 5000;

function shownLimit(limit: RateLimitData) {
  const { method, route, scope } = limit;
  return { method, route, scope, waitMs: Math.round(waitOf(limit)) };
}

export function readsContent({ options }: Pick<Client, 'options'>): boolean {
  return options.intents.has(GatewayIntentBits.MessageContent);
}

/** The only intent that can be refused. Whether it was requested until now. */
function withoutContent(client: Client, logger: Logger): boolean {
  if (!readsContent(client)) return false;
  client.options.intents = new IntentsBitField(client.options.intents)
    .remove(GatewayIntentBits.MessageContent)
    .freeze();
  logger.warn(
    'Discord refuses the Message Content intent: the bot reads only direct messages, messages that mention it or reply to it, and commands; switch the intent on in the developer portal and start again',
  );
  return true;
}

/** Requests as the library does, with checked answers [L5]. */
function usableRequest(placed: (channel: unknown) => unknown): typeof DefaultRestOptions.makeRequest {
  return async (url, init) => {
    const path = new URL(url).pathname.replace(/^.*?\/v\d+(?=\/)/u, '');
    const response = await DefaultRestOptions.makeRequest(url, init);
    const { headers } = response;
    const isWaitKnown = Number(headers.get('retry-after')) > 0 || headers.has('x-ratelimit-reset-after');
    if (response.status === 429 && !isWaitKnown) headers.set('retry-after', unsaidWait);
    if (!response.ok) return response;
    const read = response.json.bind(response);
    return Object.assign(response, {
      json: async () => {
        const answer = usableAnswer(init.method ?? 'GET', path, await read());
        return /^\/channels\/\d+$/u.test(path) ? placed(answer) : answer;
      },
    });
  };
}

/** Cloudflare's 429 names no time, and the library would retry at once; seconds. */
const unsaidWait = '60';

export function isConnected(client: Client): boolean {
  return client.isReady() && client.ws.shards.every(({ status }) => status === Status.Ready);
}

/** `undefined` before the first heartbeat. */
export function gatewayPing(client: Client): number | undefined {
  const { ping } = client.ws;
  return ping >= 0 ? ping : undefined;
}

/** @throws {GatewayError} for a bad token or an unreachable server. */
export async function fetchApplication(client: Client, token: string) {
  if (token.trim() === '') throw new GatewayError('token');
  try {
    client.rest.setToken(token);
    const application = await createDiscordApi(client).application();
    const { name } = application;
    const { flags }: Partial<Pick<APIApplication, 'flags'>> = application;
    // The limited one is for bots in fewer than 100 servers.
    const { GatewayMessageContent, GatewayMessageContentLimited } = ApplicationFlags;
    const isSwitchedOn = ((flags ?? 0) & (GatewayMessageContent | GatewayMessageContentLimited)) !== 0;
    return {
      ...applicationOf(application),
      name,
      readsContent: isSwitchedOn,
      botId: application.bot?.id ?? application.id,
    };
  } catch (error) {
    throw gatewayErrorOf(error);
  }
}

/** Only a team's owner owns the bot [G1]. */
export function applicationOf({ id, team, owner }: Pick<APIApplication, 'id' | 'team' | 'owner'>) {
  const ownerId = team?.owner_user_id ?? owner?.id;
  return { id, ownerIds: ownerId === undefined ? [] : [ownerId] };
}

/** Destroys the client on failure. @throws {GatewayError} or the reason of `stopping`. */
export async function logIn(
  client: Client,
  token: string,
  timeoutMs: number,
  stopping?: AbortSignal,
): Promise<void> {
  const finished = new AbortController();
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  const refused = once(client, Events.ShardDisconnect, { signal: finished.signal }).then(([{ code }]) => {
    throw gatewayErrorOfClose(code);
  });
  // It may reject after the login has failed, or never.
  refused.catch(() => undefined);
  const connected = client.login(token);
  try {
    const deadline = delay(timeoutMs, undefined, { signal: finished.signal }).then(() => {
      throw new GatewayError('timeout');
    });
    await unlessAborted(stopping, Promise.race([Promise.all([ready, connected]), refused, deadline]));
  } catch (error) {
    client.removeAllListeners(Events.ClientReady);
    await giveUp(client, connected);
    stopping?.throwIfAborted();
    throw gatewayErrorOf(error);
  } finally {
    finished.abort();
  }
}

/** Until the client knows the gateway's address, it cannot be stopped from connecting. */
async function giveUp(client: Client, connected: Promise<unknown>): Promise<void> {
  if (client.ws.gateway !== null) return client.destroy();
  void connected.catch(() => undefined).then(() => client.destroy());
}

/** All reject with `GatewayError`. */
export type DiscordCheckup = ReturnType<typeof createCheckup>;

/** Without the gateway, so beside a running bot too. `work` must not outlast it. */
export async function withDiscord<Result>(
  options: { readonly token: string; readonly apiUrl?: string | undefined; readonly logger: Logger },
  work: (discord: DiscordCheckup) => Promise<Result>,
): Promise<Result> {
  let aheadMs: number | undefined;
  const client = createDiscordClient({ ...options, onDate: (ms) => (aheadMs = ms) });
  try {
    return await work(createCheckup(client, options.token, () => aheadMs));
  } finally {
    await client.destroy();
  }
}

/** `aheadMs`: Discord's clock less ours, in milliseconds. */
function createCheckup(client: Client, token: string, aheadMs: () => number | undefined) {
  const api = createDiscordApi(client);
  return {
    /** To be called first: it sets the token. */
    application: () => fetchApplication(client, token),
    aheadMs,
    async recommendedShards(): Promise<number> {
      client.rest.setToken(token);
      return (await orTimeout(api.gateway())).shards;
    },
    /** Names of channels that take of what the server grants, with what; none where the server does not tell. */
    async denied(guildId: string, granted: bigint, botId: string): Promise<readonly string[]> {
      try {
        const roles = await api.rolesOf(guildId, botId);
        return (await api.guildChannels(guildId)).flatMap(
          ({ name, permission_overwrites: overwrites = [] }) => {
            const denied = deniedIn(overwrites, granted, [guildId, roles, botId]);
            return denied.length === 0 ? [] : [`#${name} (${denied.join(', ')})`];
          },
        );
      } catch {
        return [];
      }
    },
    async servers() {
      return (await orTimeout(api.ownGuilds())).map(({ id, name, permissions }) => {
        // Other servers than Discord may leave them out.
        if (!permissions) return { id, name, missing: undefined, isMute: false, granted: 0n };
        const granted = PermissionsBitField.resolve(BigInt(permissions));
        return { id, name, missing: missingPermissions(granted), isMute: lacksEssentials(granted), granted };
      });
    },
    async hasCommands(
      applicationId: string,
      definitions: readonly CommandDefinition[],
      menuNames: readonly string[],
    ): Promise<boolean> {
      const all = await orTimeout(api.registeredCommands(applicationId));
      const registered = all.filter((command) => !isEntryPoint(command));
      const expected = new Set(commandsToRegister(definitions, menuNames).map(({ name }) => name));
      return registered.length === expected.size && registered.every(({ name }) => expected.has(name));
    },
  };
}

function orTimeout<Answer>(request: Promise<Answer>): Promise<Answer> {
  return request.catch((error: unknown) => {
    throw gatewayErrorOf(error);
  });
}
