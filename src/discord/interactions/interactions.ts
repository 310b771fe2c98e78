import {
  ApplicationCommandOptionType,
  InteractionContextType,
  MessageFlags,
  PermissionFlagsBits,
  type AutocompleteInteraction,
  type BaseInteraction,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  type CommandInteraction,
  type Interaction,
  type MessageContextMenuCommandInteraction,
} from 'discord.js';

import { stopEmoji, type BotHandlers, type CommandCall, type IncomingMessage } from '../../core/message.ts';
import type { Place } from '../../core/place.ts';
import type {
  Choice,
  CommandContext,
  CommandForm,
  CommandHandlers,
  CommandReply,
  Unstarted,
} from '../../core/commands.ts';
import { referenceTo, withReference } from '../../core/errors.ts';
import { lruCache } from '../../core/limits.ts';
import { withTimeout } from '../../core/time.ts';
import { type Access, isKept, isOwner, rolesOf, worksIn } from '../access.ts';
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
import { attachedFile, chatMessageOf, textIn, userName } from '../normalise.ts';
import { placeOf } from '../place.ts';
import { splitReply } from '../replies/split-reply.ts';
import type { IntakeOptions } from '../intake.ts';
import type { Asks } from './asks.ts';

/** Of the 3 seconds that Discord waits. */
const choicesWithinMs = 2000;
const notedWithinMs = 1500;
/** Interactions that are known by their ids. */
const mostTaken = 1000;

/** The command whose answer is a turn. */
const askName = 'ask';

const restarting = 'I am being restarted. Please try again in a moment.';
const unknown = 'I no longer know what this was for. Please use the command again.';
const failed = '⚠️ Something went wrong on my side. Please try again.';
const noAccess = 'I only answer people whom my owner has given access.';
const notYours = 'Only the person whom I answered can press this.';
const nothingWritten = 'Nothing was written there, so nothing was changed.';
const noDm = 'Discord does not open our direct messages at the moment. Please try again.';
const nothingAsked = 'Write behind `/ask` what you want to ask me, or give a file.';
const answeredLater = 'I am being restarted. I answer this in our direct messages.';
const otherChannel = 'I do not work in this channel. Ask me in a direct message instead.';

interface InteractionsOptions extends Pick<
  IntakeOptions,
  'botId' | 'policy' | 'places' | 'wasLetIn' | 'stopping' | 'runInBackground' | 'logger'
> {
  readonly people: Pick<Access, 'of'>;
  readonly handlers: CommandHandlers & Pick<BotHandlers, 'message' | 'asked' | 'reacted'>;
  readonly asks: Asks;
  /** Rejects as Discord does. */
  readonly dmOf: (userId: string) => Promise<Place>;
  readonly offers: Pick<Offers, 'click'>;
  /** Behind earlier events and missed messages, unless those take too long [G3b]. */
  readonly inOrder: (channelId: string, job: () => Promise<void>) => Promise<void>;
}

