import { randomBytes } from 'node:crypto';

import { ApplicationCommandType, ComponentType } from 'discord-api-types/v10';

import { uploaded, type Upload } from '../world/attachments.ts';
import type {
  Channel,
  Interaction,
  InteractionRequest,
  Message,
  MessageComponent,
  User,
} from '../world/entities.ts';
import { ageOf, createInteraction, failIfLate, firstResponseWithin } from '../world/interactions.ts';
import { channelOf, SandboxError, type World } from '../world/world.ts';
import {
  findChannel,
  findMessageById,
  findPerson,
  requireRightToWrite,
  requireView,
  visibleMessage,
} from './references.ts';
import { offeredCommand, slashOptions, type OptionValues } from './slash-command.ts';
import { interactionView, type InteractionView } from './views.ts';

/** Long, since the machine may be busy: this ends a wait in vain, and says nothing about how fast a bot is. */
export const defaultTimeoutMs = 60_000;

/** How far an interaction is to be before its caller hears of it. */
export interface AwaitedOutcome {
  /** The bot's first sign, or a whole answer; that if not said. */
  readonly until?: 'acknowledged' | 'answered';
  /** Waits for so many follow-ups too. */
  readonly followUps?: number;
  readonly timeoutMs?: number;
}

/** A slash command as a person gives it. */
interface SlashInput {
  readonly as: string;
  readonly in: string;
  readonly name: string;
  readonly subcommand?: string | undefined;
  readonly options?: OptionValues;
  readonly attachments?: readonly Upload[];
}

interface MenuInput {
  readonly as: string;
  readonly name: string;
  /** The id of the message that it is given on. */
  readonly message: string;
}

/** What is clicked: a component by its id, or by what a person reads on it. */
interface ClickInput {
  readonly as: string;
  /** The id of a message that the person sees, also of one that nobody else does. */
  readonly message: string;
  readonly customId?: string;
  /** A button's label or emoji, or a select's placeholder. */
  readonly label?: string;
  /** What is chosen in a select, by value. */
  readonly values?: readonly string[];
}

/** What people ask of the bot other than by writing; each method waits for what comes of it. */
export function interactionsOf(world: World) {
  const viewOf = async (interaction: Interaction, wish: AwaitedOutcome): Promise<InteractionView> =>
    interactionView(world, await outcomeOf(world, interaction, wish));
  return {
    /** Gives a slash command that the bot has registered. */
    slash: async (input: SlashInput & AwaitedOutcome) => viewOf(slash(world, input), input),
    /** Gives a command from the menu of a message. */
    menu: async (input: MenuInput & AwaitedOutcome) => viewOf(menu(world, input), input),
    /** Clicks a button, or chooses in a select. */
    click: async (input: ClickInput & AwaitedOutcome) => viewOf(click(world, input), input),
  };
}

/** A person gives a slash command. @throws {SandboxError} where Discord's client would not offer it. */
function slash(world: World, input: SlashInput): Interaction {
  const { user, channel, command } = slashCommandOf(world, input);
  const attachments = (input.attachments ?? []).map((file) => uploaded(world, file));
  const options = slashOptions(world, command, input.subcommand, input.options ?? {}, attachments);
  return ask(world, channel, user, { kind: 'slash', command, options, attachments });
}

/** Who gives which command where. @throws {SandboxError} where Discord's client would not offer it. */
export function slashCommandOf(world: World, input: Pick<SlashInput, 'as' | 'in' | 'name'>) {
  const user = findPerson(world, input.as);
  const channel = findChannel(world, input.in, user);
  // A slash command is typed where messages are.
  requireRightToWrite(world, channel, user);
  const command = offeredCommand(world, channel, user, ApplicationCommandType.ChatInput, input.name);
  return { user, channel, command };
}

/** A person gives a command from the menu of a message. */
function menu(world: World, input: MenuInput): Interaction {
  const user = findPerson(world, input.as);
  const message = findMessageById(world, input.message);
  const channel = channelOf(world, message.channelId);
  requireView(world, channel, user);
  const command = offeredCommand(world, channel, user, ApplicationCommandType.Message, input.name);
  return ask(world, channel, user, { kind: 'message-menu', command, message });
}

