import { ButtonStyle, ComponentType } from 'discord-api-types/v10';
import type { APIButtonComponentWithCustomId, APIStringSelectComponent } from 'discord-api-types/v10';

import type { Interaction, Message, MessageComponent, User } from '../world/entities.ts';
import { findMessageAnywhere } from '../world/messages.ts';
import { channelOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { ask } from './command-actions.ts';
import { requireView } from './rights.ts';
import { findPerson } from './references.ts';
import { SandboxError } from './sandbox-error.ts';

export interface Click {
  readonly as: string;
  readonly message: string;
  readonly customId?: string | undefined;
  readonly label?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

/** A person clicks a button, or chooses in a select. @throws {SandboxError} where Discord's client would not let them. */
export function click(world: World, input: Click): Interaction {
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

/** A message that the person sees, be it only they. @throws {SandboxError} */
function visibleMessage(world: World, user: User, id: string): Message {
  const ephemeral = world.ephemerals.get(id);
  if (ephemeral !== undefined && ephemeral.viewerId !== user.id) {
    throw new SandboxError(`${user.username} does not see message ${id}: it is for somebody else alone`);
  }
  const message = ephemeral?.message ?? findMessageAnywhere(world, id);
  if (message === undefined) throw new SandboxError(`There is no message ${id}`);
  requireView(world, channelOf(world, message.channelId), user);
  return message;
}

function findComponent(message: Message, input: Click): MessageComponent {
  const components = message.components.flatMap((row) => row.components);
  const { customId, label } = input;
  const found = components.find((component) =>
    customId === undefined
      ? facesOf(component).includes(label ?? '')
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
function facesOf(component: MessageComponent): readonly string[] {
  const faces =
    component.type === ComponentType.Button
      ? [component.label, component.emoji?.name]
      : [component.placeholder];
  return faces.flatMap((face) => face ?? []);
}

function titleOfComponent(component: MessageComponent): string {
  const face = facesOf(component)[0];
  const kind = component.type === ComponentType.StringSelect ? 'The select' : 'The button';
  const link = component.type === ComponentType.Button && component.style === ButtonStyle.Link;
  const name = face ?? ('custom_id' in component ? component.custom_id : '');
  return `${kind} [${name}]${link ? ' (a link)' : ''}`;
}
