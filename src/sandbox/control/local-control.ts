import type { Gateway } from '../gateway/gateway.ts';
import { isInvalid } from '../rest/request-log.ts';
import type { RestContext } from '../rest/rest-context.ts';
import { channelView, commandView, personView } from './control-views.ts';
import { interactionCalls } from './interaction-calls.ts';
import { messageCalls } from './message-calls.ts';
import { messageView } from './message-view.ts';
import { matchingRequests, observedMessages, waitForReply } from './observation.ts';
import { operatorCalls } from './operator-calls.ts';
import { findChannel, findMessageById, findPerson } from './references.ts';
import { createControlCalls } from './sandbox-control.ts';
import { threadCalls } from './thread-calls.ts';

interface LocalControlParts extends Omit<RestContext, 'token' | 'urls' | 'gatewayFacts'> {
  readonly gateway: Gateway;
  /** The bot's typing, oldest first. `at` is ISO 8601, UTC. */
  readonly typing: readonly { readonly channelId: string; readonly at: string }[];
  readonly addresses: () => SandboxAddresses;
}

interface SandboxAddresses {
  /** The server itself; also where attachments are, below `/attachments`. */
  readonly url: string;
  /** What a Discord library takes as its API address. */
  readonly apiUrl: string;
  readonly gatewayUrl: string;
  readonly token: string;
}

/**
 * What people do in the sandbox, what an operator changes, and what a test wants to know: the same in the process and over
 * HTTP. Every method rejects with `SandboxError`, whose message says what is wrong.
 */
export type SandboxControl = ReturnType<typeof createLocalControl>['control'];
export type SandboxInfo = Awaited<ReturnType<SandboxControl['info']>>;

/** The control inside the process, and its methods by name for the HTTP routes; both check their input. */
export function createLocalControl(parts: LocalControlParts) {
  const { world, gateway, faults, cdnFaults, rateLimits, requests } = parts;
  const { define, calls } = createControlCalls();

  const control = {
    /** Where the sandbox is and who is in it: guilds, people (bots left out) and channels by name. */
    info: define('info', () => ({
      ...parts.addresses(),
      bot: personView(findPerson(world, world.botId)),
      /** The person, or the team's owner, whose bot it is. */
      owner: personView(findPerson(world, world.application.team?.ownerId ?? world.application.ownerId)),
      guilds: Object.fromEntries(Array.from(world.guilds.values(), ({ id, name }) => [name, id])),
      people: Object.fromEntries(
        [...world.users.values()].filter(({ bot }) => !bot).map(({ id, username }) => [username, id]),
      ),
      /** Threads included; of channels with the same name the newest. */
      channels: Object.fromEntries(
        [...world.channels.values()].flatMap((channel) =>
          channel.kind === 'dm' ? [] : [[channel.name, channel.id]],
        ),
      ),
    })),
    /** All channels, threads and open DMs. */
    channels: define('channels', () =>
      Array.from(world.channels.values(), (channel) => channelView(world, channel)),
    ),
    /** The commands that the bot has registered, menu entries included. */
    commands: define('commands', () => Array.from(world.commands.values(), commandView)),

    ...operatorCalls(define, world),
    ...threadCalls(define, world),
    openDm: define('openDm', (input) =>
      channelView(world, findChannel(world, 'dm', findPerson(world, input.person))),
    ),

    ...messageCalls(define, world),
    ...interactionCalls(define, world),

    /** Oldest first. */
    messages: define('messages', (input) =>
      observedMessages(world, input).map((message) => messageView(world, message)),
    ),
    /** The bot's first message in the channel that fits. */
    waitForReply: define('waitForReply', async (input) =>
      messageView(world, await waitForReply(world, input)),
    ),
    /** Where the bot has shown that it types, oldest first. */
    typingEvents: define('typingEvents', (input) => {
      const channelId = input.in === undefined ? undefined : findChannel(world, input.in).id;
      return parts.typing.filter((typing) => channelId === undefined || typing.channelId === channelId);
    }),
    /** How the bot shows itself. */
    presence: define('presence', () => world.bot.presence),
    /** What the bot asked of the API, oldest first. */
    requests: define('requests', (input) => matchingRequests(requests, input)),
    /** What counts against a bot at Discord: 401, 403, and 429 for a limit of its own. */
    invalidRequests: define('invalidRequests', () => {
      const found = requests.filter(isInvalid);
      return { count: found.length, requests: found };
    }),
    /** What was fetched from the CDN, oldest first. */
    downloads: define('downloads', () => [...parts.downloads]),
    /** Resolves when the connected client has received every event until now. */
    delivered: define('delivered', (input) => gateway.delivered(input.timeoutMs)),
    /** Of each client, with how many events it was sent. */
    sessions: define('sessions', () =>
      gateway.sessions.map(({ id, intents, shard, sequence, isConnected }) => ({
        id,
        intents,
        shard,
        sequence,
        isConnected,
      })),
    ),

    /** Whether too many requests within a time are refused, as Discord does. */
    setRateLimits: define('setRateLimits', ({ on }) => {
      rateLimits.isOn = on;
    }),
    setFault: define('setFault', (fault) => faults.add(fault)),
    /** Makes the CDN do something wrong with a file. */
    setCdnFault: define('setCdnFault', (fault) => cdnFaults.add(fault)),
    /** Makes the gateway refuse the next connections. */
    setGatewayFault: define('setGatewayFault', (fault) => gateway.faults.add(fault)),
    /** Those of the CDN and the gateway too. */
    clearFaults: define('clearFaults', () => {
      faults.clear();
      cdnFaults.clear();
      gateway.faults.clear();
    }),
    /** Resolves with the number of connections that there were. */
    dropConnection: define('dropConnection', ({ how, ...options }) => gateway.drop(how, options)),
    /** Sends the MESSAGE_CREATE of a message a second time. */
    dispatchAgain: define('dispatchAgain', (input) =>
      gateway.dispatch({ type: 'message-created', message: findMessageById(world, input.message) }),
    ),
  };
  return { control, calls };
}
