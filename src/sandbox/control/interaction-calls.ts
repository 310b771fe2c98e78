import { randomBytes } from 'node:crypto';

import {
  ApplicationCommandType,
  ButtonStyle,
  ComponentType,
  type APIButtonComponentWithCustomId,
  type APIStringSelectComponent,
} from 'discord-api-types/v10';

import type {
  Channel,
  Interaction,
  InteractionRequest,
  Message,
  MessageComponent,
  Modal,
  User,
} from '../world/entities.ts';
import { ageOf, createInteraction, failIfLate, firstResponseWithin } from '../world/interactions.ts';
import { channelOf, type World } from '../world/world.ts';
import type { CheckedInput } from './control-inputs.ts';
import { interactionView, modalView, type InteractionView } from './message-view.ts';
import { uploaded } from './message-calls.ts';
import { waitUntil } from './observation.ts';
import {
  findChannel,
  findMessageById,
  findPerson,
  requireRightToWrite,
  requireView,
  visibleMessage,
} from './references.ts';
import { SandboxError, type DefineCall } from './sandbox-control.ts';
import { halfTypedOptions, offeredCommand, requireRightToCommand, slashOptions } from './slash-command.ts';

/** How far an interaction is to be before its caller hears of it. */
type AwaitedOutcome = Pick<CheckedInput<'slash'>, 'until' | 'followUps' | 'timeoutMs'>;

/** What people ask of the bot other than by writing. */
export function interactionCalls(define: DefineCall, world: World) {
  const viewOf = async (interaction: Interaction, wish: AwaitedOutcome): Promise<InteractionView> =>
    interactionView(world, await outcomeOf(world, interaction, wish));
  return {
    /** Gives a slash command that the bot has registered, and waits for its answer. */
    slash: define('slash', (input) => viewOf(slash(world, input), input)),
    /** What the bot offers while a person types an option of a slash command. */
    complete: define('complete', async (input) => {
      const wish = { until: 'answered', followUps: 0, timeoutMs: input.timeoutMs } as const;
      const { choices } = await outcomeOf(world, complete(world, input), wish);
      return choices.map(({ name, value }) => ({ name, value }));
    }),
    /** Gives a command from the menu of a message, and waits for its answer. */
    menu: define('menu', (input) => viewOf(menu(world, input), input)),
    /** Clicks a button, or chooses in a select, and waits for what comes of it. */
    click: define('click', (input) => viewOf(click(world, input), input)),
    /** Sends off a modal that an interaction was answered with, and waits for what comes of it. */
    submit: define('submit', (input) => viewOf(submit(world, input), input)),
    /** The modals that are open for a person, oldest first. */
    modals: define('modals', (input) => {
      const user = findPerson(world, input.as);
      return [...world.interactions.values()].flatMap((interaction) =>
        interaction.modal === undefined || interaction.userId !== user.id || isSentOff(world, interaction)
          ? []
          : [{ interaction: interaction.id, ...modalView(interaction.modal) }],
      );
    }),
    /** How an interaction stands now. */
    interaction: define('interaction', (input) => {
      const interaction = world.interactions.get(input.id);
      if (interaction === undefined) throw new SandboxError(`There is no interaction ${input.id}`);
      failIfLate(world, interaction);
      return interactionView(world, interaction);
    }),
  };
}

/** A person gives a slash command. @throws {SandboxError} where Discord's client would not offer it. */
function slash(world: World, input: CheckedInput<'slash'>): Interaction {
  const { user, channel, command } = slashCommandOf(world, input);
  const attachments = input.attachments.map((file) => uploaded(world, file));
  const options = slashOptions(world, command, input.subcommand, input.options, attachments);
  return ask(world, channel, user, { kind: 'slash', command, options, attachments });
}

/** A person is typing an option whose values the bot completes. */
function complete(world: World, input: CheckedInput<'complete'>): Interaction {
  const { user, channel, command } = slashCommandOf(world, input);
  const options = halfTypedOptions(world, command, input);
  return ask(world, channel, user, { kind: 'complete', command, options });
}

