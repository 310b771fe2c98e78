import type { Gateway } from '../gateway/gateway.ts';
import type { RestContext } from '../rest/rest-context.ts';
import { channelView, commandView, personView } from './control-views.ts';
import { interactionCalls } from './interaction-calls.ts';
import { messageCalls } from './message-calls.ts';
import { messageView } from './message-view.ts';
import { matchingRequests, observedMessages, waitForReply } from './observation.ts';
import { operatorCalls } from './operator-calls.ts';
import { findChannel, findMessageById, findPerson } from './references.ts';
import {
  createControlCalls,
  type ControlCall,
  type SandboxControl,
  type SandboxInfo,
  type TypingView,
} from './sandbox-control.ts';
import { threadCalls } from './thread-calls.ts';

interface LocalControlParts extends Omit<RestContext, 'token' | 'urls'> {
  readonly gateway: Gateway;
  /** The bot's typing, oldest first. */
  readonly typing: readonly TypingView[];
  readonly addresses: () => Pick<SandboxInfo, 'url' | 'apiUrl' | 'gatewayUrl' | 'token'>;
}

/** The control inside the process, and its methods by name for the HTTP routes; both check their input. */
export function createLocalControl(parts: LocalControlParts): {
  readonly control: SandboxControl;
  readonly calls: ReadonlyMap<string, ControlCall>;
} {
  const { world, gateway, faults, cdnFaults, rateLimits, requests } = parts;
  const { define, calls } = createControlCalls();

  const control: SandboxControl = {
    info: define('info', () => ({
      ...parts.addresses(),
      bot: personView(findPerson(world, world.botId)),
      owner: personView(findPerson(world, world.application.team?.ownerId ?? world.application.ownerId)),
      guilds: Object.fromEntries(Array.from(world.guilds.values(), ({ id, name }) => [name, id])),
      people: Object.fromEntries(
        [...world.users.values()].filter(({ bot }) => !bot).map(({ id, username }) => [username, id]),
      ),
      channels: Object.fromEntries(
        [...world.channels.values()].flatMap((channel) =>
          channel.kind === 'dm' ? [] : [[channel.name, channel.id]],
        ),
      ),
    })),
    channels: define('channels', () =>
      Array.from(world.channels.values(), (channel) => channelView(world, channel)),
    ),
    commands: define('commands', () => Array.from(world.commands.values(), commandView)),

    ...operatorCalls(define, world),
    ...threadCalls(define, world),
    openDm: define('openDm', (input) =>
      channelView(world, findChannel(world, 'dm', findPerson(world, input.person))),
    ),

    ...messageCalls(define, world),
    ...interactionCalls(define, world),

    messages: define('messages', (input) =>
      observedMessages(world, input).map((message) => messageView(world, message)),
    ),
    waitForReply: define('waitForReply', async (input) =>
      messageView(world, await waitForReply(world, input)),
    ),
    typingEvents: define('typingEvents', (input) => {
      const channelId = input.in === undefined ? undefined : findChannel(world, input.in).id;
      return parts.typing.filter((typing) => channelId === undefined || typing.channelId === channelId);
    }),
    presence: define('presence', () => world.bot.presence),
    requests: define('requests', (input) => matchingRequests(requests.all(), input)),
    invalidRequests: define('invalidRequests', () => {
      const found = requests.invalid();
      return { count: found.length, requests: found };
    }),
    downloads: define('downloads', () => [...parts.downloads]),
    delivered: define('delivered', (input) => gateway.delivered(input.timeoutMs)),
    sessions: define('sessions', () =>
      gateway.sessions.map(({ id, intents, sequence, isConnected }) => ({
        id,
        intents,
        sequence,
        isConnected,
      })),
    ),

    setRateLimits: define('setRateLimits', ({ on }) => {
      rateLimits.isOn = on;
    }),
    setFault: define('setFault', (fault) => faults.add(fault)),
    setCdnFault: define('setCdnFault', (fault) => cdnFaults.add(fault)),
    clearFaults: define('clearFaults', () => {
      faults.clear();
      cdnFaults.clear();
    }),
    dropConnection: define('dropConnection', ({ how, ...options }) => gateway.drop(how, options)),
    dispatchAgain: define('dispatchAgain', (input) =>
      gateway.dispatch({ type: 'message-created', message: findMessageById(world, input.message) }),
    ),
  };
  return { control, calls };
}
