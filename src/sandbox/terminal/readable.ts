import type { ComponentsView } from '../control/component-view.ts';
import type { Poll } from '../world/poll.ts';

/** How people are called and what places are called, by id. */
export interface Names {
  readonly personOf: (userId: string) => string;
  readonly isBot: (userId: string) => boolean;
  /** `undefined` for a place that is not known. */
  readonly placeOf: (channelId: string) => string | undefined;
}

/** How much of a message is quoted where another line speaks of it, in characters. */
const quotedLength = 40;

/** A message's words as Discord shows them: mentions as names. */
export function readableText(text: string, names: Names): string {
  return text
    .replaceAll(/<@!?(\d+)>/g, (_, id: string) => `@${names.personOf(id)}`)
    .replaceAll(/<#(\d+)>/g, (whole, id: string) => names.placeOf(id) ?? whole);
}

/** `1.2 kB`, `3 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const [amount, unit] = bytes < 1_024 ** 2 ? [bytes / 1_024, 'kB'] : [bytes / 1_024 ** 2, 'MB'];
  return `${Number(amount.toFixed(1))} ${unit}`;
}

/** The beginning of a message in quotation marks, on one line. */
export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= quotedLength) return `“${line}”`;
  return `“${characters
    .slice(0, quotedLength - 1)
    .join('')
    .trimEnd()}…”`;
}

/** The question, and each answer with those who voted for it. */
export function pollLines({ question, answers, votes }: Poll, names: Names): readonly string[] {
  return [
    `📊 ${question}`,
    ...answers.map(({ id, text, emoji }) => {
      const face = [emoji ?? '', text].filter((part) => part !== '').join(' ');
      const voters = Array.from(votes.get(id) ?? [], names.personOf);
      return `○ ${face}${voters.length === 0 ? '' : ` (${voters.join(', ')})`}`;
    }),
  ];
}

/** Buttons as `[▶]`, those that cannot be clicked as `(◀)`; a line for each row. */
export function componentLines({ rows }: ComponentsView): readonly string[] {
  return rows.map(({ buttons, select }) => {
    const faces = buttons.map(({ emoji, label, disabled }) => {
      const face = [emoji ?? '', label].filter((part) => part !== '').join(' ');
      return disabled ? `(${face})` : `[${face}]`;
    });
    if (select !== undefined) {
      const options = select.options.map(({ label }) => label).join(' | ');
      const face = `${select.placeholder === '' ? 'Choose' : select.placeholder} ▾ ${options}`;
      faces.push(select.disabled ? `(${face})` : `[${face}]`);
    }
    return faces.join(' ');
  });
}
