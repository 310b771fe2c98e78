import type { CommandName, WrittenCommand } from '../core/chat.ts';

const command = /^(?:<@!?(?<mentioned>\d+)>[\s,:]*)?!(?<name>\w+)(?<words>\s[\s\S]*)?$/u;

/**
 * The command of these names that a text is, its words possibly none; `undefined` where it is none: `!memory` is a word of its own at
 * the beginning [K1]. A mention of the bot itself may stand before it, where `botId` is given.
 */
export function parseWrittenCommand(
  text: string,
  names: readonly CommandName[],
  botId?: string,
): WrittenCommand | undefined {
  const { mentioned, name = '', words = '' } = command.exec(text.trim())?.groups ?? {};
  const known = names.find((each) => each === name.toLowerCase());
  if (known === undefined || (mentioned !== undefined && mentioned !== botId)) return undefined;
  return { name: known, words: words.trim() };
}
