/** The form under which two texts count as the same [D2]: NFKC, lower case, white space collapsed, trimmed. */
export function normalizeText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/**
 * One line: control characters, line and paragraph separators, bidirectional overrides and other invisible format characters (but the
 * joiners that scripts and emoji need) become a space or vanish, white space is collapsed [P3].
 */
export function flatten(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(?![\u200c\u200d])[\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
}
