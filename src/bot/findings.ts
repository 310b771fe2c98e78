/** What a check found. With a `warning` the bot works, but for what the text says; what is `broken` is to be mended. */
export type Finding = { readonly level: 'fine'; readonly about: string; readonly text: string } | Fault;

interface Fault {
  readonly level: 'warning' | 'broken';
  readonly about: string;
  /** What is the matter. */
  readonly text: string;
  /** What to do about it. */
  readonly remedy: string;
  /** What the model's server will not take however often it is asked: no start makes sense before it is mended [O2]. */
  readonly wrong?: 'key' | 'model';
}

/** A start that is pointless until its operator mends something; the message says in one sentence what [O2]. */
export class UnusableError extends Error {
  override readonly name = 'UnusableError';
}

export const fine = (about: string, text: string): Finding => ({ level: 'fine', about, text });
export const warning = (about: string, text: string, remedy: string): Fault => ({
  level: 'warning',
  about,
  text,
  remedy,
});
export const broken = (about: string, text: string, remedy: string, wrong?: Fault['wrong']): Fault => ({
  level: 'broken',
  about,
  text,
  remedy,
  wrong,
});