/** A person gives a command from the menu of a message. */
function menu(world: World, input: CheckedInput<'menu'>): Interaction {
  const user = findPerson(world, input.as);
  const message = findMessageById(world, input.message);
  const channel = channelOf(world, message.channelId);
  requireView(world, channel, user);
  requireRightToCommand(world, channel, user);
  const command = offeredCommand(world, channel, user, ApplicationCommandType.Message, input.name);
  return ask(world, channel, user, { kind: 'message-menu', command, message });
}

/** Puts a request before the bot. */
function ask(world: World, channel: Channel, user: User, request: InteractionRequest): Interaction {
  const token = randomBytes(48).toString('base64url');
  return createInteraction(world, { channel, userId: user.id, request, token });
}

function slashCommandOf(world: World, input: CheckedInput<'slash' | 'complete'>) {
  const user = findPerson(world, input.as);
  const channel = findChannel(world, input.in, user);
  // A slash command is typed where messages are.
  requireRightToWrite(world, channel, user);
  requireRightToCommand(world, channel, user);
  const command = offeredCommand(world, channel, user, ApplicationCommandType.ChatInput, input.name);
  return { user, channel, command };
}

/** A person clicks a button, or chooses in a select. */
function click(world: World, input: CheckedInput<'click'>): Interaction {
  const user = findPerson(world, input.as);
  const message = visibleMessage(world, user, input.message);
  const channel = channelOf(world, message.channelId);
  const component = findComponent(message, input);
  if (component.disabled === true) throw new SandboxError(`${titleOfComponent(component)} is disabled`);
  if (!('custom_id' in component)) {
    throw new SandboxError(
      `${titleOfComponent(component)} opens ${component.url}; the bot hears nothing of it`,
    );
  }
  const values = chosenValues(component, input.values);
  return ask(world, channel, user, { kind: 'component', message, component, values });
}

/** A person sends off a modal that was opened for them. */
function submit(world: World, input: CheckedInput<'submit'>): Interaction {
  const user = findPerson(world, input.as);
  const openedBy = world.interactions.get(input.interaction);
  if (openedBy?.modal === undefined || openedBy.userId !== user.id)
    throw new SandboxError(`No modal is open for ${user.username} by interaction ${input.interaction}`);
  const { modal, request } = openedBy;
  if (isSentOff(world, openedBy))
    throw new SandboxError(`The modal ${JSON.stringify(modal.title)} was sent off already`);
  const channel = channelOf(world, openedBy.channelId);
  requireView(world, channel, user);
  const values = writtenValues(modal, input.values);
  return ask(world, channel, user, {
    kind: 'modal',
    modal,
    openedBy,
    values,
    message: request.kind === 'component' ? request.message : undefined,
  });
}

/** Where the bot lets the three seconds pass, the window stays open. */
function isSentOff(world: World, openedBy: Interaction): boolean {
  return [...world.interactions.values()].some(({ request, state }) => {
    return request.kind === 'modal' && request.openedBy === openedBy && state !== 'failed';
  });
}

/** What stands in each field when it is sent off. */
function writtenValues(
  { title, fields }: Modal,
  written: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const values = new Map(fields.map(({ customId, value }) => [customId, value]));
  for (const [name, value] of Object.entries(written)) {
    const field = fields.find(({ customId, label }) => customId === name || label === name);
    if (field === undefined) {
      const labels = fields.map(({ label }) => label).join(', ');
      throw new SandboxError(`The modal ${JSON.stringify(title)} has the fields ${labels}, not ${name}`);
    }
    values.set(field.customId, value);
  }
  for (const { customId, label, style, isRequired, minLength, maxLength } of fields) {
    const value = values.get(customId) ?? '';
    if (value === '' && isRequired) throw new SandboxError(`${label} must be filled in`);
    if (value !== '' && (value.length < minLength || value.length > maxLength))
      throw new SandboxError(`${label} takes ${minLength} to ${maxLength} characters, not ${value.length}`);
    if (style === 'short' && /[\n\r]/u.test(value)) throw new SandboxError(`${label} has one line`);
  }
  return values;
}

