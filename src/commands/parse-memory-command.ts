const command = /^(?:<@!?(?<mentioned>\d+)>[\s,:]*)?!memory(?<words>\s[\s\S]*)?$/iu;

/**
 * The words after `!memory`, possibly none; `undefined` where the text is no command: `!memory` is a word of its own at the
 * beginning [K1]. A mention of the bot itself may stand before it, where `botId` is given.
 */
export function parseMemoryCommand(text: string, botId?: string): string | undefined {
  const found = command.exec(text.trim());
  if (found === null) return undefined;
  const { mentioned, words = '' } = found.groups ?? {};
  if (mentioned !== undefined && mentioned !== botId) return undefined;
  return words.trim();
}
