import { statementOf } from './statements.ts';

/** What a message asks to be done with memory. */
export type MemoryWish =
  | { readonly wish: 'remember'; readonly kind: string; readonly text: string; readonly quote: string }
  | { readonly wish: 'forget'; readonly about: string };

const address = String.raw`(?:(?:<@[!&]?\d+>|hi|hey|hello|ok|okay|discoclaw|bot)[,:!]?\s+)*`;
const polite = String.raw`(?:(?:please|kindly|can you|could you|would you|also|and)[,:]?\s+)*`;
const remember = new RegExp(
  String.raw`^${address}${polite}(?:remember|note|keep in mind|don['’]t forget|do not forget)(?:\s+that|\s*:|\s+(?=(?:I|I['’]m|my|the|we)\b))\s*(.+)$`,
  'iu',
);
const forget = new RegExp(String.raw`^${address}${polite}forget(?:\s+(?:that|about))?\s+(.+)$`, 'iu');

/** The first wish of a message to remember or forget something. */
export function memoryWishIn(message: string): MemoryWish | undefined {
  for (const sentence of message.split(/(?<=[.!?])\s+|\n+/u)) {
    const wish = wishOf(sentence.trim());
    if (wish !== undefined) return wish;
  }
  return undefined;
}

function wishOf(sentence: string): MemoryWish | undefined {
  const plain = sentence.replace(/[.!\s]+$/u, '');
  if (
    plain.endsWith('?') &&
    !/^\W*(?:can|could|would) you\b/iu.test(plain.replace(/^(?:<@[!&]?\d+>\s*)+/u, ''))
  ) {
    return undefined;
  }
  const words = plain.replace(/\s*\?$/u, '');
  const [, said] = remember.exec(words) ?? [];
  if (said !== undefined) {
    const statement = statementOf(said);
    return { wish: 'remember', ...(statement ?? { kind: 'fact', text: capitalized(said), quote: said }) };
  }
  const [, about] = forget.exec(words) ?? [];
  return about === undefined ? undefined : { wish: 'forget', about };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
