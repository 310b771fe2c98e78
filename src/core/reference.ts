import { createHash } from 'node:crypto';

/**
 * A short reference to a failure, by the id of the message or interaction that met it: people quote it from the answer, and the log is
 * searched for it. The same id gives the same one.
 */
export function referenceTo(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 6);
}

/** A line that people are told, with the reference at its end. */
export function withReference(line: string, reference: string): string {
  return `${line} (reference ${reference})`;
}
