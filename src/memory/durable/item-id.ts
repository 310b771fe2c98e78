import { createHash } from 'node:crypto';

import { normalizeText } from '../../core/text.ts';

/**
 * The id of a new item: the first 8 hex digits of a SHA-256 over its normalised text [D1]. Where another item has it already,
 * a number is hashed with the text, so that the same items in the same order always get the same ids.
 */
export function itemId(text: string, isTaken: (id: string) => boolean): string {
  const normalized = normalizeText(text);
  for (let attempt = 0; ; attempt += 1) {
    const id = firstDigits(attempt === 0 ? normalized : `${normalized}\n${attempt}`);
    if (!isTaken(id)) return id;
  }
}

function firstDigits(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 8);
}
