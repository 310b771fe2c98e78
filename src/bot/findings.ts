/** What a check found. A `warning` limits what the bot can do; `broken` has to be fixed. */
export interface Finding {
  readonly level: 'fine' | 'warning' | 'broken';
  readonly about: string;
  readonly text: string;
  readonly remedy?: string;
  /** What the model's server refuses for good: no start makes sense before it is fixed [O2]. */
  readonly wrong?: 'key' | 'model';
}

/** A start is pointless until the operator fixes what the message says [O2]. */
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
