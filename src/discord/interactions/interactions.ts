import {
  ApplicationCommandOptionType,
  MessageFlags,
  PermissionFlagsBits,
  type AutocompleteInteraction,
  type BaseInteraction,
  type ChatInputCommandInteraction,
  type CommandInteraction,
  type Interaction,
  type MessageContextMenuCommandInteraction,
} from 'discord.js';

import type { CommandCall } from '../../core/message.ts';
import type {
  Choice,
  CommandContext,
  CommandForm,
  CommandHandlers,
  CommandReply,
  Unstarted,
} from '../../core/commands.ts';
import { referenceTo, withReference } from '../../core/errors.ts';
import { withTimeout } from '../../core/time.ts';
import { isKept, isOwner, rolesOf, worksIn } from '../access.ts';
import {
  answerRows,
  formModal,
  readCommandButton,
  rowsAfter,
  typedInto,
  type Offers,
  type PressedButton,
  type PressInteraction,
} from '../buttons.ts';
import { isInteractionOver } from '../refusals.ts';
import { attachedFile, chatMessageOf, userName } from '../normalise.ts';
import { placeOf } from '../place.ts';
import { splitReply } from '../replies/split-reply.ts';
import type { IntakeOptions } from '../intake.ts';

/** Of the 3 seconds that Discord waits. */
const choicesWithinMs = 2000;

const restarting = 'I am being restarted. Please try again in a moment.';
const unknown = 'I no longer know what this was for. Please use the command again.';
const failed = '⚠️ Something went wrong on my side. Please try again.';
const noAccess = 'I only answer people whom my owner has given access.';
const notYours = 'Only the person whom I answered can press this.';
const nothingWritten = 'Nothing was written there, so nothing was changed.';
const otherChannel = 'I do not work in this channel. Ask me in a direct message instead.';

interface InteractionsOptions extends Omit<IntakeOptions, 'handlers' | 'caughtUp'> {
  readonly handlers: CommandHandlers;
  readonly offers: Pick<Offers, 'click'>;
  /** Behind earlier events and missed messages, unless those take too long [G3b]. */
  readonly inOrder: (channelId: string, job: () => Promise<void>) => Promise<void>;
}

