/** A message as requests about past turns show it. */
export interface TurnLine {
  readonly messageId: string;
  readonly name: string;
  readonly text: string;
}

/** Reads `- [<messageId>] Name: text`. */
export function parseTurnLine(line: string): TurnLine | undefined {
  const [, messageId, name, text] = /^- \[(\d+)\] ([^:]+): (.+)$/u.exec(line) ?? [];
  if (messageId === undefined || name === undefined || text === undefined) return undefined;
  return { messageId, name, text };
}
