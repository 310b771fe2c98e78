import type { ChatMessage } from '../core/chat.ts';
import { flatten } from '../core/text.ts';
import { attachmentNote, label, quoted, visible } from './quoted-text.ts';

/** A message as history shows it. Its text keeps its bytes for as long as the window holds it [P2]. */
export interface HistoryEntry {
  readonly role: 'user' | 'assistant';
  /** Ends in a line break. */
  readonly text: string;
  /** What was rendered, to notice edits by. */
  readonly message: ChatMessage;
}

/**
 * People and other bots give one line, `Alice: text` or `Dyno (bot): text`, with attachments named; this bot's own words
 * stay as it wrote them, invisible characters aside [H2]. `max` bounds the whole, name and line break included. `undefined` when
 * nothing would be said.
 */
export function historyEntry(message: ChatMessage, max = Number.POSITIVE_INFINITY): HistoryEntry | undefined {
  const isOwn = message.author.kind === 'self';
  const words = isOwn ? visible(message.text) : flatten(message.text);
  const said = [words, attachmentNote(message.attachments)].filter((part) => part !== '').join(' ');
  const prefix = isOwn ? '' : `${authorLabel(message)}: `;
  const text = quoted(said, max - prefix.length - 1);
  if (text === '') return undefined;
  return { role: isOwn ? 'assistant' : 'user', text: `${prefix}${text}\n`, message };
}

function authorLabel(message: ChatMessage): string {
  const name = label(message.author.name);
  return message.author.kind === 'bot' ? `${name} (bot)` : name;
}
