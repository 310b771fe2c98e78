import { withoutMentionMarks, withoutMentions, withoutQuotes } from '../../core/own-words.ts';
import { escapePattern } from '../../core/text.ts';
import { pointsToChannel, type NamedChannel } from './named-action.ts';

/** A text on its way from where it was asked for into another channel. */
export interface Relay {
  readonly text: string;
  /** The speaker's own messages of this turn. */
  readonly messages: readonly string[];
  /** Whether everybody in the server could read along when it was said, and can by now. */
  readonly isFromPublic: boolean;
  readonly target: NamedChannel;
  /** `same`: whoever reads along in one place does so in the other, as in a thread and its channel. */
  readonly reach: 'same' | 'server' | 'elsewhere';
}

type RelayedText =
  | { readonly outcome: 'allowed'; readonly text: string }
  | { readonly outcome: 'refused'; readonly reason: 'unnamed' | 'not-own-words' };

/**
 * What of a text may be said in another channel [V2]: where the same people read along anything, and from a public channel anything within its
 * server. From everywhere else only what stands word for word in the speaker's own message, as it stands there, and only into a channel that
 * this message names as one, not by a word that may mean something else [M8]: whatever the model knows from a private place stays there, whoever
 * presses a button.
 */
export function relayedText({ text, messages, isFromPublic, target, reach }: Relay): RelayedText {
  if (reach === 'same' || (isFromPublic && reach === 'server')) return { outcome: 'allowed', text };
  if (!messages.some((message) => pointsToChannel(message, target)))
    return { outcome: 'refused', reason: 'unnamed' };
  for (const message of messages) {
    const own = literalPart(text, withoutQuotes(withoutMentions(message)));
    if (own !== undefined) return { outcome: 'allowed', text: own };
  }
  return { outcome: 'refused', reason: 'not-own-words' };
}

const inWord = String.raw`[\p{L}\p{M}\p{N}]`;
const startsInWord = new RegExp(`^${inWord}`, 'u');
const endsInWord = new RegExp(`${inWord}$`, 'u');
/** What a model puts around a text of its own accord. */
const framing = /^["'“”‘’„«»`\s]+|(?<!["'“”‘’„«»`.!?…\s])["'“”‘’„«»`.!?…\s]+$/gu;

/** Where the words stand in `own`, whole and in this order; case, white space and what frames them aside. Given as they stand there. */
function literalPart(text: string, own: string): string | undefined {
  const words = text
    .replaceAll(framing, '')
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length === 0) return undefined;
  const before = startsInWord.test(words[0] ?? '') ? `(?<!${inWord})` : '';
  const after = endsInWord.test(words.at(-1) ?? '') ? `(?!${inWord})` : '';
  const literal = words.map(escapePattern).join(String.raw`\s+`);
  return new RegExp(`${before}${literal}${after}`, 'iu').exec(own)?.[0];
}

/** A text for another channel, with the line under it that says for whom it was sent. */
export function sentFor(text: string, userId: string): string {
  return `${text}\n-# for <@${userId}>`;
}

/** Whether a message of the bot's own was sent for somebody: its words may be theirs, and are no answer to whoever reads them [M5a]. */
export function isSentFor(content: string): boolean {
  return /\n-# for <@[0-9]+>$/u.test(content);
}

/** What a channel is called by, as the model gives it: `#name` or `name`, `<#id>` or an id. */
export function channelReference(reference: string): { readonly id: string } | { readonly name: string } {
  const plain = withoutMentionMarks(reference).trim();
  const id = /^(?:<#)?(?<id>[0-9]{15,21})>?$/u.exec(plain)?.groups?.['id'];
  return id === undefined ? { name: plain.replace(/^#/u, '').trim().toLowerCase() } : { id };
}