/** Takes interactions in; the person gets an answer in any case. Never throws. */
export function createInteractions(options: InteractionsOptions): (interaction: Interaction) => void {
  const { policy, places, botId, handlers, offers, inOrder, runInBackground, logger } = options;

  return (interaction) => runInBackground('an interaction', () => take(interaction));

  async function take(interaction: Interaction): Promise<void> {
    if (options.stopping.aborted) return tell(interaction, restarting);
    if (interaction.isChatInputCommand()) {
      const call = callOf(interaction);
      return answer(interaction, (context) => handlers.command({ ...context, ...call }), call.command);
    }
    if (interaction.isMessageContextMenuCommand()) {
      const form = policy.menuForms?.[interaction.commandName]?.(interaction.targetId);
      if (form !== undefined) return openWindow(interaction, form);
      return answer(interaction, (context) => {
        const message = chatMessageOf(interaction.targetMessage, botId);
        return handlers.menu({ ...context, name: interaction.commandName, message });
      });
    }
    if (interaction.isAutocomplete()) return complete(interaction);
    if (interaction.isButton() || interaction.isStringSelectMenu() || interaction.isModalSubmit())
      return pressed(interaction);
    return tell(interaction, unknown);
  }

  /** Never rejects: where nothing can be known, the person is refused. */
  async function admit(interaction: BaseInteraction, command?: CommandCall): Promise<Admission> {
    const { user } = interaction;
    const isManaging = (): boolean =>
      interaction.isCommand() &&
      policy.managerCommands.includes(interaction.commandName) &&
      interaction.memberPermissions?.has(PermissionFlagsBits.ManageGuild) === true;
    const guildId = interaction.guildId ?? undefined;
    const visitor = { userId: user.id, guildId, roleIds: rolesOf(interaction.member) };
    const isOutdated = async (): Promise<boolean> =>
      command !== undefined && isKept(command, policy) && options.wasLetIn(user.id);
    if (!(await options.people.of(visitor)) && !isManaging() && !(await isOutdated()))
      return { kind: 'refused', line: noAccess };
    const { channelId } = interaction;
    const channel = channelId === null ? undefined : await places.find(channelId);
    const place = channel && (await placeOf(channel, places));
    if (place === undefined || !worksIn(policy, { ...place, isDm: place.audience === 'dm' }))
      return { kind: 'refused', line: otherChannel };
    const name = userName(user, interaction.inCachedGuild() ? interaction.member : undefined);
    return {
      kind: 'admitted',
      asker: { speaker: { id: user.id, name, isOwner: isOwner(policy, user.id) }, place },
    };
  }

  /** Does nothing that could not be acknowledged. */
  async function answer(
    interaction: CommandInteraction,
    work: (context: Unstarted<CommandContext>) => Promise<CommandReply>,
    command?: CommandCall,
  ): Promise<void> {
    const acknowledged = acknowledge(interaction);
    const job = async () => {
      const [isHeard, admission] = await Promise.all([acknowledged, admit(interaction, command)]);
      if (!isHeard) return;
      runInBackground('a command', async () =>
        send(
          interaction,
          admission.kind === 'refused'
            ? { text: admission.line }
            : await work(contextOf(interaction, admission.asker)),
        ),
      );
    };
    return inOrder(interaction.channelId, job);
  }

  async function acknowledge(interaction: CommandInteraction): Promise<boolean> {
    try {
      await interaction.deferReply({ flags: MessageFlags.Ephemeral });
      return true;
    } catch (error) {
      logger.warn('a command could not be acknowledged', { ...idsOf(interaction), error });
      return false;
    }
  }

  async function send(interaction: CommandInteraction, reply: CommandReply): Promise<void> {
    try {
      await deliver(interaction, reply, true);
    } catch (error) {
      const reference = referenceTo(interaction.id);
      logger.warn('the answer to a command could not be sent', { ...idsOf(interaction), reference, error });
      if (isInteractionOver(error)) return;
      await interaction.editReply({ content: withReference(failed, reference), components: [] });
    }
  }

  /** Offers nothing to people without access, or too late. */
  async function complete(interaction: AutocompleteInteraction): Promise<void> {
    const { channelId } = interaction;
    const offered = await withTimeout(choicesWithinMs, choices(interaction), []);
    await interaction
      .respond(offered)
      .catch((error: unknown) => logger.debug('choices could not be offered', { channelId, error }));
  }

  async function choices(interaction: AutocompleteInteraction): Promise<readonly Choice[]> {
    const admission = await admit(interaction);
    if (admission.kind === 'refused') return [];
    const { name: option, value: typed } = interaction.options.getFocused(true);
    return handlers.complete({
      ...admission.asker,
      name: interaction.commandName,
      subcommand: interaction.options.getSubcommand(false) ?? '',
      option,
      typed,
    });
  }

  async function pressed(interaction: PressInteraction): Promise<void> {
    const line = readCommandButton(interaction.customId)?.line ?? '';
    const admission = await admit(interaction, policy.parseCommand(`!${line}`));
    try {
      if (admission.kind === 'refused') await tell(interaction, admission.line);
      else if (!(interaction.isButton() && (await offers.click(interaction))))
        await press(interaction, admission.asker);
    } catch (error) {
      logger.warn('a click could not be answered', { channelId: interaction.channelId, error });
    }
  }

  /** Does nothing that could not be acknowledged. */
  async function press(interaction: PressInteraction, asker: Asker): Promise<void> {
    const button = readCommandButton(interaction.customId);
    if (button === undefined) return tell(interaction, unknown);
    const { personId, takes, opensForm } = button;
    if (interaction.user.id !== personId) return tell(interaction, notYours);
    const typed = typedInto(interaction);
    if (interaction.isModalSubmit() && typed.trim() === '') return tell(interaction, nothingWritten);
    const line = typed === '' ? button.line : `${button.line} ${typed.toWellFormed()}`;
    const isInPlace = takes === 'answer';
    // What takes the place of an answer is read by all who read that one.
    const isForAskerOnly = !isInPlace || interaction.message?.flags.has(MessageFlags.Ephemeral) === true;
    const command = policy.parseCommand(`!${line}`);
    const answered = async (): Promise<CommandReply> =>
      command === undefined
        ? { text: unknown }
        : handlers.command({ ...contextOf(interaction, asker, isForAskerOnly), command });
    if (interaction.isModalSubmit() && !interaction.isFromMessage()) {
      // It was opened from a message's menu: no message of the bot's is there to answer under.
      await interaction.deferReply({ flags: MessageFlags.Ephemeral });
      return deliver(interaction, await answered(), true);
    }
    if (opensForm && !interaction.isModalSubmit()) {
      const reply = await answered();
      if (reply.form !== undefined) {
        await reply.onReplied?.(false);
        await interaction.showModal(formModal(reply.form, button));
        return;
      }
      await interaction.deferUpdate();
      return deliver(interaction, reply, isInPlace);
    }
    await takeAway(interaction, takes);
    if (line !== '') await deliver(interaction, await answered(), isInPlace);
  }
}

