import type { CommandHandlers, CommandReply } from '../core/commands.ts';
import type { CommandCall } from '../core/message.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import type { Session } from './sign-in.ts';

export interface GiveCommandOptions {
  /** Commands as they are given on Discord, in order with those. Never rejects. */
  readonly command: CommandHandlers['command'];
  /** As for a written command, from `!` on. */
  readonly parseCommand: (text: string) => CommandCall | undefined;
  readonly clock: Clock;
}

export type GiveCommand = ReturnType<typeof createGiveCommand>;

/** Ids that a millisecond has. */
const idsAtOnce = 4096;

/** Gives commands for a person, in their direct messages [Y3]: all that the page and other assistants do. */
export function createGiveCommand(options: GiveCommandOptions) {
  let lastId = 0;

  return async (
    { person, place }: Pick<Session, 'person' | 'place'>,
    line: string,
    {
      isShown,
      file,
      elsewhere,
    }: {
      /** Whether the person sees what it answers. */
      readonly isShown: boolean;
      readonly file?: Uint8Array | undefined;
      /** The name of the token of another assistant, which gives it [EW3]. */
      readonly elsewhere?: string;
    },
  ): Promise<CommandReply> => {
    const command = options.parseCommand(`!${line}`);
    if (command === undefined) return { text: 'There is no such command.' };
    const now = options.clock();
    lastId = (lastId + 1) % idsAtOnce;
    const reply = await options.command({
      id: String(BigInt(snowflakeAt(now)) + BigInt(lastId)),
      command,
      speaker: person,
      place,
      ephemeral: true,
      files: file && [{ name: 'file', size: file.length, url: '', bytes: file }],
      takesFiles: true,
      elsewhere,
      at: now.toISOString(),
    });
    await reply.onReplied?.(isShown);
    return reply;
  };
}
