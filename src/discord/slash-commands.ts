import {
  ApplicationCommandOptionType,
  InteractionContextType,
  MessageFlags,
  type ChatInputCommandInteraction,
} from 'discord.js';

import type { BotHandlers, CommandName } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { Place } from '../core/place.ts';
import { hasAccess, isOwner, worksIn, type AccessSettings } from './access.ts';
import type { ChannelOrder } from './channel-order.ts';
import type { HandOn } from './hand-on.ts';
import { userName } from './names-in.ts';
import { placeOf, type FindChannel } from './place-of.ts';
import { splitReply } from './split-reply.ts';

const noAccess = 'I only answer people whom my owner has given access.';
const otherChannel = 'I do not work in this channel. Ask me in a direct message instead.';
const failed = '⚠️ Something went wrong on my side. Please try again.';

export interface SlashCommandsOptions {
  readonly settings: AccessSettings;
  /** The words that would stand after `!memory`, from a subcommand and its options. */
  readonly slashWords: (subcommand: string, options: Readonly<Record<string, string>>) => string;
  readonly order: ChannelOrder;
  readonly findChannel: FindChannel;
  readonly handlers: Pick<BotHandlers, 'command'>;
  readonly handOn: HandOn;
  readonly logger: Logger;
}

/** Answers slash commands, for the asker's eyes only. The returned function never throws. */
export function createSlashCommands(
  options: SlashCommandsOptions,
): (interaction: ChatInputCommandInteraction, name: CommandName) => Promise<void> {
  const { settings, order, logger } = options;

  return async (interaction, name) => {
    const { channelId, user } = interaction;
    try {
      // Discord waits 3 seconds for a sign of life.
      await interaction.deferReply({ flags: MessageFlags.Ephemeral });
    } catch (error) {
      logger.warn('a slash command could not be acknowledged', { channelId, userId: user.id, error });
      return;
    }
    await order.run(channelId, async () => {
      const place = await placeFor(interaction).catch(() => undefined);
      options.handOn('a slash command', async () =>
        answer(interaction, await textFor(interaction, name, place)),
      );
    });
  };

  async function placeFor(interaction: ChatInputCommandInteraction): Promise<Place | undefined> {
    // A conversation of other people, into which the asker brought the bot along.
    if (interaction.context === InteractionContextType.PrivateChannel) return undefined;
    const channel = await options.findChannel(interaction.channelId);
    return channel === undefined ? undefined : placeOf(channel, options.findChannel);
  }

  async function textFor(
    interaction: ChatInputCommandInteraction,
    name: CommandName,
    place: Place | undefined,
  ): Promise<string> {
    const { id, user } = interaction;
    if (!hasAccess(settings, user.id)) return noAccess;
    if (place === undefined || !worksIn(settings, { ...place, isDm: place.audience === 'dm' }))
      return otherChannel;
    const speakerName = interaction.inCachedGuild() ? interaction.member.displayName : userName(user);
    try {
      return await options.handlers.command({
        id,
        name,
        words: wordsOf(interaction),
        speaker: { id: user.id, name: speakerName, isOwner: isOwner(settings, user.id) },
        place,
        ephemeral: true,
        at: interaction.createdAt.toISOString(),
      });
    } catch (error) {
      logger.error('a command could not be finished', { channelId: place.channelId, userId: user.id, error });
      return failed;
    }
  }

  function wordsOf(interaction: ChatInputCommandInteraction): string {
    const [first] = interaction.options.data;
    const isSubcommand = first?.type === ApplicationCommandOptionType.Subcommand;
    const given = isSubcommand ? (first.options ?? []) : interaction.options.data;
    const values = given.map(({ name, value }): [string, string] => [name, String(value ?? '')]);
    return options.slashWords(isSubcommand ? first.name : '', Object.fromEntries(values));
  }
}

async function answer(interaction: ChatInputCommandInteraction, text: string): Promise<void> {
  const allowedMentions = { parse: [], repliedUser: false };
  const [first = failed, ...others] = splitReply(text);
  await interaction.editReply({ content: first, allowedMentions });
  for (const content of others) {
    await interaction.followUp({ content, allowedMentions, flags: MessageFlags.Ephemeral });
  }
}