/** Discord takes a window only as the first answer: who has no access hears of that once it is sent. */
async function openWindow(
  interaction: MessageContextMenuCommandInteraction,
  form: CommandForm,
): Promise<void> {
  const personId = interaction.user.id;
  await interaction.showModal(formModal(form, { ...form, personId, takes: 'nothing', opensForm: true }));
}

type AskingInteraction = CommandInteraction | PressInteraction;

function contextOf(
  { id, createdAt }: AskingInteraction,
  asker: Asker,
  ephemeral = true,
): Unstarted<CommandContext> {
  return { ...asker, id, ephemeral, at: createdAt.toISOString() };
}

async function takeAway(interaction: PressInteraction, takes: PressedButton['takes']): Promise<void> {
  if (interaction.isModalSubmit() && !interaction.isFromMessage()) return;
  if (takes === 'nothing' || takes === 'answer') await interaction.deferUpdate();
  else await interaction.update({ components: rowsAfter(interaction.message, interaction.customId, takes) });
}

async function deliver(
  interaction: AskingInteraction,
  reply: CommandReply,
  isInPlace: boolean,
): Promise<void> {
  const flags = MessageFlags.Ephemeral;
  const pages = splitReply(reply.text);
  let wasSent = false;
  try {
    for (const [index, content] of pages.entries()) {
      const components = index === pages.length - 1 ? answerRows(interaction.user.id, reply) : [];
      const page = { content, components };
      if (isInPlace && index === 0) await interaction.editReply(page);
      else await interaction.followUp({ ...page, flags });
    }
    for (const { name, bytes } of reply.files ?? [])
      await interaction.followUp({ files: [{ name, attachment: Buffer.from(bytes) }], flags });
    wasSent = true;
  } finally {
    await reply.onReplied?.(wasSent);
  }
}

type Asker = Pick<CommandContext, 'speaker' | 'place'>;

/** `line` is what a refused person is told [G1]. */
type Admission =
  | { readonly kind: 'admitted'; readonly asker: Asker }
  | { readonly kind: 'refused'; readonly line: string };

function callOf(interaction: ChatInputCommandInteraction) {
  const chosen = optionsOf(interaction);
  const command: CommandCall = {
    name: interaction.commandName,
    subcommand: interaction.options.getSubcommand(false) ?? '',
    options: Object.fromEntries(chosen.map(({ name, value }) => [name, String(value ?? '').toWellFormed()])),
  };
  return { command, files: chosen.flatMap(({ attachment }) => attachment ?? []).map(attachedFile) };
}

function optionsOf({ options }: ChatInputCommandInteraction) {
  const { Subcommand, SubcommandGroup } = ApplicationCommandOptionType;
  let level = options.data;
  // Groups hold subcommands, which hold options.
  for (let [first] = level; first?.type === SubcommandGroup || first?.type === Subcommand; [first] = level)
    level = first.options ?? [];
  return level;
}

async function tell(interaction: Interaction, content: string): Promise<void> {
  if (interaction.isAutocomplete()) await interaction.respond([]);
  else await interaction.reply({ content, flags: MessageFlags.Ephemeral });
}

function idsOf({ channelId, user }: AskingInteraction): Readonly<Record<string, unknown>> {
  return { channelId, userId: user.id };
}
