import { Snowflake } from '@sapphire/snowflake';

import type { RawFrame } from '../../../src/sandbox/gateway/gateway.ts';
import { findPerson, visibleMessage } from '../../../src/sandbox/people/references.ts';
import {
  startSandboxServer,
  type SandboxOptions,
  type SandboxServer,
} from '../../../src/sandbox/sandbox-server.ts';
import { SandboxError } from '../../../src/sandbox/world/world.ts';
import { createFaults, type ConnectionDrop, type Fault, type GatewayFault } from './faults.ts';
import { operatorCalls } from './operator.ts';
import { personCalls } from './person.ts';
import { createRequestLog } from './request-log.ts';
import { createRateLimits } from './rate-limits.ts';
import { refusalOf } from './rules.ts';

/** What the next client is sent that identifies: before READY, and after it but before its guilds. */
interface EarlyFrames {
  readonly beforeReady?: readonly RawFrame[];
  readonly beforeGuilds?: readonly RawFrame[];
}

export interface TestSandboxOptions extends Pick<
  SandboxOptions,
  'port' | 'token' | 'now' | 'shards' | 'sends'
> {
  /** Too many requests within a time are refused as Discord does; off if nothing is said. */
  readonly rateLimits?: boolean;
  /** Privileged intents that are switched off for the bot. */
  readonly disallowedIntents?: readonly ('messageContent' | 'guildMembers' | 'presences')[];
}

export type TestSandbox = Awaited<ReturnType<typeof startTestSandbox>>;

/**
 * The sandbox with what tests want of it besides: its operator, who changes guilds and rights, faults, a record of what the bot asked, and
 * Discord's rules for what a bot hands in.
 */
export async function startTestSandbox(options: TestSandboxOptions = {}) {
  const { now = () => new Date(), sends = (body: unknown) => body } = options;
  const faults = createFaults();
  const log = createRequestLog(now);
  const rateLimits = createRateLimits(now, options.rateLimits ?? false);
  let early: EarlyFrames = {};
  const server: SandboxServer = await startSandboxServer({
    port: options.port,
    token: options.token,
    now,
    shards: options.shards,
    sends: (body) => {
      if (typeof body === 'object' && body !== null) {
        const { beforeReady = [], beforeGuilds = [] } = early;
        if ('session_id' in body) for (const frame of beforeReady) server.gateway.sendRaw(frame);
        if ('joined_at' in body && 'channels' in body) {
          early = {};
          for (const frame of beforeGuilds) server.gateway.sendRaw(frame);
        }
      }
      return sends(body);
    },
    interception: {
      async meet(request) {
        log.add(request);
        const limit = rateLimits.take(request);
        if (limit?.answer !== undefined) return limit;
        const fault = await faults.meet(request);
        return fault ?? refusalOf(request) ?? limit;
      },
      answered: (request, status) => log.answered(request, status),
    },
    refuses: (step) => faults.refusal(step),
  });
  const { world, gateway } = server;
  for (const intent of options.disallowedIntents ?? [])
    world.application.privileged = { ...world.application.privileged, [intent]: false };
  const typing: { readonly channelId: string; readonly at: string }[] = [];
  const versions = new Map<string, { readonly at: string; readonly text: string }[]>();
  world.subscribe((event) => {
    if (event.type === 'typing-started')
      typing.push({ channelId: event.channel.id, at: event.at.toISOString() });
    if (!/^(?:message|ephemeral)-(?:created|edited)$/u.test(event.type) || !('message' in event)) return;
    const { id, text } = event.message;
    versions.set(id, [...(versions.get(id) ?? []), { at: now().toISOString(), text }]);
  });

  return {
    ...server,
    ...operatorCalls(world),
    ...personCalls(world, server),
    ...log.calls,
    /** What a message has said since it was posted, oldest first, also when it is deleted by now. */
    versions: async ({ message }: { readonly message: string }) => {
      const all = versions.get(message);
      if (all === undefined) throw new SandboxError(`There never was a message ${message}`);
      return [...all];
    },
    /** A file of a message, as a person who sees that downloads it. */
    file: async ({ as, message: id, name }: Readonly<Record<'as' | 'message' | 'name', string>>) => {
      const message = visibleMessage(world, findPerson(world, as), id);
      const found = message.attachments.find((file) => file.name === name);
      if (found === undefined) throw new SandboxError(`Message ${message.id} has no file ${name}`);
      return { name: found.name, base64: found.bytes.toString('base64') };
    },
    /** Where the bot has shown that it types, oldest first. */
    typingEvents: async () => [...typing],
    /** Of each client, oldest first. */
    sessions: async () =>
      Array.from(gateway.sessions.values(), ({ id, intents, shard, sequence, isConnected }) => ({
        id,
        intents,
        shard,
        sequence,
        isConnected,
      })),
    sendRaw: (frame: RawFrame) => gateway.sendRaw(frame),
    /** Sends something to the next client that identifies, sooner than Discord would. */
    sendEarly: (frames: EarlyFrames) => {
      early = frames;
    },
    /** Whether too many requests within a time are refused, as Discord does. */
    setRateLimits: async ({ on }: { readonly on: boolean }) => {
      rateLimits.isOn = on;
    },
    setFault: async (fault: Fault) => faults.add(fault),
    /** Makes the gateway refuse the next connections. */
    setGatewayFault: async (fault: GatewayFault) => faults.addToGateway(fault),
    clearFaults: async () => faults.clear(),
    /** Resolves with the number of connections that there were. */
    dropConnection: async (drop: ConnectionDrop = {}) => faults.drop(gateway, drop),
    /** Sends the MESSAGE_CREATE of a message a second time. */
    dispatchAgain: async ({ message: id }: { readonly message: string }) => {
      const message = [...world.messages.values()]
        .flat()
        .find((each) => Snowflake.compare(each.id, id) === 0);
      if (message === undefined) throw new SandboxError(`There is no message ${id}`);
      gateway.dispatch({ type: 'message-created', message });
    },
  };
}
