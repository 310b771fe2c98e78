import { sessionName } from '../core/place.ts';
import type { SessionKey } from '../core/place.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { TurnRunner } from './session-turns.ts';

/**
 * Keeps a session's commands in the order in which they were given, and its turns behind the commands before them [F3]: who says
 * `!memory remember …` and at once asks about it, or wants it shown, finds it there. Commands do not wait for turns [F2].
 */
export interface CommandOrder {
  /** Runs a command after the session's earlier ones; settles as it does. */
  run<T>(session: SessionKey, command: () => Promise<T>): Promise<T>;
  /** The same turns, each begun only when the commands of its session are answered, and not at all if nobody waits for it by then. */
  afterCommands(runTurn: TurnRunner): TurnRunner;
}

export function createCommandOrder(): CommandOrder {
  const queue = createKeyedQueue();
  return {
    run: (session, command) => queue.run(sessionName(session), command),
    afterCommands: (runTurn) => async (messages, control) => {
      const [first] = messages;
      if (first !== undefined) {
        const session = { channelId: first.channelId, userId: first.author.id };
        await queue.run(sessionName(session), () => Promise.resolve());
      }
      if (control.ending === undefined || control.ending === 'stopped') await runTurn(messages, control);
    },
  };
}
