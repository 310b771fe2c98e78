/** What a check found. With a `warning` the bot works, but for what the text says; what is `broken` has to be put right. */
export interface Finding {
  readonly level: 'fine' | 'warning' | 'broken';
  readonly about: string;
  /** What is the matter. */
  readonly text: string;
  /** What to do about it. */
  readonly remedy?: string;
  /** What the model's server will not take however often it is asked: no start makes sense before that is put right [O2]. */
  readonly wrong?: 'key' | 'model';
}

/** A start that is pointless until its operator puts something right; the message says in one sentence what [O2]. */
export class UnusableError extends Error {
  override readonly name = 'UnusableError';
}

export const fine = (about: string, text: string): Finding => ({ level: 'fine', about, text });

export function warning(about: string, text: string, remedy: string): Finding {
  return { level: 'warning', about, text, remedy };
}

export function broken(about: string, text: string, remedy: string, wrong?: Finding['wrong']): Finding {
  return { level: 'broken', about, text, remedy, wrong };
}
