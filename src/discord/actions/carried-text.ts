import { ownWords } from '../../core/own-words.ts';
import { namesChannel, pointsToChannel, type NamedChannel } from './named-channel.ts';

/** A text on its way from where it was asked for into another channel. */
export interface Carriage {
  readonly text: string;
  /** The speaker's own messages of this turn. */
  readonly messages: readonly string[];
  /** Whether everybody in the server could read along when it was said, and can by now. */
  readonly isFromPublic: boolean;
  readonly target: NamedChannel;
  /** Whether the model may have read what it wants in somebody else's words [M5a]. */
  readonly hasThirdPartyText: boolean;
  /** `same`: whoever reads along in one place does so in the other, as in a thread and its channel. */
  readonly reach: 'same' | 'server' | 'elsewhere';
}

export type CarriedText =
  | { readonly outcome: 'carried'; readonly text: string }
  | { readonly outcome: 'refused'; readonly reason: 'unnamed' | 'not-own-words' };

/**
 * What of a text may be said in another channel [V2]: from a public channel anything, within its server. From everywhere else only what
 * stands word for word in the speaker's own message, as it stands there, and only into a channel that this message names: whatever the
 * model knows from a private place stays there. Where others' words are in the context, the speaker's own message must name the channel in any
 * case, and from a private place as a channel, not by a word that may mean something else: a stranger's wish moves nobody's words, and says
 * nothing with the speaker's permissions.
 */
export function carriedText(carriage: Carriage): CarriedText {
  const { text, messages, isFromPublic, target, hasThirdPartyText, reach } = carriage;
  const isWithinPublic = isFromPublic && reach === 'server';
  if (reach === 'same' || (isWithinPublic && !hasThirdPartyText)) return { outcome: 'carried', text };
  const names = hasThirdPartyText && !isWithinPublic ? pointsToChannel : namesChannel;
  if (!messages.some((message) => names(message, target))) return { outcome: 'refused', reason: 'unnamed' };
  if (isWithinPublic) return { outcome: 'carried', text };
  for (const message of messages) {
    const own = literalPart(text, ownWords(message));
    if (own !== undefined) return { outcome: 'carried', text: own };
  }
  return { outcome: 'refused', reason: 'not-own-words' };
}

const inWord = String.raw`[\p{L}\p{M}\p{N}]`;
/** What a model puts around a text of its own accord. */
const framing = /^["'“”‘’„«»`\s]+|["'“”‘’„«»`.!?…\s]+$/gu;

/** Where the words stand in `own`, whole and in this order; case, white space and what frames them aside. Given as they stand there. */
function literalPart(text: string, own: string): string | undefined {
  const words = text
    .replaceAll(framing, '')
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length === 0) return undefined;
  const before = startsInWord(words[0] ?? '') ? `(?<!${inWord})` : '';
  const after = endsInWord(words.at(-1) ?? '') ? `(?!${inWord})` : '';
  const literal = words.map(escapePattern).join(String.raw`\s+`);
  return new RegExp(`${before}${literal}${after}`, 'iu').exec(own)?.[0];
}

function startsInWord(text: string): boolean {
  return new RegExp(`^${inWord}`, 'u').test(text);
}

function endsInWord(text: string): boolean {
  return new RegExp(`${inWord}$`, 'u').test(text);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}
