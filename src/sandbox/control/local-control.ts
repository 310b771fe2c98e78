import { z } from 'zod';

import type { Gateway } from '../gateway/gateway.ts';
import type { Faults } from '../rest/faults.ts';
import type { RequestLog } from '../rest/request-log.ts';
import { createTextChannel, setPrivacy } from '../world/channels.ts';
import { failIfLate } from '../world/interactions.ts';
import { deleteMessage, deleteMessages } from '../world/messages.ts';
import { addMember, createGuild, setRole } from '../world/people.ts';
import type { World } from '../world/world.ts';
import { complete, menu, slash } from './command-actions.ts';
import { commandView } from './command-view.ts';
import { click } from './component-actions.ts';
import { controlInputs } from './control-inputs.ts';
import { channelView, interactionView, messageView, personView } from './control-views.ts';
import { outcomeOf } from './interaction-outcome.ts';
import { matchingRequests, observedMessages, waitForReply } from './observation.ts';
import { addPerson, addThread, deleteChannel, overwrite, permissionBits } from './operator-actions.ts';
import { edit, requireView, say } from './person-actions.ts';
import { findChannel, findGuild, findMessageById, findPerson, findTextChannel } from './references.ts';
import type { SandboxControl, SandboxInfo, TypingView } from './sandbox-control.ts';
import { SandboxError } from './sandbox-error.ts';

export interface LocalControlParts {
  readonly world: World;
  readonly gateway: Gateway;
  readonly faults: Faults;
  readonly requests: RequestLog;
  /** The bot's typing, oldest first. */
  readonly typing: readonly TypingView[];
  readonly addresses: () => Pick<SandboxInfo, 'url' | 'apiUrl' | 'gatewayUrl' | 'token'>;
}

/** A method as HTTP calls it. */
export type ControlCall = (input?: unknown) => Promise<unknown>;

/** The control inside the process, and its methods by name for the HTTP routes; both check their input. */
export function createLocalControl(parts: LocalControlParts): {
  readonly control: SandboxControl;
  readonly calls: ReadonlyMap<string, ControlCall>;
} {
  const { world, gateway, faults, requests } = parts;
  const calls = new Map<string, ControlCall>();

  function define<Schema extends z.ZodType, Result>(
    name: keyof SandboxControl,
    schema: Schema,
    run: (input: z.output<Schema>) => Result | Promise<Result>,
  ): (input?: unknown) => Promise<Result> {
    const call = async (input?: unknown): Promise<Result> => {
      const parsed = schema.safeParse(input ?? {});
      if (parsed.success) return await run(parsed.data);
      throw new SandboxError(`${name}: ${z.prettifyError(parsed.error)}`);
    };
    calls.set(name, call);
    return call;
  }
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
    addChannel: define('addChannel', controlInputs.addChannel, (input) => {
      const guildId = findGuild(world, input.guild).id;
      const onlyFor = input.private ? people(input.members) : undefined;
      return channelView(
        world,
        createTextChannel(world, { guildId, name: input.name.replace(/^#/, ''), onlyFor }),
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
    deleteChannel: define('deleteChannel', controlInputs.deleteChannel, (input) =>
      deleteChannel(world, input.channel),
    ),
    addThread: define('addThread', controlInputs.addThread, (input) =>
      channelView(world, addThread(world, input)),
    ),
    openDm: define('openDm', controlInputs.openDm, (input) =>
      channelView(world, findChannel(world, 'dm', findPerson(world, input.person))),
    ),

    say: define('say', controlInputs.say, (input) => messageView(world, say(world, input))),
    edit: define('edit', controlInputs.edit, (input) => messageView(world, edit(world, input))),
    delete: define('delete', controlInputs.delete, (input) => {
      const message = findMessageById(world, input.message);
      deleteMessage(world, message.channelId, message.id);
    }),
    bulkDelete: define('bulkDelete', controlInputs.bulkDelete, (input) => {
      const channelIds = new Set(input.messages.map((id) => findMessageById(world, id).channelId));
      const [channelId] = channelIds;
      if (channelId === undefined || channelIds.size > 1)
        throw new SandboxError('The messages are not of one channel');
      deleteMessages(world, channelId, input.messages);
    }),
    type: define('type', controlInputs.type, (input) => {
      const user = findPerson(world, input.as);
      const channel = findChannel(world, input.in, user);
      requireView(world, channel, user);
      world.emit({ type: 'typing-started', channel, userId: user.id, at: world.now() });
    }),
    slash: define('slash', controlInputs.slash, async (input) =>
      interactionView(world, await outcomeOf(world, slash(world, input), input)),
    ),
    complete: define('complete', controlInputs.complete, async (input) => {
      const wish = { until: 'answered', followUps: 0, timeoutMs: input.timeoutMs } as const;
      const { choices } = await outcomeOf(world, complete(world, input), wish);
      return choices.map(({ name, value }) => ({ name, value }));
    }),
    menu: define('menu', controlInputs.menu, async (input) =>
      interactionView(world, await outcomeOf(world, menu(world, input), input)),
    ),
    click: define('click', controlInputs.click, async (input) =>
      interactionView(world, await outcomeOf(world, click(world, input), input)),
    ),
    interaction: define('interaction', controlInputs.interaction, (input) => {
      const interaction = world.interactions.get(input.id);
      if (interaction === undefined) throw new SandboxError(`There is no interaction ${input.id}`);
      failIfLate(world, interaction);
      return interactionView(world, interaction);
    }),

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
    requests: define('requests', controlInputs.requests, (input) => matchingRequests(requests.all(), input)),
    delivered: define('delivered', controlInputs.delivered, (input) => gateway.delivered(input.timeoutMs)),
    sessions: define('sessions', controlInputs.nothing, () =>
      gateway.sessions.map(({ id, intents, sequence, isConnected }) => ({
        id,
        intents,
        sequence,
        isConnected,
      })),
    ),

    setFault: define('setFault', controlInputs.setFault, ({ route, times, after, ...fault }) =>
      faults.add({ fault, route, times, after }),
    ),
    clearFaults: define('clearFaults', controlInputs.nothing, () => faults.clear()),
    dropConnection: define('dropConnection', controlInputs.dropConnection, ({ how, ...options }) =>
      gateway.drop(how, options),
    ),
    dispatchAgain: define('dispatchAgain', controlInputs.dispatchAgain, (input) =>
      gateway.dispatch({ type: 'message-created', message: findMessageById(world, input.message) }),
    ),
  };
  return { control, calls };
}