function findComponent(message: Message, input: CheckedInput<'click'>): MessageComponent {
  const components = message.components.flatMap((row) => row.components);
  const { customId, label } = input;
  const found = components.find((component) =>
    customId === undefined
      ? labelsOf(component).includes(label ?? '')
      : 'custom_id' in component && component.custom_id === customId,
  );
  if (found !== undefined) return found;
  const titles = components.map(titleOfComponent).join(', ');
  throw new SandboxError(
    `Message ${message.id} has no component ${JSON.stringify(customId ?? label)} (it has: ${titles || 'none'})`,
  );
}

function chosenValues(
  component: APIButtonComponentWithCustomId | APIStringSelectComponent,
  values: readonly string[] | undefined,
): readonly string[] {
  const title = titleOfComponent(component);
  if (component.type === ComponentType.Button) {
    if (values === undefined) return [];
    throw new SandboxError(`${title} is a button: there is nothing to choose`);
  }
  const chosen = values ?? [];
  const offered = component.options.map(({ value }) => value);
  const unknown = chosen.filter((value) => !offered.includes(value));
  if (unknown.length > 0 || new Set(chosen).size < chosen.length) {
    throw new SandboxError(`${title} offers ${offered.join(', ')}, each once`);
  }
  const least = component.min_values ?? 1;
  const most = component.max_values ?? 1;
  if (chosen.length < least || chosen.length > most) {
    throw new SandboxError(`${title} takes ${least} to ${most} values, not ${chosen.length}`);
  }
  return chosen;
}

/** By what a person can name a component: label, emoji, placeholder. */
function labelsOf(component: MessageComponent): readonly string[] {
  const faces =
    component.type === ComponentType.Button
      ? [component.label, component.emoji?.name]
      : [component.placeholder];
  return faces.flatMap((face) => face ?? []);
}

function titleOfComponent(component: MessageComponent): string {
  const face = labelsOf(component)[0];
  const kind = component.type === ComponentType.StringSelect ? 'The select' : 'The button';
  const link = component.type === ComponentType.Button && component.style === ButtonStyle.Link;
  const name = face ?? ('custom_id' in component ? component.custom_id : '');
  return `${kind} [${name}]${link ? ' (a link)' : ''}`;
}

/**
 * Resolves with the interaction when it is as far as wished.
 * @throws {SandboxError} when the bot lets the three seconds for its first response pass, or the wish does not come true in time.
 */
export async function outcomeOf(
  world: World,
  interaction: Interaction,
  wish: AwaitedOutcome,
): Promise<Interaction> {
  const title = titleOfRequest(interaction.request);
  let deadline: NodeJS.Timeout | undefined;
  // The world's clock may be behind the timer's.
  const watch = (): void => {
    failIfLate(world, interaction);
    const rest = Math.max(0, firstResponseWithin - ageOf(world, interaction)) + 1;
    if (interaction.state === 'waiting') deadline = setTimeout(watch, rest);
  };
  watch();
  try {
    await waitUntil(world, {
      check: () => (isAsWished(interaction, wish) ? interaction : undefined),
      timeoutMs: wish.timeoutMs,
      what: () =>
        `the answer to ${title}, which is ${interaction.state} with ${interaction.followUps.length} follow-ups`,
    });
  } finally {
    clearTimeout(deadline);
  }
  if (interaction.state === 'failed') {
    throw new SandboxError(`The bot did not respond to ${title} within three seconds`);
  }
  return interaction;
}

function isAsWished({ state, followUps }: Interaction, wish: AwaitedOutcome): boolean {
  switch (state) {
    case 'waiting':
      return false;
    case 'failed':
      return true;
    case 'deferred':
      return wish.until === 'acknowledged' && followUps.length >= wish.followUps;
    case 'answered':
      return followUps.length >= wish.followUps;
  }
}

function titleOfRequest(request: InteractionRequest): string {
  switch (request.kind) {
    case 'slash':
      return `/${request.command.name}`;
    case 'complete':
      return `half a /${request.command.name}`;
    case 'message-menu':
      return JSON.stringify(request.command.name);
    case 'component':
      return `a click on ${request.component.custom_id}`;
    case 'modal':
      return `the modal ${JSON.stringify(request.modal.title)}`;
  }
}
