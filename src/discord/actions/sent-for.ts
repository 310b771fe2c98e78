/** A text for another channel, with the line under it that says at whose wish it stands there. */
export function sentFor(text: string, userId: string): string {
  return `${text}\n-# for <@${userId}>`;
}

/** Whether a message of the bot's own was sent at somebody's wish: its words may be theirs, and are no answer to whoever reads them [M5a]. */
export function isSentFor(content: string): boolean {
  return /\n-# for <@[0-9]+>$/u.test(content);
}