/** Takes interactions in; the person gets an answer in any case. Never throws. */
export function createInteractions(options: InteractionsOptions): (interaction: Interaction) => void {
  const { policy, places, botId, handlers, offers, inOrder, runInBackground, logger } = options;
  const taken = lruCache<string, true>(mostTaken);

  return (interaction) => runInBackground('an interaction', () => take(interaction));

  async function take(interaction: Interaction): Promise<void> {
    // A connection that goes on may repeat it [G3].
    if (taken.has(interaction.id)) return;
    taken.set(interaction.id, true);
    // The library takes other people's direct messages for the bot's own.
    if (interaction.context === InteractionContextType.PrivateChannel && interaction.channelId !== null)
      interaction.client.channels.cache.delete(interaction.channelId);
    if (options.stopping.aborted) return tell(interaction, restarting);
    if (interaction.isChatInputCommand() && interaction.commandName === askName) return ask(interaction);
    if (interaction.isChatInputCommand()) {
      const call = callOf(interaction);
      return answer(interaction, (context) => handlers.command({ ...context, ...call }), call.command);
    }
    if (interaction.isMessageContextMenuCommand()) {
      const form = policy.menuForms?.[interaction.commandName]?.(interaction.targetId);
      if (form !== undefined) return openWindow(interaction, form);
      return answer(interaction, (context) => {
        const message = chatMessageOf(interaction.targetMessage, botId);
        // Of where the bot is not, nothing is recorded [EW1].
        const target = context.isElsewhere === true && {
          id: interaction.id,
          channelId: context.place.channelId,
        };
        return handlers.menu({
          ...context,
          name: interaction.commandName,
          message: { ...message, ...target },
        });
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
      interaction.inCachedGuild() &&
      policy.managerCommands.includes(interaction.commandName) &&
      interaction.memberPermissions.has(PermissionFlagsBits.ManageGuild);
    const guildId = interaction.inCachedGuild() ? interaction.guildId : undefined;
    // Roles of a server that the bot is not in say nothing to it.
    const roleIds = guildId === undefined ? undefined : rolesOf(interaction.member);
    const visitor = { userId: user.id, guildId, roleIds };
    const isOutdated = async (): Promise<boolean> =>
      command !== undefined && isKept(command, policy) && options.wasLetIn(user.id);
    if (!(await options.people.of(visitor)) && !isManaging() && !(await isOutdated()))
      return { kind: 'refused', line: noAccess };
    const seen = await seenPlace(interaction);
    if (seen !== undefined && !worksIn(policy, { ...seen, isDm: seen.audience === 'dm' }))
      return { kind: 'refused', line: otherChannel };
    const place = seen ?? (await ownDm(user.id));
    if (place === undefined) return { kind: 'refused', line: noDm };
    const name = userName(user, interaction.inCachedGuild() ? interaction.member : undefined);
    const speaker = { id: user.id, name, isOwner: isOwner(policy, user.id) };
    const isElsewhere = seen === undefined ? true : undefined;
    return { kind: 'admitted', asker: { speaker, place, isElsewhere } };
  }

  /** `undefined` for what the bot cannot see, which counts as the person's direct messages with it [EW1]. */
  async function seenPlace(interaction: BaseInteraction): Promise<Place | undefined> {
    const channel = isInSight(interaction) ? await places.find(interaction.channelId ?? '') : undefined;
    return channel && placeOf(channel, places);
  }

  async function ownDm(userId: string): Promise<Place | undefined> {
    return options.dmOf(userId).catch((error: unknown) => {
      logger.warn('direct messages could not be opened', { userId, error });
      return undefined;
    });
  }

  /** A turn of the asker's direct messages [EW2]. It is on disk before it is acknowledged: a kill loses nothing of that. */
  async function ask(interaction: ChatInputCommandInteraction): Promise<void> {
    const noting = noteAsk(interaction);
    await withTimeout(notedWithinMs, noting, undefined);
    const isHeard = await acknowledge(interaction);
    const message = await noting;
    if (typeof message === 'string') return isHeard ? send(interaction, { text: message }) : undefined;
    if (!isHeard) return handlers.asked(message, 'dropped');
    options.asks.open(interaction);
    const job = async () =>
      runInBackground('an /ask', async () => {
        await handlers.message(message);
        await options.asks.close(message.id, options.stopping.aborted ? answeredLater : undefined);
      });
    // Closed direct messages have no channel in which anything was missed.
    return message.channelId === interaction.user.id ? job() : inOrder(message.channelId, job);
  }

  /** Resolves with a line for who is refused. Never rejects. */
  async function noteAsk(interaction: ChatInputCommandInteraction): Promise<IncomingMessage | string> {
    const admission = await admit(interaction);
    if (admission.kind === 'refused') return admission.line;
    const { id, user, client, guildId, createdAt } = interaction;
    const { speaker, place: here } = admission.asker;
    const place = here.audience === 'dm' ? here : await ownDm(user.id);
    if (place === undefined) return noDm;
    const { command, files } = callOf(interaction);
    const channelId = interaction.channelId ?? '';
    const content = command.options['text'] ?? '';
    const text = textIn(client, { content, authorId: user.id, channelId, guildId, mentioned: [] });
    if (text === '' && files.length === 0) return nothingAsked;
    const unseen = {
      audience: 'private',
      channelId,
      homeId: channelId,
      guildId: guildId ?? undefined,
    } as const;
    const message: IncomingMessage = {
      id,
      channelId: place.channelId,
      author: { id: user.id, name: speaker.name, kind: 'human' },
      text,
      at: createdAt.toISOString(),
      attachments: files.map(({ name }) => name),
      hasThirdPartyText: files.length > 0 ? true : undefined,
      files,
      place,
      // A channel of a server of ours keeps its settings though the bot cannot see it.
      askedIn: admission.asker.isElsewhere === true && interaction.inCachedGuild() ? unseen : here,
      isOwner: speaker.isOwner,
    };
    await handlers.asked(message, 'begun');
    return message;
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
    return isInSight(interaction) ? inOrder(interaction.channelId, job) : job();
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
      else if (!(interaction.isButton() && (await isClicked(interaction))))
        await press(interaction, admission.asker);
    } catch (error) {
      logger.warn('a click could not be answered', { channelId: interaction.channelId, error });
    }
  }

  async function isClicked(interaction: ButtonInteraction): Promise<boolean> {
    const stop = (id: string) => handlers.reacted(interaction.channelId, id, interaction.user.id, stopEmoji);
    return (await offers.click(interaction)) || options.asks.click(interaction, stop);
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

/** Whether the bot may be where it was given; older payloads leave out the context of its own direct messages. */
function isInSight({ client, guildId, channelId, context }: BaseInteraction): boolean {
  if (channelId === null) return false;
  if (guildId !== null) return client.guilds.cache.has(guildId);
  return context !== InteractionContextType.PrivateChannel;
}

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
  const pages = isInSight(interaction) ? splitReply(reply.text) : pagesElsewhere(reply, isInPlace);
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

/** Where an app was installed by a person alone, Discord takes five messages besides the first answer [EW1]. */
const mostFollowUps = 5;
const tooLong = '-# The rest is too long for here: ask me in our direct messages.';

function pagesElsewhere({ text, files = [] }: CommandReply, isInPlace: boolean): readonly string[] {
  const pages = splitReply(text);
  const most = Number(isInPlace) + mostFollowUps - files.length;
  return pages.length > most ? [...pages.slice(0, most - 1), tooLong] : pages;
}

type Asker = Pick<CommandContext, 'speaker' | 'place' | 'isElsewhere'>;

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
