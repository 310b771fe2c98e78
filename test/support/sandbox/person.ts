import type { APIEmbed } from 'discord-api-types/v10';

import {
  ask,
  defaultTimeoutMs,
  outcomeOf,
  slashCommandOf,
  type AwaitedOutcome,
} from '../../../src/sandbox/people/interactions.ts';
import {
  findChannel,
  findMessageById,
  findPerson,
  requireOpen,
  requirePermission,
  requireView,
} from '../../../src/sandbox/people/references.ts';
import { filledIn, inSubcommand, type OptionValues } from '../../../src/sandbox/people/slash-command.ts';
import { interactionView, type MessageView } from '../../../src/sandbox/people/views.ts';
import type { SandboxServer } from '../../../src/sandbox/sandbox-server.ts';
import type { Modal } from '../../../src/sandbox/world/entities.ts';
import { failIfLate } from '../../../src/sandbox/world/interactions.ts';
import { deleteMessages, knownEmoji, setReaction } from '../../../src/sandbox/world/messages.ts';
import { channelOf, SandboxError, type World } from '../../../src/sandbox/world/world.ts';

interface AwaitedReply {
  readonly in: string;
  /** The id of a message; the newest one that is not the bot's if not said. */
  readonly after?: string;
  /** The reply, perhaps only after an edit, contains this text. */
  readonly containing?: string;
  /** The bot has neither posted nor edited in the channel for so long. */
  readonly settleMs?: number;
  readonly timeoutMs?: number;
}

interface HalfTyped {
  readonly as: string;
  readonly in: string;
  readonly name: string;
  readonly subcommand?: string;
  /** The others, as far as they are filled in. */
  readonly options?: OptionValues;
  /** The option that is being typed. */
  readonly option: string;
  readonly value?: string;
  readonly timeoutMs?: number;
}

/** What people do and see besides what the terminal lets them. */
export function personCalls(world: World, sandbox: Pick<SandboxServer, 'messages'>) {
  return {
    /** The bot's first message in the channel that fits. */
    waitForReply: async (wish: AwaitedReply) => waitForReply(world, sandbox, wish),
    /** What the bot offers while a person types an option of a slash command. */
    complete: async ({ timeoutMs, ...input }: HalfTyped) => {
      const { user, channel, command } = slashCommandOf(world, input);
      const options = inSubcommand(command, input.subcommand, (title, registered) => {
        const focused = registered.find(({ name }) => name === input.option);
        if (focused === undefined || !('autocomplete' in focused && focused.autocomplete === true))
          throw new SandboxError(`${title} does not complete ${input.option}`);
        const { name, type } = focused;
        const typed = { name, type, value: input.value ?? '', focused: true as const };
        return [...filledIn(world, title, registered, input.options ?? {}, []), typed];
      });
      const interaction = ask(world, channel, user, { kind: 'complete', command, options });
      const { choices } = await outcomeOf(world, interaction, { timeoutMs });
      return choices.map(({ name, value }) => ({ name, value }));
    },
    /** Sends off a modal that an interaction was answered with: fields by custom id or label, others keep what stands in them. */
    submit: async (
      input: AwaitedOutcome & {
        readonly as: string;
        readonly interaction: string;
        readonly values?: Readonly<Record<string, string>>;
      },
    ) => {
      const user = findPerson(world, input.as);
      const openedBy = world.interactions.get(input.interaction);
      if (openedBy?.modal === undefined || openedBy.userId !== user.id)
        throw new SandboxError(`No modal is open for ${user.username} by interaction ${input.interaction}`);
      const { modal, request } = openedBy;
      const values = writtenValues(modal, input.values ?? {});
      const message = request.kind === 'component' ? request.message : undefined;
      const channel = channelOf(world, openedBy.channelId);
      const submitted = ask(world, channel, user, { kind: 'modal', modal, openedBy, values, message });
      return interactionView(world, await outcomeOf(world, submitted, input));
    },
    react: async (reaction: Reaction) => react(world, reaction),
    /** How an interaction stands now. */
    interaction: async ({ id }: { readonly id: string }) => {
      const interaction = world.interactions.get(id);
      if (interaction === undefined) throw new SandboxError(`There is no interaction ${id}`);
      failIfLate(world, interaction);
      return interactionView(world, interaction);
    },
    /** Deletes messages of one channel at once, as a moderator's bot does. */
    bulkDelete: async ({ messages }: { readonly messages: readonly string[] }) => {
      const found = messages.map((id) => findMessageById(world, id));
      const [first] = found;
      if (first !== undefined) deleteMessages(world, first.channelId, found, true);
    },
    /** Cards that Discord shows under a message of its own accord, such as the preview of a link: no edit. */
    showEmbeds: async ({
      message: id,
      embeds,
    }: {
      readonly message: string;
      readonly embeds: APIEmbed[];
    }) => {
      const message = findMessageById(world, id);
      message.embeds = embeds;
      world.emit({ type: 'message-edited', message });
    },
  };
}

