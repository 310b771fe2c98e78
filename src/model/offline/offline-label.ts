/** Begins every reply of the stand-in, so that nobody takes it for a language model [M2]. */
export const offlineLabel = '[offline model]';

/** A text without the label. */
export function withoutLabel(text: string): string {
  return text.replaceAll(offlineLabel, '').trim();
}
