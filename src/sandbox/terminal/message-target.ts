import { SandboxError } from '../control/sandbox-error.ts';

/** A message of the place, counted from the newest: `^1` is that. */
export interface Target {
  readonly count?: number;
  /** What else was written. */
  readonly rest: string;
}

/** Reads `^2` at the beginning and, where nothing that people say stands there, at the end. */
export function readTarget(words: string, where: 'beginning' | 'either end'): Target {
  const first = /^\^(\d{1,4})(?:\s+|$)([^]*)$/u.exec(words);
  if (first !== null) return { count: Number(first[1]), rest: first[2] ?? '' };
  const last = where === 'either end' ? /^([^]*?)\s*(?<!\S)\^(\d{1,4})$/u.exec(words) : null;
  return last === null ? { rest: words } : { count: Number(last[2]), rest: last[1] ?? '' };
}

/**
 * The message that is meant: the one counted to, else the newest that fits.
 * @throws {SandboxError} with `otherwise` where none fits, or when the count goes too far.
 */
export function findTarget<Message>(
  messages: readonly Message[],
  count: number | undefined,
  fits: (message: Message) => boolean,
  otherwise: string,
): Message {
  if (count === undefined) {
    const found = messages.findLast(fits);
    if (found === undefined) throw new SandboxError(otherwise);
    return found;
  }
  const found = count === 0 ? undefined : messages.at(-count);
  if (found !== undefined) return found;
  throw new SandboxError(
    messages.length === 0
      ? 'There are no messages here yet'
      : `^${count} is no message here; ^1 is the newest, ^${messages.length} the oldest`,
  );
}

/** Reads a line that is a count or nothing. @throws {SandboxError} with `usage` */
export function readOnlyTarget(rest: string, usage: string): { readonly count?: number } {
  const { rest: more, ...target } = readTarget(rest, 'beginning');
  if (more !== '') throw new SandboxError(usage);
  return target;
}

/** @throws {SandboxError} with `question` where nothing was said. */
export function requireWords(words: string, question: string): void {
  if (words === '') throw new SandboxError(question);
}