interface Reaction {
  readonly as: string;
  readonly message: string;
  readonly emoji: string;
  /** Not present: takes the reaction back. */
  readonly present?: boolean;
}

/** Puts a person's reaction under a message, or takes it back. @throws {SandboxError} where they could not in Discord. */
function react(world: World, { present = true, ...input }: Reaction): void {
  const user = findPerson(world, input.as);
  const message = findMessageById(world, input.message);
  const channel = channelOf(world, message.channelId);
  requireView(world, channel, user);
  requireOpen(world, channel, user);
  const emoji = knownEmoji(input.emoji);
  if (emoji === undefined) throw new SandboxError(`${JSON.stringify(input.emoji)} is not an emoji`);
  if (present && !message.reactions.has(emoji)) requirePermission(world, channel, user, 'AddReactions');
  setReaction(world, message, { userId: user.id, emoji, present });
}

/** What stands in each field when it is sent off. @throws {SandboxError} for what Discord's client would not send. */
function writtenValues(
  { title, components }: Modal,
  written: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const values = new Map(components.map(({ component }) => [component.custom_id, component.value ?? '']));
  for (const [name, value] of Object.entries(written)) {
    const field = components.find(({ component, label }) => component.custom_id === name || label === name);
    if (field === undefined)
      throw new SandboxError(`The modal ${JSON.stringify(title)} has no field ${name}`);
    values.set(field.component.custom_id, value);
  }
  for (const { label, component } of components) {
    const { custom_id: id, required = true, min_length: least = 0, max_length: most = 4000 } = component;
    const value = values.get(id) ?? '';
    if (value === '' && required) throw new SandboxError(`${label} must be filled in`);
    if (value !== '' && (value.length < least || value.length > most))
      throw new SandboxError(`${label} takes ${least} to ${most} characters, not ${value.length}`);
  }
  return values;
}

/** @throws {SandboxError} when none comes. */
async function waitForReply(
  world: World,
  sandbox: Pick<SandboxServer, 'messages'>,
  { settleMs = 0, timeoutMs = defaultTimeoutMs, containing = '', ...wish }: AwaitedReply,
): Promise<MessageView> {
  const channelId = findChannel(world, wish.in).id;
  const people = await sandbox.messages({ in: channelId, from: 'people' });
  const after = wish.after ?? people.at(-1)?.id ?? '0';
  const posted = () => sandbox.messages({ in: channelId, after, from: 'bot' });
  let changedAt = Date.now();
  let wake: (() => void) | undefined;
  const unsubscribe = world.subscribe((event) => {
    if (!('message' in event) || event.message.channelId !== channelId) return;
    if (event.message.authorId === world.botId) changedAt = Date.now();
    wake?.();
  });
  const endsAt = Date.now() + timeoutMs;
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      const reply = (await posted()).find(({ text }) => text.includes(containing));
      const quietIn = reply === undefined ? Infinity : changedAt + settleMs - Date.now();
      if (reply !== undefined && quietIn <= 0) return reply;
      const left = endsAt - Date.now();
      if (left <= 0) break;
      let timer: NodeJS.Timeout | undefined;
      const slept = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.max(1, Math.min(quietIn, left)));
      });
      await Promise.race([changed, slept]);
      clearTimeout(timer);
    }
  } finally {
    unsubscribe();
  }
  const said = JSON.stringify((await posted()).map(({ text }) => text));
  throw new SandboxError(
    `Waited ${timeoutMs} ms in vain for a reply of the bot in ${wish.in} with ${JSON.stringify(containing)}; it wrote ${said}`,
  );
}
