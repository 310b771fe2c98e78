import { setTimeout as delay } from 'node:timers/promises';

import { MessageFlags, type CommandInteraction, type InteractionEditReplyOptions } from 'discord.js';

import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Logger } from '../../core/logger.ts';
import { referenceTo, withReference } from '../../core/errors.ts';
import type { RunInBackground } from '../run-in-background.ts';
import { splitReply } from '../replies/split-reply.ts';
import type { Admission, Asker, Asking } from './admission.ts';
import type { Pager } from './pager.ts';

/** How long Discord waits for a sign of life; milliseconds. */
const acknowledgedWithinMs = 3000;

const failed = '⚠️ Something went wrong on my side. Please try again.';

export interface AnsweringOptions {
  readonly admit: (interaction: Asking) => Promise<Admission>;
  readonly pager: Pick<Pager, 'open'>;
  readonly channelQueue: KeyedQueue;
  readonly runInBackground: RunInBackground;
  readonly logger: Logger;
}

/** Answers a command with the text that `work` makes, for the asker's eyes only, a long one in pages. Never rejects. */
export type AnswerCommand = (
  interaction: CommandInteraction,
  work: (asker: Asker) => Promise<string>,
) => Promise<void>;

/**
 * Acknowledges a command at once and takes it to the channel's other events in the order in which it came. What could not be
 * acknowledged is not done: the person has been told by Discord that nothing came of it.
 */
export function createAnswering({
  admit,
  pager,
  channelQueue,
  runInBackground,
  logger,
}: AnsweringOptions): AnswerCommand {
  return async (interaction, work) => {
    const { channelId } = interaction;
    const acknowledged = acknowledge(interaction);
    await channelQueue.run(channelId, async () => {
      const [isAcknowledged, admission] = await Promise.all([acknowledged, admit(interaction)]);
      if (!isAcknowledged) return;
      runInBackground('a command', async () =>
        send(interaction, await textFor(interaction, admission, work)),
      );
    });
  };

  async function acknowledge(interaction: CommandInteraction): Promise<boolean> {
    const tooLate = new AbortController();
    try {
      const deferred = interaction.deferReply({ flags: MessageFlags.Ephemeral }).then(() => true);
      const late = delay(acknowledgedWithinMs, false, { signal: tooLate.signal }).catch(() => false);
      return await Promise.race([deferred, late]);
    } catch (error) {
      logger.warn('a command could not be acknowledged', { ...idsOf(interaction), error });
      return false;
    } finally {
      tooLate.abort();
    }
  }

  async function textFor(
    interaction: CommandInteraction,
    admission: Admission,
    work: (asker: Asker) => Promise<string>,
  ): Promise<string> {
    if (admission.kind === 'refused') return admission.line;
    try {
      return await work(admission.asker);
    } catch (error) {
      const reference = referenceTo(interaction.id);
      logger.error('a command could not be finished', { ...idsOf(interaction), reference, error });
      return withReference(failed, reference);
    }
  }

  async function send(interaction: CommandInteraction, text: string): Promise<void> {
    const pages = splitReply(text);
    const [page = failed] = pages;
    const answer: InteractionEditReplyOptions =
      pages.length > 1
        ? pager.open(interaction, pages)
        : { content: page, allowedMentions: { parse: [], repliedUser: false } };
    try {
      await interaction.editReply(answer);
    } catch (error) {
      const reference = referenceTo(interaction.id);
      logger.warn('the answer to a command could not be sent', { ...idsOf(interaction), reference, error });
      await interaction.editReply({ content: withReference(failed, reference), components: [] });
    }
  }
}

function idsOf({ channelId, user }: CommandInteraction): Readonly<Record<string, string>> {
  return { channelId, userId: user.id };
}
