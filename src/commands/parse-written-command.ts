import type { CommandName, WrittenCommand } from '../core/chat.ts';

const names: ReadonlyMap<string, CommandName> = new Map([['memory', 'memory']]);
const command = /^(?:<@!?(?<mentioned>\d+)>[\s,:]*)?!(?<name>\w+)(?<words>\s[\s\S]*)?$/u;

/**
 * The command that a text is, its words possibly none; `undefined` where it is none: `!memory` is a word of its own at the
 * beginning [K1]. A mention of the bot itself may stand before it, where `botId` is given.
 */
export function parseWrittenCommand(text: string, botId?: string): WrittenCommand | undefined {
  const { mentioned, name = '', words = '' } = command.exec(text.trim())?.groups ?? {};
  const known = names.get(name.toLowerCase());
  if (known === undefined || (mentioned !== undefined && mentioned !== botId)) return undefined;
  return { name: known, words: words.trim() };
}