/** A person clicks a button, or chooses in a select. */
function click(world: World, input: ClickInput): Interaction {
  const user = findPerson(world, input.as);
  const message = visibleMessage(world, user, input.message);
  const component = findComponent(message, input);
  const title = faceOf(component);
  if (component.disabled === true) throw new SandboxError(`[${title}] is disabled`);
  if (!('custom_id' in component))
    throw new SandboxError(`[${title}] opens ${component.url}; the bot hears nothing of it`);
  const { values = [] } = input;
  const offered = 'options' in component ? component.options.map(({ value }) => value) : [];
  if (values.some((value) => !offered.includes(value)))
    throw new SandboxError(`[${title}] offers ${offered.join(', ') || 'nothing to choose'}`);
  const channel = channelOf(world, message.channelId);
  return ask(world, channel, user, { kind: 'component', message, component, values });
}

function findComponent(message: Message, { customId, label }: ClickInput): MessageComponent {
  const components = message.components.flatMap((row) => row.components);
  const found = components.find((component) =>
    customId === undefined
      ? label !== undefined && facesOf(component).includes(label)
      : 'custom_id' in component && component.custom_id === customId,
  );
  if (found !== undefined) return found;
  const there = components.map((component) => `[${faceOf(component)}]`).join(', ') || 'none';
  throw new SandboxError(
    `Message ${message.id} has no component ${JSON.stringify(customId ?? label)} (it has: ${there})`,
  );
}

/** By what a person can name a component: label, emoji, placeholder. */
function facesOf(component: MessageComponent): readonly string[] {
  const faces =
    component.type === ComponentType.Button
      ? [component.label, component.emoji?.name]
      : [component.placeholder];
  return faces.flatMap((face) => face ?? []);
}

function faceOf(component: MessageComponent): string {
  return facesOf(component)[0] ?? ('custom_id' in component ? component.custom_id : '');
}

/** Puts a request before the bot. */
export function ask(world: World, channel: Channel, user: User, request: InteractionRequest): Interaction {
  const token = randomBytes(48).toString('base64url');
  return createInteraction(world, { channel, userId: user.id, request, token });
}

/**
 * Resolves with the interaction when it is as far as wished.
 * @throws {SandboxError} when the bot lets the three seconds for its first response pass, or the wish does not come true in time.
 */
export async function outcomeOf(
  world: World,
  interaction: Interaction,
  { until = 'answered', followUps = 0, timeoutMs }: AwaitedOutcome,
): Promise<Interaction> {
  const { request } = interaction;
  const title = 'command' in request ? `/${request.command.name}` : `the ${request.kind}`;
  let deadline: NodeJS.Timeout | undefined;
  // The world's clock may be behind the timer's.
  const watch = (): void => {
    failIfLate(world, interaction);
    const rest = Math.max(0, firstResponseWithin - ageOf(world, interaction)) + 1;
    if (interaction.state === 'waiting') deadline = setTimeout(watch, rest);
  };
  watch();
  const isReached = (): boolean =>
    interaction.state === 'failed' ||
    (interaction.followUps.length >= followUps &&
      (interaction.state === 'answered' || (interaction.state === 'deferred' && until === 'acknowledged')));
  try {
    const what = () => `the answer to ${title}, which is ${interaction.state}`;
    await waitUntil(world, isReached, what, timeoutMs);
  } finally {
    clearTimeout(deadline);
  }
  if (interaction.state === 'failed')
    throw new SandboxError(`The bot did not respond to ${title} within three seconds`);
  return interaction;
}

/**
 * Resolves once `isSo`, which is asked at once and after every event.
 * @throws {SandboxError} after `timeoutMs`, with `what` there was to wait for.
 */
async function waitUntil(
  world: World,
  isSo: () => boolean,
  what: () => string,
  timeoutMs = defaultTimeoutMs,
): Promise<void> {
  if (isSo()) return;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      unsubscribe();
    };
    const unsubscribe = world.subscribe(() => {
      if (!isSo()) return;
      stop();
      resolve();
    });
    const timer = setTimeout(() => {
      stop();
      reject(new SandboxError(`Waited ${timeoutMs} ms in vain for ${what()}`));
    }, timeoutMs);
  });
}
