import { z } from 'zod';

import type { Download, RecordedRequest } from '../rest/request-log.ts';
import type { MessageVersion, Presence } from '../world/entities.ts';
import { controlInputs, type CheckedInput, type ControlInput, type ControlMethod } from './control-inputs.ts';
import type { ChannelView, CommandView, PersonView } from './control-views.ts';
import type { InteractionView, MessageView } from './message-view.ts';

/** Where the sandbox is and who is in it. */
export interface SandboxInfo {
  /** The server itself; also where attachments are, below `/attachments`. */
  readonly url: string;
  /** What a Discord library takes as its API address. */
  readonly apiUrl: string;
  readonly gatewayUrl: string;
  readonly token: string;
  readonly bot: PersonView;
  /** The person, or the team's owner, whose bot it is. */
  readonly owner: PersonView;
  /** Name → id. */
  readonly guilds: Readonly<Record<string, string>>;
  /** Name → id, bots left out. */
  readonly people: Readonly<Record<string, string>>;
  /** Name → id, threads included; of channels with the same name the newest. */
  readonly channels: Readonly<Record<string, string>>;
}

/** A client's session at the gateway. */
interface SessionView {
  readonly id: string;
  readonly intents: number;
  /** How many events it was sent. */
  readonly sequence: number;
  readonly isConnected: boolean;
}

/** A value that the bot offers for an option. */
interface ChoiceView {
  readonly name: string;
  readonly value: string | number;
}

export interface TypingView {
  readonly channelId: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/**
 * What people do in the sandbox, what an operator changes, and what a test wants to know: the same in the process and over
 * HTTP. Every method rejects with `SandboxError`, whose message says what is wrong.
 */
export interface SandboxControl {
  info(): Promise<SandboxInfo>;
  /** All channels, threads and open DMs. */
  channels(): Promise<readonly ChannelView[]>;
  /** The commands that the bot has registered, menu entries included. */
  commands(): Promise<readonly CommandView[]>;

  addPerson(input: ControlInput<'addPerson'>): Promise<PersonView>;
  /** A person who refuses DMs lets the bot run into error 50007. */
  closeDms(input: ControlInput<'closeDms'>): Promise<PersonView>;
  addGuild(input: ControlInput<'addGuild'>): Promise<{ readonly id: string; readonly name: string }>;
  /** Takes the bot out of a guild, as a kick does, or back into it. */
  setBotMembership(input: ControlInput<'setBotMembership'>): Promise<void>;
  /** Tells the bot that a guild has an outage, or that it is over. Its messages still come, as they may before the bot has heard of the end. */
  setGuildAvailability(input: ControlInput<'setGuildAvailability'>): Promise<void>;
  /** Creates a role or changes its permissions, and gives it to people. */
  setRole(input: ControlInput<'setRole'>): Promise<{ readonly id: string }>;
  /** Takes a role from people. */
  takeRole(input: ControlInput<'takeRole'>): Promise<void>;
  /** Deletes a role with its overwrites, and takes it from everybody. */
  deleteRole(input: ControlInput<'deleteRole'>): Promise<void>;
  /** Gives a guild an emoji of its own. */
  addEmoji(input: ControlInput<'addEmoji'>): Promise<{ readonly id: string; readonly name: string }>;
  addChannel(input: ControlInput<'addChannel'>): Promise<ChannelView>;
  setChannelPrivacy(input: ControlInput<'setChannelPrivacy'>): Promise<ChannelView>;
  /** Replaces what a person or a role may do in a channel besides what they may anyway. */
  setOverwrite(input: ControlInput<'setOverwrite'>): Promise<ChannelView>;
  /** Gives and takes permissions and leaves the others: of anybody in a channel, or of a role in the guild. */
  changePermissions(input: ControlInput<'changePermissions'>): Promise<void>;
  /** Deletes a channel of a guild or a thread. */
  deleteChannel(input: ControlInput<'deleteChannel'>): Promise<void>;
  /** Switches privileged intents of the bot on and off: identifying with one that is off is refused, and REST shows no content without it. */
  allowIntents(input: ControlInput<'allowIntents'>): Promise<void>;
  addThread(input: ControlInput<'addThread'>): Promise<ChannelView>;
  /** Opens a post of a forum; the answer is its first message, whose id is the post's too. */
  addPost(input: ControlInput<'addPost'>): Promise<MessageView>;
  /** Puts a thread away or opens it, locks or renames it. */
  alterThread(input: ControlInput<'alterThread'>): Promise<ChannelView>;
  setThreadMember(input: ControlInput<'setThreadMember'>): Promise<ChannelView>;
  openDm(input: ControlInput<'openDm'>): Promise<ChannelView>;

