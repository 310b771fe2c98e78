import type { BotHandlers, CommandRequest, IncomingMessage, WrittenCommand } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import { sessionOf } from '../core/turn-context.ts';
import type { ChannelJournal } from './channel-journal.ts';
import type { CommandOrder } from './command-order.ts';
import type { SessionTurns } from './session-turns.ts';

export interface BotHandlersOptions {
  readonly turns: SessionTurns;
  readonly runCommand: (message: IncomingMessage, command: WrittenCommand) => Promise<void>;
  readonly handleCommand: (request: CommandRequest) => Promise<string>;
  /** Keeps a session's commands in the order in which they came, in whichever form. */
  readonly order: Pick<CommandOrder, 'run'>;
  /** Takes an edit or deletion to every layer that may hold the message [G5]. */
  readonly retract: {
    edited(channelId: string, messageId: string, text: string): Promise<void>;
    deleted(channelId: string, messageIds: readonly string[]): Promise<void>;
  };
  readonly journal: ChannelJournal;
  readonly logger: Logger;
}

/** The reaction by which people stop an answer. */
const stopEmoji = '🛑';

/** What the gateway's events lead to. Repeated events are recognised here: a message is taken once [G3]. */
export function createBotHandlers(options: BotHandlersOptions): BotHandlers {
  const { turns, order, journal, logger } = options;
  const taken = new Set<string>();

  async function isNew(message: IncomingMessage): Promise<boolean> {
    if (taken.has(message.id)) return false;
    taken.add(message.id);
    if (!(await isHandled(message))) return true;
    taken.delete(message.id);
    return false;
  }

  async function once(message: IncomingMessage, work: () => Promise<void>): Promise<void> {
    if (!(await isNew(message))) return;
    try {
      await work();
    } finally {
      taken.delete(message.id);
    }
  }

  async function isHandled(message: IncomingMessage): Promise<boolean> {
    try {
      return await journal.isHandled(message.channelId, message.id);
    } catch (error) {
      logger.error('the journal could not be read', { channelId: message.channelId, error });
      return false;
    }
  }

  return {
    message(message) {
      const { command, channelId, author } = message;
      if (command === undefined) return once(message, () => turns.submit(message));
      return order.run({ channelId, userId: author.id }, () =>
        once(message, () => options.runCommand(message, command)),
      );
    },
    command: (request) => order.run(sessionOf(request), () => options.handleCommand(request)),
    async edited(channelId, messageId, text) {
      turns.edit(messageId, text);
      await logged('an edit', () => options.retract.edited(channelId, messageId, text));
    },
    async deleted(channelId, messageIds) {
      turns.withdraw(messageIds);
      await logged('a deletion', () => options.retract.deleted(channelId, messageIds));
    },
    async reacted(channelId, messageId, userId, emoji) {
      if (emoji !== stopEmoji) return;
      await turns.stopBy(userId, messageId, () =>
        logged('a message that was taken back', () => journal.markHandled(channelId, [messageId])),
      );
    },
  };

  async function logged(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logger.error('memory could not follow', { what, error });
    }
  }
}
