import type { Gateway } from '../gateway/gateway.ts';
import type { CdnFaults, Download } from '../rest/cdn-faults.ts';
import type { Faults } from '../rest/faults.ts';
import type { RateLimits } from '../rest/rate-limits.ts';
import type { RequestLog } from '../rest/request-log.ts';
import { createTextChannel, setPrivacy } from '../world/channels.ts';
import { addEmoji } from '../world/emojis.ts';
import { addMember, createGuild, setRole } from '../world/people.ts';
import type { World } from '../world/world.ts';
import { commandView } from './command-view.ts';
import { createControlCalls } from './control-calls.ts';
import type { ControlCall } from './control-calls.ts';
import { controlInputs } from './control-inputs.ts';
import { channelView, messageView, personView } from './control-views.ts';
import { interactionCalls } from './interaction-calls.ts';
import { messageCalls } from './message-calls.ts';
import { matchingRequests, observedMessages, waitForReply } from './observation.ts';
import {
  addPerson,
  changePermissions,
  deleteChannel,
  overwrite,
  permissionBits,
} from './operator-actions.ts';
import { findChannel, findGuild, findMessageById, findPerson, findTextChannel } from './references.ts';
import type { SandboxControl, SandboxInfo, TypingView } from './sandbox-control.ts';
import { threadCalls } from './thread-calls.ts';

export interface LocalControlParts {
  readonly world: World;
  readonly gateway: Gateway;
  readonly faults: Faults;
  readonly cdnFaults: CdnFaults;
  readonly rateLimits: RateLimits;
  readonly requests: RequestLog;
  /** What was fetched from the CDN, oldest first. */
  readonly downloads: readonly Download[];
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
  const people = (references: readonly string[]): readonly string[] =>
    references.map((reference) => findPerson(world, reference).id);

  const control: SandboxControl = {
    info: define('info', controlInputs.nothing, () => ({
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
    channels: define('channels', controlInputs.nothing, () =>
      Array.from(world.channels.values(), (channel) => channelView(world, channel)),
    ),
    commands: define('commands', controlInputs.nothing, () =>
      Array.from(world.commands.values(), commandView),
    ),

    addPerson: define('addPerson', controlInputs.addPerson, (input) => personView(addPerson(world, input))),
    closeDms: define('closeDms', controlInputs.closeDms, (input) => {
      const person = findPerson(world, input.person);
      person.closedDms = input.closed;
      return personView(person);
    }),
    addGuild: define('addGuild', controlInputs.addGuild, (input) => {
      const members = people(input.members);
      const guild = createGuild(world, { name: input.name, ownerId: findPerson(world, input.owner).id });
      for (const id of members) addMember(world, guild.id, id);
      return { id: guild.id, name: guild.name };
    }),
    setRole: define('setRole', controlInputs.setRole, (input) => {
      const permissions = permissionBits(input.permissions);
      const role = { name: input.name, permissions, userIds: people(input.people) };
      return { id: setRole(world, findGuild(world, input.guild), role).id };
    }),
    addEmoji: define('addEmoji', controlInputs.addEmoji, (input) =>
      addEmoji(world, findGuild(world, input.guild), input.name),
    ),
    addChannel: define('addChannel', controlInputs.addChannel, (input) => {
      const guildId = findGuild(world, input.guild).id;
      const onlyFor = input.private ? people(input.members) : undefined;
      return channelView(
        world,
        createTextChannel(world, {
          guildId,
          name: input.name.replace(/^#/, ''),
          isForum: input.forum,
          onlyFor,
        }),
      );
    }),
    setChannelPrivacy: define('setChannelPrivacy', controlInputs.setChannelPrivacy, (input) => {
      const channel = findTextChannel(world, input.channel);
      setPrivacy(world, channel, input.private ? people(input.members) : undefined);
      return channelView(world, channel);
    }),
    setOverwrite: define('setOverwrite', controlInputs.setOverwrite, (input) =>
      channelView(world, overwrite(world, input)),
    ),
    changePermissions: define('changePermissions', controlInputs.changePermissions, (input) =>
      changePermissions(world, input),
    ),
    deleteChannel: define('deleteChannel', controlInputs.deleteChannel, (input) =>
      deleteChannel(world, input.channel),
    ),
    ...threadCalls(define, world),
    openDm: define('openDm', controlInputs.openDm, (input) =>
      channelView(world, findChannel(world, 'dm', findPerson(world, input.person))),
    ),

    ...messageCalls(define, world),
    ...interactionCalls(define, world),

    messages: define('messages', controlInputs.messages, (input) =>
      observedMessages(world, input).map((message) => messageView(world, message)),
    ),
    waitForReply: define('waitForReply', controlInputs.waitForReply, async (input) =>
      messageView(world, await waitForReply(world, input)),
    ),
    typingEvents: define('typingEvents', controlInputs.typingEvents, (input) => {
      const channelId = input.in === undefined ? undefined : findChannel(world, input.in).id;
      return parts.typing.filter((typing) => channelId === undefined || typing.channelId === channelId);
    }),
    presence: define('presence', controlInputs.nothing, () => world.bot.presence),
    requests: define('requests', controlInputs.requests, (input) => matchingRequests(requests.all(), input)),
    invalidRequests: define('invalidRequests', controlInputs.nothing, () => {
      const found = requests.invalid();
      return { count: found.length, requests: found };
    }),
    downloads: define('downloads', controlInputs.nothing, () => [...parts.downloads]),
    delivered: define('delivered', controlInputs.delivered, (input) => gateway.delivered(input.timeoutMs)),
    sessions: define('sessions', controlInputs.nothing, () =>
      gateway.sessions.map(({ id, intents, sequence, isConnected }) => ({
        id,
        intents,
        sequence,
        isConnected,
      })),
    ),

    setRateLimits: define('setRateLimits', controlInputs.setRateLimits, ({ on }) => {
      rateLimits.isOn = on;
    }),
    setFault: define('setFault', controlInputs.setFault, ({ route, times, after, ...fault }) =>
      faults.add({ fault, route, times, after }),
    ),
    setCdnFault: define('setCdnFault', controlInputs.setCdnFault, ({ file, times, ...fault }) =>
      cdnFaults.add({ fault, file, times }),
    ),
    clearFaults: define('clearFaults', controlInputs.nothing, () => {
      faults.clear();
      cdnFaults.clear();
    }),
    dropConnection: define('dropConnection', controlInputs.dropConnection, ({ how, ...options }) =>
      gateway.drop(how, options),
    ),
    dispatchAgain: define('dispatchAgain', controlInputs.dispatchAgain, (input) =>
      gateway.dispatch({ type: 'message-created', message: findMessageById(world, input.message) }),
    ),
  };
  return { control, calls };
}
