import { setTimeout as delay } from 'node:timers/promises';

import { MessageFlags, type CommandInteraction } from 'discord.js';

import type { CommandContext, CommandReply } from '../../core/commands.ts';
import { referenceTo, withReference } from '../../core/errors.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Logger } from '../../core/logger.ts';
import type { RunInBackground } from '../run-in-background.ts';
import { admit, type Admission, type AdmissionOptions } from './admission.ts';
import type { Pager } from './pager.ts';

/** How long Discord waits for a sign of life; milliseconds. */
const acknowledgedWithinMs = 3000;

const failed = '⚠️ Something went wrong on my side. Please try again.';

export interface AnsweringOptions extends AdmissionOptions {
  readonly pager: Pick<Pager, 'show'>;
  readonly channelQueue: KeyedQueue;
  readonly runInBackground: RunInBackground;
  readonly logger: Logger;
}

/** Answers a command with what `work` replies, for the asker's eyes only. Never rejects. */
type AnswerCommand = (interaction: CommandInteraction, work: Work) => Promise<void>;

type Work = (context: CommandContext) => Promise<CommandReply>;

/**
 * Acknowledges a command at once and takes it to the channel's other events in the order in which it came. What could not be
 * acknowledged is not done: the person has been told by Discord that nothing came of it.
 */
export function createAnswering(options: AnsweringOptions): AnswerCommand {
  const { pager, channelQueue, runInBackground, logger } = options;

  return async (interaction, work) => {
    const { channelId } = interaction;
    const acknowledged = acknowledge(interaction);
    await channelQueue.run(channelId, async () => {
      const [isAcknowledged, admission] = await Promise.all([acknowledged, admit(interaction, options)]);
      if (!isAcknowledged) return;
      runInBackground('a command', async () =>
        send(interaction, await replyTo(interaction, admission, work)),
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

  async function replyTo(
    interaction: CommandInteraction,
    admission: Admission,
    work: Work,
  ): Promise<CommandReply> {
    if (admission.kind === 'refused') return { text: admission.line };
    const { id, createdAt } = interaction;
    try {
      return await work({ ...admission.asker, id, ephemeral: true, at: createdAt.toISOString() });
    } catch (error) {
      const reference = referenceTo(id);
      logger.error('a command could not be finished', { ...idsOf(interaction), reference, error });
      return { text: withReference(failed, reference) };
    }
  }

  async function send(interaction: CommandInteraction, reply: CommandReply): Promise<void> {
    try {
      await interaction.editReply(pager.show(interaction, reply));
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