  /** Refused where the person could not write in Discord. */
  say(input: ControlInput<'say'>): Promise<MessageView>;
  showEmbeds(input: ControlInput<'showEmbeds'>): Promise<void>;
  edit(input: ControlInput<'edit'>): Promise<MessageView>;
  /** Also a message of the bot's, by a moderator. */
  delete(input: ControlInput<'delete'>): Promise<void>;
  /** All of one channel. */
  bulkDelete(input: ControlInput<'bulkDelete'>): Promise<void>;
  react(input: ControlInput<'react'>): Promise<void>;
  unreact(input: ControlInput<'unreact'>): Promise<void>;
  pin(input: ControlInput<'pin'>): Promise<void>;
  unpin(input: ControlInput<'unpin'>): Promise<void>;
  /** The one pinned last first. */
  pins(input: ControlInput<'pins'>): Promise<readonly MessageView[]>;
  vote(input: ControlInput<'vote'>): Promise<void>;
  /** What a message has said since it was posted, oldest first, also when it is deleted by now. */
  versions(input: ControlInput<'versions'>): Promise<readonly MessageVersion[]>;
  /** A person begins to type. */
  type(input: ControlInput<'type'>): Promise<void>;
  /** Gives a slash command that the bot has registered, and waits for its answer. */
  slash(input: ControlInput<'slash'>): Promise<InteractionView>;
  /** What the bot offers while a person types an option of a slash command. */
  complete(input: ControlInput<'complete'>): Promise<readonly ChoiceView[]>;
  /** Gives a command from the menu of a message or of a person, and waits for its answer. */
  menu(input: ControlInput<'menu'>): Promise<InteractionView>;
  /** Clicks a button, or chooses in a select, and waits for what comes of it. */
  click(input: ControlInput<'click'>): Promise<InteractionView>;
  /** How an interaction stands now. */
  interaction(input: ControlInput<'interaction'>): Promise<InteractionView>;

  /** Oldest first. */
  messages(input: ControlInput<'messages'>): Promise<readonly MessageView[]>;
  /** The bot's first message in the channel that fits. */
  waitForReply(input: ControlInput<'waitForReply'>): Promise<MessageView>;
  /** Where the bot has shown that it types, oldest first. */
  typingEvents(input?: ControlInput<'typingEvents'>): Promise<readonly TypingView[]>;
  /** How the bot shows itself. */
  presence(): Promise<Presence>;
  /** What the bot asked of the API, oldest first. */
  requests(input?: ControlInput<'requests'>): Promise<readonly RecordedRequest[]>;
  /** What counts against a bot at Discord: 401, 403, and 429 for a limit of its own. */
  invalidRequests(): Promise<{ readonly count: number; readonly requests: readonly RecordedRequest[] }>;
  /** What was fetched from the CDN, oldest first. */
  downloads(): Promise<readonly Download[]>;
  /** Resolves when the connected client has received every event until now. */
  delivered(input?: ControlInput<'delivered'>): Promise<void>;
  sessions(): Promise<readonly SessionView[]>;

  /** Whether too many requests within a time are refused, as Discord does. */
  setRateLimits(input: ControlInput<'setRateLimits'>): Promise<void>;
  setFault(input: ControlInput<'setFault'>): Promise<void>;
  /** Makes the CDN do something wrong with a file. */
  setCdnFault(input: ControlInput<'setCdnFault'>): Promise<void>;
  /** Those of the CDN too. */
  clearFaults(): Promise<void>;
  /** Resolves with the number of connections that there were. */
  dropConnection(input?: ControlInput<'dropConnection'>): Promise<number>;
  /** Sends the MESSAGE_CREATE of a message a second time. */
  dispatchAgain(input: ControlInput<'dispatchAgain'>): Promise<void>;
}

/** The sandbox was asked for something that it cannot do; the message says what and, where it helps, what there is. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** A method as HTTP calls it. */
export type ControlCall = (input?: unknown) => Promise<unknown>;

/** Makes a method of the control, which checks its input, out of what it does. */
export type DefineCall = <Method extends ControlMethod, Result>(
  name: Method,
  run: (input: CheckedInput<Method>) => Result | Promise<Result>,
) => (input?: unknown) => Promise<Result>;

const schemas: { readonly [Method in ControlMethod]: z.ZodType<CheckedInput<Method>> } = controlInputs;

/** Methods that check their input, and all that were defined, by name. */
export function createControlCalls(): {
  readonly define: DefineCall;
  readonly calls: ReadonlyMap<string, ControlCall>;
} {
  const calls = new Map<string, ControlCall>();
  const define: DefineCall = (name, run) => {
    const call = async (input?: unknown): Promise<Awaited<ReturnType<typeof run>>> => {
      const parsed = schemas[name].safeParse(input ?? {});
      if (parsed.success) return await run(parsed.data);
      throw new SandboxError(`${name}: ${z.prettifyError(parsed.error)}`);
    };
    calls.set(name, call);
    return call;
  };
  return { define, calls };
}
