import { toSecondPerson } from './second-person.ts';

/** A durable item as its line shows it [D5]. */
export interface RememberedLine {
  readonly kind: string;
  readonly text: string;
  /** Without `#`. */
  readonly channel?: string;
  /** `YYYY-MM-DD`. */
  readonly date?: string;
}

/** Reads `- [preference] Prefers Rust (src: manual, #dev, updated 2026-01-15)`. */
export function parseRememberedLine(line: string): RememberedLine | undefined {
  const [, kind, text, origin = ''] = /^- \[(\w+)\] (.*) \((src: .*)\)$/u.exec(line) ?? [];
  if (kind === undefined || text === undefined) return undefined;
  const [, channel] = /, #(.*?)(?:, updated [\d-]+)?$/u.exec(origin) ?? [];
  const [, date] = /, updated (\d{4}-\d{2}-\d{2})$/u.exec(origin) ?? [];
  return {
    kind,
    text,
    ...(channel === undefined ? {} : { channel }),
    ...(date === undefined ? {} : { date }),
  };
}

/** The item as said to its owner: `You prefer Rust — you told me in #dev on 2026-01-15.` */
export function tellRemembered(item: RememberedLine): string {
  const statement = toSecondPerson(item.text) ?? `“${item.text}”`;
  const place = item.channel === undefined ? '' : ` in #${item.channel}`;
  const when = item.date === undefined ? '' : ` on ${item.date}`;
  return `${statement} — you told me${place}${when}.`;
}
