import { z } from 'zod';

import { localDateTime } from '../../core/time.ts';
import { reachFields, type Reach } from '../../core/visibility.ts';
import type { StoredSummary } from './session-state.ts';

/** A replaced summary in the session's `detail/` [R3]. It holds the log lines after `from` up to `cursor`. */
export interface SummaryNote extends StoredSummary {
  readonly from: number;
  readonly cursor: number;
}

/** The same for the same summary; with the cursor, as a minute can have several. */
export function noteName(note: SummaryNote, timeZone: string): string {
  const time = localDateTime(new Date(note.updatedAt), timeZone).replace(/[ :]/gu, '-');
  return `${time}-${note.cursor}-summary.md`;
}

/** The cursor in a note's name; `undefined` for anything but a kept summary. */
export function cursorOfNote(name: string): number | undefined {
  const digits = /^[^/]+-(?<cursor>\d+)-summary\.md$/u.exec(name)?.groups?.['cursor'];
  return digits === undefined ? undefined : Number(digits);
}

/** A title, META lines, the text. */
export function renderNote(note: SummaryNote, timeZone: string): string {
  return [
    `# Conversation summary of ${localDateTime(new Date(note.updatedAt), timeZone)}`,
    '',
    '<!--',
    'META:',
    `created: ${note.updatedAt}`,
    `keywords: ${JSON.stringify(keywords(note.text))}`,
    reachLines(note),
    `from: ${note.from}`,
    `cursor: ${note.cursor}`,
    '-->',
    '',
    note.text,
    '',
  ].join('\n');
}

/** A reach as META lines. */
export function reachLines({ visibility, homeId, guildId, readers }: Reach): string {
  const known = [
    ...(guildId === undefined ? [] : [`guild: ${guildId}`]),
    ...(readers === undefined ? [] : [`readers: ${readers.join(' ')}`]),
  ];
  return [`visibility: ${visibility}`, `home: ${homeId}`, ...known].join('\n');
}

export function readersIn(line: string): readonly string[] {
  return line.split(' ').filter((reader) => reader !== '');
}

const metaSchema = z.object({
  created: z.iso.datetime(),
  visibility: reachFields.visibility,
  home: reachFields.homeId,
  guild: reachFields.guildId,
  readers: z.string().transform(readersIn).exactOptional(),
  from: z.coerce.number().int(),
  cursor: z.coerce.number().int(),
});

/** `undefined` where the file was changed into something else. */
export function parseNote(file: string): SummaryNote | undefined {
  const [head, ...body] = file.split('\n-->\n');
  const lines = (head?.split('META:\n')[1] ?? '').split('\n');
  const fields = lines.map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]);
  const meta = metaSchema.safeParse(Object.fromEntries(fields));
  const text = body.join('\n-->\n').trim();
  if (!meta.success || text === '') return undefined;
  const { created: updatedAt, home: homeId, guild: guildId, ...rest } = meta.data;
  return { text, updatedAt, homeId, guildId, ...rest };
}

const keywordCount = 8;

/** A text's most frequent words, without short ones. */
function keywords(text: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{M}\p{N}]{4,}/gu)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const byCount = [...counts].toSorted(([, a], [, b]) => b - a);
  return byCount.slice(0, keywordCount).map(([word]) => word);
}
